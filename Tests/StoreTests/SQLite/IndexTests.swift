import TestSupport
import Testing

@testable import CoreData

/// The indexes that a model asks a store for.
struct IndexTests {
    /// Notes in folders, with the indexes that the closure names.
    private func statements(
        _ indexes: (_ note: NSEntityDescription) -> [NSFetchIndexDescription]
    ) throws -> [String: String] {
        let folder = NSEntityDescription()
        folder.name = "Folder"
        let note = NSEntityDescription()
        note.name = "Note"
        let notes = TestModel.relationship("notes", to: note, many: true)
        let home = TestModel.relationship("folder", to: folder, many: false)
        TestModel.pair(notes, home)
        folder.properties = [notes]
        note.properties = [
            TestModel.attribute("title", .stringAttributeType), TestModel.attribute("stars", .integer16AttributeType),
            TestModel.attribute("made", .dateAttributeType), TestModel.attribute("weight", .doubleAttributeType), home,
        ]
        note.indexes = indexes(note)
        let model = NSManagedObjectModel()
        model.entities = [folder, note]
        let directory = try TemporaryFolder()
        let url = directory.file("notes.sqlite")
        try OpenStore(model: model, url: url).close()
        var result: [String: String] = [:]
        for row in SQLiteFile(url).rows("SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql NOT NULL") {
            result[row[0] ?? ""] = row[1] ?? ""
        }
        return result
    }

    private func index(
        _ name: String, on property: String, of entity: NSEntityDescription, ascending: Bool = true,
        where format: String? = nil
    ) -> NSFetchIndexDescription {
        let element = NSFetchIndexElementDescription(
            property: entity.propertiesByName[property]!, collationType: .binary)
        element.isAscending = ascending
        let index = NSFetchIndexDescription(name: name, elements: [element])
        index.partialIndexPredicate = format.map { NSPredicate(format: $0) }
        return index
    }

    @Test(arguments: [
        ("title != nil", "ZTITLE IS NOT NULL"), ("title == nil", "ZTITLE IS NULL"), ("stars > 3", "ZSTARS > 3"),
        ("3 >= stars", "ZSTARS <= 3"), ("title == \"it's\"", "ZTITLE = 'it''s'"),
        ("folder != nil", "ZFOLDER IS NOT NULL"),
        ("stars > 1 AND (title == nil OR stars < 5)", "(ZSTARS > 1 AND (ZTITLE IS NULL OR ZSTARS < 5))"),
        ("NOT stars == 2", "((ZSTARS = 2) IS NOT 1)"), ("stars != 2", "ZSTARS <> 2"),
        ("stars == 1 OR (stars > 3 AND title != nil)", "ZSTARS = 1 OR (ZSTARS > 3 AND ZTITLE IS NOT NULL)"),
        ("weight > 4 AND weight < 7.5", "(ZWEIGHT > 4 AND ZWEIGHT < 7.5)"),
    ])
    func aPartialIndexHoldsTheRowsOfItsPredicate(format: String, condition: String) throws {
        let made = try statements { [index("some", on: "title", of: $0, where: format)] }
        #expect(
            made["Z_Note_some"] == "CREATE INDEX Z_Note_some ON ZNOTE (ZTITLE COLLATE BINARY ASC) WHERE \(condition)")
    }

    @Test(arguments: ["title CONTAINS 'a'", "folder.notes.@count > 1", "title ==[c] 'a'", "stars == made"])
    func anIndexHoldsAllRowsWhereItsPredicateCannotBeSaid(format: String) throws {
        let made = try statements { [index("some", on: "title", of: $0, where: format)] }
        #expect(made["Z_Note_some"] == "CREATE INDEX Z_Note_some ON ZNOTE (ZTITLE COLLATE BINARY ASC)")
    }

    @Test func aToOneRelationshipAloneHasItsIndexAlready() throws {
        let made = try statements { note in
            [
                index("byFolder", on: "folder", of: note),
                index("byFolderDown", on: "folder", of: note, ascending: false),
            ]
        }
        #expect(Set(made.keys) == ["ZNOTE_ZFOLDER_INDEX", "Z_Note_byFolderDown"])
    }

    @Test func anElementOnTheObjectItselfIsTheKey() throws {
        let itself = NSExpressionDescription("self", NSExpression.expressionForEvaluatedObject())
        let made = try statements { note in
            let stars = NSFetchIndexElementDescription(
                property: note.propertiesByName["stars"]!, collationType: .binary)
            let object = NSFetchIndexElementDescription(property: itself, collationType: .binary)
            return [NSFetchIndexDescription(name: "byStars", elements: [stars, object])]
        }
        #expect(
            made["Z_Note_byStars"]
                == "CREATE INDEX Z_Note_byStars ON ZNOTE (ZSTARS COLLATE BINARY ASC, Z_PK COLLATE BINARY ASC)")
    }

    @Test func theMarkMakesNoIndexBesideThoseOfTheEntity() throws {
        let marked = try statements { note in
            note.attributesByName["stars"]?.isIndexed = true
            return []
        }
        #expect(Set(marked.keys) == ["ZNOTE_ZFOLDER_INDEX", "Z_Note_stars"])
        let listed = try statements { note in
            note.attributesByName["stars"]?.isIndexed = true
            return [index("byStars", on: "stars", of: note)]
        }
        #expect(Set(listed.keys) == ["ZNOTE_ZFOLDER_INDEX", "Z_Note_byStars"])
    }
}
