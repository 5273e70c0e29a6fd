import CoreData
import TestSupport

/// Rules about the relationships between two entities, `Shelf` and `Book`.
enum RelationshipRules {
    typealias Version = InferenceRule.Version

    /// How many objects a side leads to, and whether they have an order.
    enum Side: Sendable {
        case one, many, ordered

        var isToMany: Bool { self != .one }
    }

    /// A shelf has books by one side, and a book has shelves by the other; a side without a name is
    /// no part of the model.
    static func library(
        _ lines: [String], books: String? = "books", was formerBooks: String? = nil, _ side: Side = .many,
        shelf: String? = "shelf", was formerShelf: String? = nil, _ other: Side = .one,
        _ change: @escaping @Sendable (_ shelf: NSEntityDescription, _ book: NSEntityDescription) -> Void = { _, _ in }
    ) -> Version {
        Version(lines) {
            let shelves = entity("Shelf"), volumes = entity("Book")
            for entity in [shelves, volumes] { entity.properties = [text("name")] }
            func relationship(
                _ name: String, _ former: String?, _ side: Side, _ destination: NSEntityDescription
            ) -> NSRelationshipDescription {
                let relationship = NSRelationshipDescription(name, to: destination, toMany: side.isToMany)
                relationship.isOrdered = side == .ordered
                if let former { relationship.renamingIdentifier = former }
                return relationship
            }
            let there = books.map { relationship($0, formerBooks, side, volumes) }
            let back = shelf.map { relationship($0, formerShelf, other, shelves) }
            if let there { shelves.properties += [there] }
            if let back { volumes.properties += [back] }
            there?.inverseRelationship = back
            back?.inverseRelationship = there
            change(shelves, volumes)
            return [shelves, volumes]
        }
    }

    // Two shelves, three books in the first two of them, and one in none.
    private static let alone = ["Shelf A", "Shelf B", "Book x", "Book y", "Book z"]
    private static let oneToMany = ["Shelf A books=x,y", "Shelf B", "Book x shelf=A", "Book y shelf=A", "Book z"]
    private static let inOrder = ["Shelf A books=x>y", "Shelf B", "Book x shelf=A", "Book y shelf=A", "Book z"]
    private static let turned = ["Shelf A books=y>x", "Shelf B", "Book x shelf=A", "Book y shelf=A", "Book z"]
    private static let onlyBooks = ["Shelf A books=x,y", "Shelf B", "Book x", "Book y", "Book z"]
    private static let onlyShelf = ["Shelf A", "Shelf B", "Book x shelf=A", "Book y shelf=A", "Book z"]
    private static let required = ["Shelf A", "Shelf B", "Book x shelf=A", "Book y shelf=A"]
    private static let shared = [
        "Shelf A books=x,y", "Shelf B books=y", "Book x shelf=A", "Book y shelf=A,B", "Book z",
    ]
    private static let oneToOne = ["Shelf A books=x", "Shelf B", "Book x shelf=A", "Book y", "Book z"]

    private static func unrelated() -> Version { library(alone, books: nil, shelf: nil) }

    static let all: [InferenceRule] = presence + names + counts + orders + inverses

    private static let presence: [InferenceRule] = [
        InferenceRule(
            "a one-to-many relationship is added", unrelated(), library(oneToMany), forward: .gives(alone),
            backward: .gives(alone)),
        InferenceRule(
            "a many-to-many relationship is added", unrelated(), library(shared, shelf: "shelf", .many),
            forward: .gives(alone), backward: .gives(alone)),
        InferenceRule(
            "a one-to-one relationship is added", unrelated(), library(oneToOne, .one), forward: .gives(alone),
            backward: .gives(alone)),
        InferenceRule(
            "a one-way relationship is added", unrelated(), library(onlyBooks, shelf: nil), forward: .gives(alone),
            backward: .gives(alone)),
    ]

