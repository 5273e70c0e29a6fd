import CoreData
import TestSupport

/// Rules about where relationships lead to, which inverse they have, and whether they are required.
enum DestinationRules {
    typealias Version = InferenceRule.Version

    static let all: [InferenceRule] = requirement + destinations + inverses + places

    // MARK: Requirement

    private static let read = ["Reader a book=x", "Reader b book=x", "Book x readers=a,b"]
    private static let unread = ["Reader a book=x", "Reader b", "Book x readers=a"]

    /// Readers with one book each.
    private static func readers(_ lines: [String], required: Bool, minimum: Int = 0) -> Version {
        Version(lines) {
            let (reader, book) = (entity("Reader", text("name")), entity("Book", text("name")))
            relate(reader, "book", optional: !required, book, inverse: "readers", inverseToMany: true)
            if minimum > 0 {
                book.relationshipsByName["readers"]?.minCount = minimum
                book.relationshipsByName["readers"]?.isOptional = false
            }
            return [reader, book]
        }
    }

    private static func strangers(_ lines: [String]) -> Version {
        Version(lines) { [entity("Reader", text("name")), entity("Book", text("name"))] }
    }

    private static let requirement: [InferenceRule] = [
        InferenceRule(
            "a relationship becomes required, where all objects have it", readers(read, required: false),
            readers(read, required: true), forward: .gives(read), backward: .gives(read)),
        InferenceRule(
            "a relationship becomes required, where an object lacks it", readers(unread, required: false),
            readers(read, required: true), forward: .lacks("Reader.book"), backward: .gives(read)),
        InferenceRule(
            "a required relationship is added, beside objects", strangers(["Reader a", "Reader b", "Book x"]),
            readers(read, required: true), forward: .lacks("Reader.book"),
            backward: .gives(["Reader a", "Reader b", "Book x"])),
        InferenceRule(
            "a required relationship is added, without objects", strangers(["Book x"]),
            readers(["Book x"], required: true), forward: .gives(["Book x"]), backward: .gives(["Book x"])),
        InferenceRule(
            "a to-many side comes to ask for an object, and has some", readers(read, required: false),
            readers(read, required: false, minimum: 1), forward: .gives(read), backward: .gives(read)),
        InferenceRule(
            "a to-many side comes to ask for an object, and has none",
            readers(read + ["Book y"], required: false), readers(read, required: false, minimum: 1),
            forward: .lacks("Book.readers"), backward: .gives(read)),
        InferenceRule(
            "the delete rule changes", readers(read, required: false),
            Version(read) {
                let (reader, book) = (entity("Reader", text("name")), entity("Book", text("name")))
                relate(
                    reader, "book", deleteRule: .denyDeleteRule, book, inverse: "readers", inverseToMany: true,
                    inverseDeleteRule: .cascadeDeleteRule)
                return [reader, book]
            }, forward: .gives(read), backward: .gives(read)),
    ]

    // MARK: Destinations

    /// Owners with pets of one of these entities; Cat and Dog are animals.
    private static func pets(
        _ lines: [String], of destination: String, isAbstract: Bool = false, dogs: Bool = true, oneWay: Bool = false
    ) -> Version {
        Version(lines) {
            let (owner, cat, dog) = (entity("Owner", text("name")), entity("Cat"), entity("Dog"))
            let animal = EntityRules.family("Animal", isAbstract: isAbstract, over: dogs ? [cat, dog] : [cat])
            let entities = ["Animal": animal, "Cat": cat, "Dog": dog]
            if let entity = entities[destination] {
                if oneWay {
                    owner.properties += [NSRelationshipDescription("pets", to: entity, toMany: true)]
                } else {
                    relate(owner, "pets", toMany: true, entity, inverse: "owner")
                }
            }
            return [owner, animal]
        }
    }

    private static let catOwner = ["Owner o pets=a", "Cat a owner=o", "Cat b"]
    private static let mixed = ["Owner o pets=a,d", "Cat a owner=o", "Dog d owner=o"]

