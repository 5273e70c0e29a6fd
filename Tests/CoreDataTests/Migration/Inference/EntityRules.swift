import CoreData
import TestSupport

/// Rules about entities and their hierarchies.
enum EntityRules {
    typealias Version = InferenceRule.Version

    /// An entity with a name, further properties and subentities. Only roots have the attribute
    /// `name` of their own.
    static func family(
        _ name: String, was former: String? = nil, _ properties: [NSPropertyDescription] = [], isAbstract: Bool = false,
        isRoot: Bool = true, over children: [NSEntityDescription] = []
    ) -> NSEntityDescription {
        let family = entity(name, was: former)
        family.properties = (isRoot ? [text("name")] : []) + properties
        family.isAbstract = isAbstract
        family.subentities = children
        return family
    }

    static func child(
        _ name: String, was former: String? = nil, _ properties: [NSPropertyDescription] = [], isAbstract: Bool = false,
        over children: [NSEntityDescription] = []
    ) -> NSEntityDescription {
        family(name, was: former, properties, isAbstract: isAbstract, isRoot: false, over: children)
    }

    static let all: [InferenceRule] = single + parents + places + properties

    private static let cats = ["Cat a fur=grey", "Cat b"]
    private static let pets = ["Cat a fur=grey", "Dog b bark=loud"]
    private static func cat() -> NSEntityDescription { family("Cat", [text("fur")]) }
    private static func dog() -> NSEntityDescription { family("Dog", [text("bark")]) }
    private static func catChild() -> NSEntityDescription { child("Cat", [text("fur")]) }
    private static func dogChild() -> NSEntityDescription { child("Dog", [text("bark")]) }

    private static let single: [InferenceRule] = [
        InferenceRule(
            "an entity is added", Version(cats) { [cat()] }, Version(pets) { [cat(), dog()] }, forward: .gives(cats),
            backward: .gives(["Cat a fur=grey"])),
        InferenceRule(
            "an entity is renamed", Version(cats) { [cat()] },
            Version(["Tom a fur=grey", "Tom b"]) { [family("Tom", was: "Cat", [text("fur")])] },
            forward: .gives(["Tom a fur=grey", "Tom b"]), backward: .gives(cats)),
        InferenceRule(
            "an entity with another name and no renaming identifier is another one", Version(cats) { [cat()] },
            Version(["Tom a fur=grey", "Tom b"]) { [family("Tom", [text("fur")])] }, forward: .gives([]),
            backward: .gives([])),
        InferenceRule(
            "an entity is renamed, with an attribute", Version(cats) { [cat()] },
            Version(["Tom a coat=grey", "Tom b"]) { [family("Tom", was: "Cat", [text("coat", was: "fur")])] },
            forward: .gives(["Tom a coat=grey", "Tom b"]), backward: .gives(cats)),
        // Which of both is the former one, a model without identifiers does not say.
        InferenceRule(
            "a renamed entity leaves its name to a new one", Version(cats) { [cat()] },
            Version(["Tom a fur=grey", "Cat b"]) { [family("Tom", was: "Cat", [text("fur")]), cat()] },
            forward: .gives(["Tom a fur=grey", "Tom b"]), backward: nil),
        InferenceRule(
            "two entities have one former name", Version(cats) { [cat()] },
            Version(["Tom a", "Zoe b"]) { [family("Tom", was: "Cat"), family("Zoe", was: "Cat")] },
            forward: .notInferred(["Zoe"]), backward: nil),
        InferenceRule(
            "entities are not merged: one is kept, the other removed", Version(pets) { [cat(), dog()] },
            Version(["Pet a fur=grey", "Pet b bark=loud"]) {
                [family("Pet", was: "Cat", [text("fur"), text("bark")])]
            },
            forward: .gives(["Pet a fur=grey"]), backward: .gives(["Cat a fur=grey", "Cat b"])),
        InferenceRule(
            "an entity without objects becomes abstract", Version([]) { [cat()] },
            Version([]) { [family("Cat", [text("fur")], isAbstract: true)] }, forward: .gives([]),
            backward: .gives([])),
        InferenceRule(
            "an entity with objects becomes abstract", Version(cats) { [cat()] },
            Version([]) { [family("Cat", [text("fur")], isAbstract: true)] }, forward: .lacks("Cat"),
            backward: .gives([])),
    ]