    private static let names: [InferenceRule] = [
        InferenceRule(
            "a relationship is renamed on both sides", library(oneToMany),
            library(
                oneToMany.map { $0.replacing("books", "volumes").replacing("shelf", "place") }, books: "volumes",
                was: "books", shelf: "place", was: "shelf"),
            forward: .gives(oneToMany.map { $0.replacing("books", "volumes").replacing("shelf", "place") }),
            backward: .gives(oneToMany)),
        InferenceRule(
            "a many-to-many relationship is renamed on both sides", library(shared, shelf: "shelf", .many),
            library(
                shared.map { $0.replacing("books", "volumes").replacing("shelf", "place") }, books: "volumes",
                was: "books", shelf: "place", was: "shelf", .many),
            forward: .gives(shared.map { $0.replacing("books", "volumes").replacing("shelf", "place") }),
            backward: .gives(shared)),
        InferenceRule(
            "a relationship is renamed on one side", library(oneToMany),
            library(oneToMany.map { $0.replacing("books", "volumes") }, books: "volumes", was: "books"),
            forward: .gives(oneToMany.map { $0.replacing("books", "volumes") }), backward: .gives(oneToMany)),
        InferenceRule(
            "a side without a former name takes the links of its inverse", library(oneToMany),
            library(oneToMany.map { $0.replacing("books", "volumes") }, books: "volumes"),
            forward: .gives(oneToMany.map { $0.replacing("books", "volumes") }), backward: .gives(oneToMany)),
        InferenceRule(
            "a relationship with other names and no renaming identifier is another one", library(oneToMany),
            library(
                oneToMany.map { $0.replacing("books", "volumes").replacing("shelf", "place") }, books: "volumes",
                shelf: "place"), forward: .gives(alone), backward: .gives(alone)),
    ]

    private static let counts: [InferenceRule] = [
        InferenceRule(
            "a to-one side becomes to-many, its inverse is to-many", library(oneToMany),
            library(shared, shelf: "shelf", .many), forward: .gives(oneToMany), backward: .notInferred(["Book.shelf"])),
        InferenceRule(
            "a to-one side becomes to-many, its inverse is to-one", library(oneToOne, .one), library(oneToMany),
            forward: .gives(oneToOne), backward: .notInferred(["Shelf.books"])),
        InferenceRule(
            "both sides become to-many", library(oneToOne, .one), library(shared, shelf: "shelf", .many),
            forward: .gives(oneToOne), backward: .notInferred(["Book.shelf", "Shelf.books"])),
        InferenceRule(
            "a one-way to-one relationship becomes to-many",
            library(["Shelf A books=x", "Shelf B", "Book x", "Book y"], .one, shelf: nil),
            library(["Shelf A books=x,y", "Shelf B", "Book x", "Book y"], shelf: nil),
            forward: .gives(["Shelf A books=x", "Shelf B", "Book x", "Book y"]),
            backward: .notInferred(["Shelf.books"])),
        // Without an inverse an object is in the relationship of one owner only.
        InferenceRule(
            "a one-way to-one relationship becomes to-many, where an object has several owners",
            library(["Shelf A books=x", "Shelf B books=x", "Book x"], .one, shelf: nil),
            library(onlyBooks, shelf: nil), forward: .lacks("Shelf.books"), backward: .notInferred(["Shelf.books"])),
        InferenceRule(
            "a to-one side becomes ordered and to-many", library(oneToOne, .one), library(inOrder, .ordered),
            forward: .gives(oneToOne), backward: .notInferred(["Shelf.books"])),
        InferenceRule(
            "a to-many side is limited", library(oneToMany),
            library(oneToMany) { shelf, _ in shelf.relationshipsByName["books"]?.maxCount = 5 },
            forward: .gives(oneToMany), backward: .gives(oneToMany)),
        InferenceRule(
            "a new to-one side takes the object of the lowest key",
            library(shared, shelf: "shelves", .many)
                .renamed("shelf", "shelves"), library(oneToMany),
            forward: .gives(["Shelf A books=x,y", "Shelf B", "Book x shelf=A", "Book y shelf=A", "Book z"]),
            backward: .gives(oneToMany.map { $0.replacing("shelf", "shelves") })),
    ]