    private static let destinations: [InferenceRule] = [
        // The inverse moves down with the way back: others lose it, and the links with it.
        InferenceRule(
            "a relationship comes to lead to the parent of its destination", pets(catOwner, of: "Cat"),
            pets(mixed, of: "Animal"), forward: .gives(catOwner),
            backward: .gives(["Owner o pets=a", "Cat a owner=o", "Dog d"])),
        InferenceRule(
            "a one-way relationship comes to lead to the parent of its destination",
            pets(["Owner o pets=a", "Cat a", "Cat b"], of: "Cat", oneWay: true),
            pets(["Owner o pets=a,d", "Cat a", "Dog d"], of: "Animal", oneWay: true),
            forward: .gives(["Owner o pets=a", "Cat a", "Cat b"]), backward: .notInferred(["Owner.pets"])),
        InferenceRule(
            "a relationship comes to lead to the only child of its destination",
            pets(catOwner, of: "Animal", isAbstract: true, dogs: false),
            pets(catOwner, of: "Cat", isAbstract: true, dogs: false), forward: .gives(catOwner),
            backward: .gives(catOwner)),
        InferenceRule(
            "a relationship comes to lead to another entity", pets(catOwner, of: "Cat"),
            pets(["Owner o pets=d", "Dog d owner=o"], of: "Dog"), forward: .notInferred(["Owner.pets"]),
            backward: .notInferred(["Owner.pets"])),
        InferenceRule(
            "links to objects of a removed child go", pets(mixed, of: "Animal"),
            pets(catOwner, of: "Animal", dogs: false), forward: .gives(["Owner o pets=a", "Cat a owner=o"]),
            backward: .gives(catOwner)),
        InferenceRule(
            "an entity leaves its hierarchy, and what leads to that", pets(mixed, of: "Animal"),
            Version(["Owner o pets=a", "Cat a owner=o", "Dog d"]) {
                let (owner, dog) = (entity("Owner", text("name")), EntityRules.family("Dog"))
                let animal = EntityRules.family("Animal", over: [entity("Cat")])
                relate(owner, "pets", toMany: true, animal, inverse: "owner")
                return [owner, animal, dog]
            }, forward: .gives(["Owner o pets=a", "Cat a owner=o", "Dog d"]), backward: .notInferred(["Dog"])),
        InferenceRule(
            "a destination is removed, with the relationship", readers(read, required: true),
            Version(["Reader a"]) { [entity("Reader", text("name"))] }, forward: .gives(["Reader a", "Reader b"]),
            backward: .lacks("Reader.book")),
        InferenceRule(
            "a destination is renamed", readers(read, required: true),
            Version(read.map { $0.replacing("Book x", "Volume x") }) {
                let (reader, book) = (entity("Reader", text("name")), entity("Volume", was: "Book", text("name")))
                relate(reader, "book", optional: false, book, inverse: "readers", inverseToMany: true)
                return [reader, book]
            }, forward: .gives(read.map { $0.replacing("Book x", "Volume x") }), backward: .gives(read)),
    ]

    // MARK: Inverses

    /// Teams with two to-many relationships to people, whose inverses may be exchanged.
    private static func teams(crossed: Bool) -> Version {
        Version(
            [
                "Team t heads=a members=a,b",
                "Person a \(crossed ? "guest" : "head")=t \(crossed ? "head" : "guest")=t",
                "Person b \(crossed ? "head" : "guest")=t",
            ].map(sortingWords)
        ) {
            let (team, person) = (entity("Team", text("name")), entity("Person", text("name")))
            relate(team, "heads", toMany: true, person, inverse: crossed ? "guest" : "head")
            relate(team, "members", toMany: true, person, inverse: crossed ? "head" : "guest")
            return [team, person]
        }
    }

    private static func sortingWords(_ line: String) -> String {
        let words = line.split(separator: " ")
        return (words.prefix(2) + words.dropFirst(2).sorted()).joined(separator: " ")
    }