    private static let parents: [InferenceRule] = [
        InferenceRule(
            "an entity gets an abstract parent", Version(cats) { [cat()] },
            Version(cats) { [family("Animal", isAbstract: true, over: [catChild()])] }, forward: .gives(cats),
            backward: .gives(cats)),
        InferenceRule(
            "an entity gets a parent with objects", Version(cats) { [cat()] },
            Version(["Animal c", "Cat a fur=grey"]) { [family("Animal", over: [catChild()])] }, forward: .gives(cats),
            backward: .gives(["Cat a fur=grey"])),
        InferenceRule(
            "an entity gets a child", Version(cats) { [cat()] },
            Version(["Cat a fur=grey", "Lion c fur=red mane=long"]) {
                [family("Cat", [text("fur")], over: [child("Lion", [text("mane")])])]
            }, forward: .gives(cats), backward: .gives(["Cat a fur=grey"])),
        InferenceRule(
            "two entities of no common ancestor get a parent", Version(pets) { [cat(), dog()] },
            Version(pets) { [family("Animal", isAbstract: true, over: [catChild(), dogChild()])] },
            forward: .notInferred(["Dog"]), backward: .gives(pets)),
        InferenceRule(
            "two entities of one ancestor get a parent below it",
            Version(pets) { [family("Animal", over: [catChild(), dogChild()])] },
            Version(pets) { [family("Animal", over: [child("Mammal", over: [catChild(), dogChild()])])] },
            forward: .gives(pets),
            backward: .gives(pets)),
        InferenceRule(
            "an entity comes below another that it had nothing to do with", Version(pets) { [cat(), dog()] },
            Version(pets) { [family("Cat", [text("fur")], over: [dogChild()])] }, forward: .notInferred(["Dog"]),
            backward: .gives(pets)),
        InferenceRule(
            "a parent is removed with its objects, and its child stays",
            Version(["Animal c", "Cat a fur=grey"]) { [family("Animal", over: [catChild()])] },
            Version(["Cat a fur=grey"]) { [cat()] }, forward: .gives(["Cat a fur=grey"]),
            backward: .gives(["Cat a fur=grey"])),
    ]

    private static let places: [InferenceRule] = [
        InferenceRule(
            "an entity leaves its hierarchy", Version(pets) { [family("Animal", over: [catChild(), dogChild()])] },
            Version(pets) { [family("Animal", over: [catChild()]), dog()] }, forward: .gives(pets),
            backward: .notInferred(["Dog"])),
        InferenceRule(
            "an entity moves below its sibling", Version(pets) { [family("Animal", over: [catChild(), dogChild()])] },
            Version(["Cat a fur=grey", "Dog b bark=loud fur=red"]) {
                [family("Animal", over: [child("Cat", [text("fur")], over: [dogChild()])])]
            }, forward: .gives(pets), backward: .gives(pets)),
        InferenceRule(
            "an entity moves into another hierarchy",
            Version(["Cat a fur=grey", "Animal b", "Plant c"]) {
                [family("Animal", over: [catChild()]), family("Plant")]
            },
            Version(["Cat a fur=grey", "Animal b", "Plant c"]) {
                [family("Animal"), family("Plant", over: [catChild()])]
            },
            forward: .notInferred(["Plant"]), backward: .notInferred(["Cat"])),
        InferenceRule(
            "a parent and its child exchange their places",
            Version(["Animal b", "Cat a fur=grey"]) { [family("Animal", over: [catChild()])] },
            Version(["Animal b", "Cat a fur=grey"]) { [family("Cat", [text("fur")], over: [child("Animal")])] },
            forward: .gives(["Animal b", "Cat a fur=grey"]), backward: .gives(["Animal b", "Cat a fur=grey"])),
        InferenceRule(
            "a root and a child are renamed",
            Version(["Animal b", "Cat a fur=grey"]) { [family("Animal", over: [catChild()])] },
            Version(["Beast b", "Tom a fur=grey"]) {
                [family("Beast", was: "Animal", over: [child("Tom", was: "Cat", [text("fur")])])]
            }, forward: .gives(["Beast b", "Tom a fur=grey"]), backward: .gives(["Animal b", "Cat a fur=grey"])),
        InferenceRule(
            "a child is removed with its objects",
            Version(pets) { [family("Animal", over: [catChild(), dogChild()])] },
            Version(["Animal b", "Cat a fur=grey"]) { [family("Animal", over: [catChild()])] },
            forward: .gives(["Cat a fur=grey"]), backward: .gives(["Animal b", "Cat a fur=grey"])),
    ]