    private static let orders: [InferenceRule] = [
        InferenceRule(
            "a to-many side becomes ordered, its inverse is to-one", library(oneToMany), library(turned, .ordered),
            forward: .gives(inOrder), backward: .gives(oneToMany)),
        InferenceRule(
            "a to-many side becomes ordered, its inverse is to-many", library(shared, shelf: "shelf", .many),
            library(shared.map { $0.replacing("x,y", "y>x") }, .ordered, shelf: "shelf", .many),
            forward: .gives(shared.map { $0.replacing("x,y", "x>y") }), backward: .gives(shared)),
        InferenceRule(
            "a one-way to-many relationship becomes ordered", library(onlyBooks, shelf: nil),
            library(onlyBooks.map { $0.replacing("x,y", "y>x") }, .ordered, shelf: nil),
            forward: .gives(onlyBooks.map { $0.replacing("x,y", "x>y") }), backward: .gives(onlyBooks)),
        InferenceRule(
            "an order stays, and the inverse becomes to-many", library(turned, .ordered),
            library(turned, .ordered, shelf: "shelf", .many), forward: .gives(turned),
            backward: .notInferred(["Book.shelf"])),
        InferenceRule(
            "an order stays, and the side is renamed", library(turned, .ordered),
            library(turned.map { $0.replacing("books", "volumes") }, books: "volumes", was: "books", .ordered),
            forward: .gives(turned.map { $0.replacing("books", "volumes") }), backward: .gives(turned)),
    ]

    private static let inverses: [InferenceRule] = [
        InferenceRule(
            "a one-way to-one relationship gets a to-many inverse", library(onlyShelf, books: nil), library(oneToMany),
            forward: .gives(oneToMany), backward: .gives(onlyShelf)),
        InferenceRule(
            "a one-way to-many relationship gets a to-many inverse", library(onlyBooks, shelf: nil),
            library(oneToMany, shelf: "shelf", .many), forward: .gives(oneToMany), backward: .gives(onlyBooks)),
        InferenceRule(
            "a to-many relationship loses its inverse, where an object has several owners",
            library(shared, shelf: "shelf", .many), library(onlyBooks, shelf: nil), forward: .lacks("Shelf.books"),
            backward: .gives(oneToMany)),
        InferenceRule(
            "a one-way to-many relationship gets a to-one inverse", library(onlyBooks, shelf: nil),
            library(oneToMany), forward: .gives(oneToMany), backward: .gives(onlyBooks)),
        InferenceRule(
            "a one-way to-one relationship gets a to-one inverse",
            library(oneToOne.map { $0.replacing(" books=x", "") }, books: nil), library(oneToOne, .one),
            forward: .gives(oneToOne), backward: .gives(oneToOne.map { $0.replacing(" books=x", "") })),
        InferenceRule(
            "a one-way to-one relationship gets a to-one inverse, where two objects lead to one",
            library(onlyShelf, books: nil), library(oneToOne, .one), forward: .gives(oneToOne),
            backward: .gives(oneToOne.map { $0.replacing(" books=x", "") })),
        InferenceRule(
            "a to-one relationship gets a new inverse, which is to-one",
            library(oneToMany.map { $0.replacing("books", "volumes") }, books: "volumes"), library(oneToOne, .one),
            forward: .gives(oneToOne), backward: .gives(oneToOne.map { $0.replacing("books", "volumes") })),
        InferenceRule(
            "a required to-one relationship gets a to-one inverse",
            library(required, books: nil) { _, book in book.relationshipsByName["shelf"]?.isOptional = false },
            library(Array(oneToOne.dropLast(2)), .one) { _, book in
                book.relationshipsByName["shelf"]?.isOptional = false
            },
            forward: .lacks("Book.shelf"), backward: .gives(Array(required.dropLast()))),
    ]
}

extension String {
    func replacing(_ text: String, _ other: String) -> String { replacingOccurrences(of: text, with: other) }
}

extension InferenceRule.Version {
    /// The version with another name of a property in its lines.
    fileprivate func renamed(_ name: String, _ other: String) -> Self {
        Self(lines.map { $0.replacing(name + "=", other + "=") }, entities)
    }
}