    /// People with friends, who are friends of theirs or know nothing of it.
    private static func friends(_ lines: [String], reflexive: Bool, toMany: Bool = true) -> Version {
        Version(lines) {
            let person = entity("Person", text("name"))
            let friends = NSRelationshipDescription("friends", to: person, toMany: toMany)
            person.properties += [friends]
            if reflexive {
                friends.inverseRelationship = friends
            } else {
                let back = NSRelationshipDescription("friendOf", to: person, toMany: true)
                person.properties += [back]
                friends.inverseRelationship = back
                back.inverseRelationship = friends
            }
            return [person]
        }
    }

    /// A tree of nodes.
    private static func tree(_ lines: [String], toMany: Bool, ordered: Bool = false) -> Version {
        Version(lines) {
            let node = entity("Node", text("name"))
            relate(node, "below", toMany: true, ordered: ordered, node, inverse: "above", inverseToMany: toMany)
            return [node]
        }
    }

    private static let nodes = ["Node r below=s,t", "Node s above=r", "Node t above=r"]

    private static let inverses: [InferenceRule] = [
        InferenceRule(
            "two relationships exchange their inverses", teams(crossed: false), teams(crossed: true),
            forward: .notInferred(["Person.guest", "Person.head", "Team.heads", "Team.members"]),
            backward: .notInferred(["Person.guest", "Person.head", "Team.heads", "Team.members"])),
        InferenceRule(
            "a relationship becomes its own inverse",
            friends(["Person a friends=b", "Person b friendOf=a"], reflexive: false),
            friends(["Person a friends=b", "Person b friends=a"], reflexive: true),
            forward: .notInferred(["Person.friends"]),
            backward: .gives(["Person a friendOf=b friends=b", "Person b friendOf=a friends=a"])),
        InferenceRule(
            "a relationship that is its own inverse becomes to-many",
            friends(["Person a friends=b", "Person b friends=a", "Person c"], reflexive: true, toMany: false),
            friends(["Person a friends=b,c", "Person b friends=a", "Person c friends=a"], reflexive: true),
            forward: .gives(["Person a friends=b", "Person b friends=a", "Person c"]),
            backward: .notInferred(["Person.friends"])),
        InferenceRule(
            "a side of a tree becomes to-many", tree(nodes, toMany: false),
            tree(["Node r below=s,t", "Node s above=r below=t", "Node t above=r,s"], toMany: true),
            forward: .gives(nodes), backward: .notInferred(["Node.above"])),
        InferenceRule(
            "a side of a tree becomes ordered", tree(nodes, toMany: false),
            tree(["Node r below=t>s"] + nodes.dropFirst(), toMany: false, ordered: true),
            forward: .gives(["Node r below=s>t"] + nodes.dropFirst()), backward: .gives(nodes)),
    ]

    // MARK: Places

    /// Items with a place, of which the first child or all have it.
    private static func places(_ lines: [String], ofAll: Bool, toMany: Bool) -> Version {
        Version(lines) {
            let (place, photo, film) = (entity("Place", text("name")), entity("Photo"), entity("Film"))
            let item = EntityRules.family("Item", over: [photo, film])
            relate(ofAll ? item : photo, "place", toMany: toMany, place, inverse: "items", inverseToMany: true)
            return [place, item]
        }
    }

    private static let placed = ["Place p items=a", "Place q", "Photo a place=p", "Photo b", "Film c"]
    private static let allPlaced = ["Place p items=a,c", "Place q", "Photo a place=p", "Photo b", "Film c place=p"]

    private static let places: [InferenceRule] = [
        InferenceRule(
            "a to-one relationship moves up", places(placed, ofAll: false, toMany: false),
            places(allPlaced, ofAll: true, toMany: false), forward: .gives(placed), backward: .gives(placed)),
        InferenceRule(
            "a to-many relationship moves up", places(placed, ofAll: false, toMany: true),
            places(allPlaced, ofAll: true, toMany: true), forward: .gives(placed), backward: .gives(placed)),
        InferenceRule(
            "a to-one relationship moves up and becomes to-many", places(placed, ofAll: false, toMany: false),
            places(allPlaced, ofAll: true, toMany: true), forward: .gives(placed),
            backward: .notInferred(["Photo.place"])),
    ]
}
