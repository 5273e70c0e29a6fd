import CoreData

/// A model as Apple's framework archives it where entities inherit: properties that an entity
/// inherits are listed again as stand-ins.
public enum StandInModel {
    /// A model with a root entity `Note` (title, owner), its subentity `Memo` (urgent) and `Owner`
    /// (notes), in which `Memo` lists what it inherits as stand-ins.
    public static func archive(
        propertyClass: String = "NSAttributeDescription",
        indexes: (inout KeyedArchiveBuilder) -> [ListPart] = { _ in [] }
    ) -> Data {
        var builder = KeyedArchiveBuilder()
        // Objects refer to each other in circles: places first, contents later.
        func place() -> ListPart { builder.add(.null) }
        let (note, memo, owner) = (place(), place(), place())
        let (title, noteOwner, notes, urgent) = (place(), place(), place(), place())
        func fill(_ place: ListPart, _ className: String, _ entries: [String: ListPart]) {
            guard case .uid(let number) = place, case .uid(let made) = builder.object(className, entries) else {
                return
            }
            builder.objects[number] = builder.objects[made]
        }
        func text(_ text: String) -> ListPart { builder.add(.text(text)) }
        func standIn(_ property: ListPart) -> ListPart {
            builder.object(
                "_NSPropertyDescriptionProxy",
                ["NSUnderlyingProperty": property, "NSEntityDescription": memo, "NSReferenceID": .int(3)])
        }
        fill(
            title, propertyClass,
            [
                "NSPropertyName": text("title"), "NSAttributeType": .int(700), "NSIsOptional": .bool(true),
                "NSEntity": note,
            ])
        fill(
            urgent, "NSAttributeDescription",
            ["NSPropertyName": text("urgent"), "NSAttributeType": .int(800), "NSEntity": memo])
        // The inverse of Owner.notes is given as a stand-in of a stand-in.
        let inverse = standIn(standIn(noteOwner))
        fill(
            noteOwner, "NSRelationshipDescription",
            [
                "NSPropertyName": text("owner"), "NSDestinationEntity": owner, "NSInverseRelationship": notes,
                "NSMaxCount": .int(1),
                "NSDeleteRule": .int(1), "NSIsOptional": .bool(true),
            ])
        fill(
            notes, "NSRelationshipDescription",
            [
                "NSPropertyName": text("notes"), "NSDestinationEntity": note, "NSInverseRelationship": inverse,
                "NSMaxCount": .int(0),
                "NSDeleteRule": .int(1), "NSIsOptional": .bool(true),
            ])
        let listed = indexes(&builder)
        let found = builder.array(listed, "NSMutableArray")
        fill(
            note, "NSEntityDescription",
            [
                "NSEntityName": text("Note"), "NSClassNameForEntity": text("NSManagedObject"),
                "NSFetchIndexDescriptions": found,
                "NSProperties": builder.dictionary([("title", title), ("owner", noteOwner)]),
                "NSNewKeyOfAnotherYear": .int(5),
                "NSSubentities": builder.dictionary([("Memo", memo)]),
            ])
        fill(
            memo, "NSEntityDescription",
            [
                "NSEntityName": text("Memo"), "NSClassNameForEntity": text("NSManagedObject"), "NSSuperentity": note,
                "NSUniqueTuples": builder.array([builder.array([standIn(title)])]),
                "NSProperties": builder.dictionary([
                    ("title", standIn(title)), ("owner", standIn(noteOwner)), ("urgent", urgent),
                ]),
            ])
        fill(
            owner, "NSEntityDescription",
            [
                "NSEntityName": text("Owner"), "NSClassNameForEntity": text("NSManagedObject"),
                "NSProperties": builder.dictionary([("notes", notes)]),
            ])
        let entities = builder.dictionary([("Memo", memo), ("Note", note), ("Owner", owner)])
        let root = builder.object("NSManagedObjectModel", ["NSEntities": entities])
        return builder.data(root: root)
    }

    public static func index(
        _ builder: inout KeyedArchiveBuilder, _ name: String, _ properties: [String], rTree: [Bool] = []
    ) -> ListPart {
        let elements = properties.enumerated().map { place, property in
            builder.object(
                "NSFetchIndexElementDescription",
                [
                    "NSPropertyName": builder.add(.text(property)), "NSAscending": .bool(true),
                    "NSFetchIndexElementType": .int(place < rTree.count && rTree[place] ? 1 : 0),
                ])
        }
        return builder.object(
            "NSFetchIndexDescription",
            ["NSIndexName": builder.add(.text(name)), "NSIndexElements": builder.array(elements)])
    }

    /// Makes a store with a note, a memo and their owner, whose own model is the archive.
    public static func makeStore(at url: URL) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model())
        let store = try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url)
        let context = coordinator.newContext()
        let owner = NSEntityDescription.insertNewObject(forEntityName: "Owner", into: context)
        for (entity, title) in [("Note", "Call Ann"), ("Memo", "Buy milk")] {
            let note = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
            note.setValue(title, forKey: "title")
            note.setValue(owner, forKey: "owner")
            if entity == "Memo" { note.setValue(true, forKey: "urgent") }
        }
        try context.save()
        try coordinator.remove(store)
        try SQLiteFile(url).run("UPDATE Z_MODELCACHE SET Z_CONTENT = ?", bytes: storedBlock(archive()))
    }

    /// The same model made by hand.
    ///
    /// - Parameter additions: properties of `Memo` that the archive does not have.
    public static func model(_ additions: NSPropertyDescription...) -> NSManagedObjectModel {
        let note = NSEntityDescription(
            "Note", class: "NSManagedObject", [NSAttributeDescription("title", .stringAttributeType)])
        let memo = NSEntityDescription(
            "Memo", class: "NSManagedObject",
            [NSAttributeDescription("urgent", .booleanAttributeType, optional: false)] + additions)
        let owner = NSEntityDescription("Owner", class: "NSManagedObject", [])
        relate(owner, "notes", toMany: true, note, inverse: "owner")
        memo.uniquenessConstraints = [["title"]]
        note.subentities = [memo]
        return NSManagedObjectModel([note, memo, owner])
    }

    /// Raw DEFLATE of bytes as they are.
    public static func storedBlock(_ bytes: Data) -> Data {
        let length = UInt16(bytes.count)
        return Data([1, UInt8(length & 0xff), UInt8(length >> 8), UInt8(~length & 0xff), UInt8(~length >> 8)]) + bytes
    }
}