    private static let properties: [InferenceRule] = [
        InferenceRule(
            "an attribute moves up from one child",
            Version(["Animal c"] + pets) { [family("Animal", over: [catChild(), dogChild()])] },
            Version(["Animal c fur=white", "Cat a fur=grey", "Dog b bark=loud fur=red"]) {
                [family("Animal", [text("fur")], over: [child("Cat"), dogChild()])]
            }, forward: .gives(["Animal c"] + pets), backward: .gives(["Animal c"] + pets)),
        InferenceRule(
            "an attribute moves up from all children",
            Version(["Cat a fur=grey", "Dog b fur=red"]) {
                [family("Animal", over: [catChild(), child("Dog", [text("fur")])])]
            },
            Version(["Cat a fur=grey", "Dog b fur=red"]) {
                [family("Animal", [text("fur")], over: [child("Cat"), child("Dog")])]
            },
            forward: .gives(["Cat a fur=grey", "Dog b fur=red"]),
            backward: .gives(["Cat a fur=grey", "Dog b fur=red"])),
        InferenceRule(
            "an attribute moves up and is renamed",
            Version(pets) { [family("Animal", over: [catChild(), dogChild()])] },
            Version(["Cat a coat=grey", "Dog b bark=loud"]) {
                [family("Animal", [text("coat", was: "fur")], over: [child("Cat"), dogChild()])]
            }, forward: .gives(["Cat a coat=grey", "Dog b bark=loud"]), backward: .gives(pets)),
        InferenceRule(
            "a required attribute moves up, and objects lack it",
            Version(["Cat a fur=grey", "Dog b"]) {
                [family("Animal", over: [child("Cat", [text("fur", optional: false)]), child("Dog")])]
            },
            Version(["Cat a fur=grey", "Dog b fur=red"]) {
                [family("Animal", [text("fur", optional: false)], over: [child("Cat"), child("Dog")])]
            }, forward: .lacks("Animal.fur"), backward: .gives(["Cat a fur=grey", "Dog b"])),
        InferenceRule(
            "an attribute moves up and its type changes",
            Version(pets) { [family("Animal", over: [catChild(), dogChild()])] },
            Version(["Cat a fur=7", "Dog b bark=loud"]) {
                [family("Animal", [number("fur")], over: [child("Cat"), dogChild()])]
            }, forward: .notInferred(["Animal.fur"]), backward: .notInferred(["Cat.fur"])),
        InferenceRule(
            "an attribute becomes a relationship",
            Version(["Cat a owner=Ann", "Person b"]) { [family("Cat", [text("owner")]), family("Person")] },
            Version(["Cat a owner=b", "Person b"]) {
                let person = family("Person")
                return [family("Cat", [NSRelationshipDescription("owner", to: person)]), person]
            }, forward: .notInferred(["Cat.owner"]), backward: .notInferred(["Cat.owner"])),
    ]
}
