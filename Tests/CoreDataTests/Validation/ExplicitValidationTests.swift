import CoreData
import TestSupport
import Testing

final class ImportedTeam: NSManagedObject {
    @Managed var name: String?
    @Managed var size: Int32
    @Managed var note: String?
    @Managed var place: [String: Any]?
    @Managed var league: ImportedLeague?
    @Managed var players: Set<ImportedPlayer>
    var validatesWithSuper = false

    override func validateForUpdate() throws {
        validatesWithSuper = true
        try super.validateForUpdate()
    }
}

final class ImportedLeague: NSManagedObject {}

final class ImportedPlayer: NSManagedObject {
    @Managed var name: String?
}

/// `validateForUpdate()` and `validateForInsert()` as a program calls them: they check every
/// property, changed or not.
struct ExplicitValidationTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static func model() -> NSManagedObjectModel {
        let size = NSAttributeDescription("size", .integer32AttributeType)
        size.setValidation(predicates: [NSPredicate(format: "SELF <= 10")], warnings: [1610 as NSNumber])
        let city = NSAttributeDescription("city", .stringAttributeType)
        city.setValidation(predicates: [NSPredicate(format: "length <= 5")], warnings: [1660 as NSNumber])
        let team = NSEntityDescription(
            "Team", class: "ImportedTeam",
            [
                NSAttributeDescription("name", .stringAttributeType, optional: false), size,
                NSAttributeDescription("note", .stringAttributeType), NSCompositeAttributeDescription("place", city),
            ])
        let league = NSEntityDescription("League", class: "ImportedLeague", [.init("name", .stringAttributeType)])
        let player = NSEntityDescription("Player", class: "ImportedPlayer", [.init("name", .stringAttributeType)])
        relate(league, "teams", toMany: true, team, inverse: "league")
        relate(team, "players", toMany: true, optional: false, player, inverse: "team")
        team.relationshipsByName["league"]?.isOptional = false
        team.relationshipsByName["players"]?.minCount = 1
        return NSManagedObjectModel([team, league, player])
    }

    /// A context on a store that was filled past validation.
    private func context(_ kind: StoreKind, _ rows: [[String: Any]]) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
        _ = try coordinator.addPersistentStore(
            ofType: kind.type, configurationName: nil, at: kind.url(folder.file("teams.sqlite")))
        let context = coordinator.newContext()
        try context.execute(
            NSBatchInsertRequest(
                entityName: "Team", objects: rows.map { $0.merging(["name": "none"]) { given, _ in given } }))
        let nameless = NSBatchUpdateRequest(entityName: "Team")
        nameless.predicate = NSPredicate(format: "name == 'none'")
        nameless.propertiesToUpdate = ["name": NSNull()]
        try context.execute(nameless)
        return context
    }

    private func team(_ context: NSManagedObjectContext) throws -> ImportedTeam {
        try #require(try context.fetch(NSFetchRequest<ImportedTeam>(entityName: "Team")).first)
    }

    /// Makes the relationships of a team good.
    private func relateTeam(_ team: ImportedTeam, _ context: NSManagedObjectContext) {
        team.league = ImportedLeague(context: context)
        team.players = [ImportedPlayer(context: context)]
    }

    @Test(arguments: StoreKind.allCases) func everyPropertyOfAFaultIsChecked(kind: StoreKind) throws {
        // A column of PostgreSQL takes no null for what is required.
        let takesNull = kind != .postgreSQL
        let context = try context(kind, takesNull ? [["size": 11]] : [])
        if !takesNull {
            let team = ImportedTeam(context: context)
            (team.name, team.size) = ("A", 1)
            relateTeam(team, context)
            try context.save()
            let url = try #require(context.persistentStoreCoordinator?.persistentStores.first?.url)
            _ = try PostgreSQLTables(url).result("DELETE FROM player")
            let large = NSBatchUpdateRequest(entityName: "Team")
            large.propertiesToUpdate = ["size": 11]
            try context.execute(large)
            context.reset()
        }
        let keys = (takesNull ? ["league", "name"] : []) + ["players", "size"]
        let team = try team(context)
        #expect(team.isFault)
        let error = errorThrown { try team.validateForUpdate() }
        #expect(error?.validationKeys == keys)
        #expect(error?.singleCodes == (takesNull ? [1570, 1570] : []) + [1580, 1610])
        #expect(!team.hasChanges)
        #expect(errorThrown { try team.validateForInsert() }?.validationKeys == keys)
    }

    @Test func whatIsGoodPassesFaultOrNot() throws {
        let context = try context(.sqlite, [["name": "A", "size": 1]])
        let team = try team(context)
        relateTeam(team, context)
        try context.save()
        try team.validateForUpdate()
        context.refreshAllObjects()
        try team.validateForUpdate()
        #expect(!team.isFault)
    }

    @Test func anUnchangedAttributeIsCheckedBesideAChangedOne() throws {
        let context = try context(.sqlite, [["name": "A", "size": 11]])
        let team = try team(context)
        relateTeam(team, context)
        team.note = "changed"
        #expect(errorThrown { try team.validateForUpdate() }?.validationKeys == ["size"])
        // A save takes what it has read.
        try context.save()
        #expect(errorThrown { try team.validateForUpdate() }?.validationKeys == ["size"])
        team.size = 10
        try team.validateForUpdate()
        try context.save()
    }

    @Test func anOverrideThatASaveCallsChecksWhatHasChanged() throws {
        let context = try context(.sqlite, [["name": "A", "size": 11]])
        let team = try team(context)
        relateTeam(team, context)
        try context.save()
        #expect(team.validatesWithSuper)
        team.size = 12
        #expect(errorThrown { try context.save() }?.code == 1610)
        // A save that has failed leaves later checks as they were.
        context.rollback()
        #expect(errorThrown { try team.validateForUpdate() }?.code == 1610)
    }

    @Test func compositesAreChecked() throws {
        let context = try context(.sqlite, [["name": "A", "size": 1, "place": ["city": "Salzburg"]]])
        let team = try team(context)
        relateTeam(team, context)
        try context.save()
        context.refreshAllObjects()
        #expect(errorThrown { try team.validateForUpdate() }?.validationKeys == ["place"])
    }

    @Test func objectsOfAChildAreChecked() throws {
        let context = try context(.sqlite, [["size": 11]])
        let child = context.newChild()
        let team = try team(child)
        #expect(errorThrown { try team.validateForUpdate() }?.validationKeys == ["league", "name", "players", "size"])
        #expect(!child.hasChanges)
    }

    @Test func aRowThatIsGoneHasNothingToCheck() throws {
        let context = try context(.sqlite, [["size": 11]])
        let team = try team(context)
        context.refreshAllObjects()
        SQLiteFile(folder.file("teams.sqlite")).execute("DELETE FROM ZTEAM")
        let other = try unread(team, in: context)
        try other.validateForUpdate()
    }

    @Test func aRowThatCannotBeReadIsAnErrorOfTheStore() throws {
        let context = try context(.sqlite, [["name": "A", "size": 11]])
        let file = SQLiteFile(folder.file("teams.sqlite"))
        let other = try unread(try team(context), in: context)
        #expect(file.execute("ALTER TABLE ZTEAM RENAME TO ZAWAY"))
        let error = errorThrown { try other.validateForUpdate() }
        #expect(error?.localizedDescription.contains("no such table") == true)
        #expect(file.execute("ALTER TABLE ZAWAY RENAME TO ZTEAM"))
        #expect(errorThrown { try other.validateForUpdate() }?.validationKeys == ["league", "players", "size"])
        let third = try unread(other, in: context)
        #expect(file.execute("ALTER TABLE ZPLAYER RENAME TO ZAWAY"))
        let failure = errorThrown { try third.validateForUpdate() }
        #expect(failure?.localizedDescription.contains("no such table") == true)
        #expect(file.execute("ALTER TABLE ZAWAY RENAME TO ZPLAYER"))
        #expect(errorThrown { try third.validateForUpdate() }?.validationKeys == ["league", "players", "size"])
    }

    /// The object of the same row in a context that has not read it, on a coordinator of its own.
    private func unread(_ team: ImportedTeam, in context: NSManagedObjectContext) throws -> ImportedTeam {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
        _ = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: folder.file("teams.sqlite"))
        let other = coordinator.newContext()
        context.userInfo["kept\(context.userInfo.count)"] = other
        let objectID = try #require(
            coordinator.managedObjectID(forURIRepresentation: team.objectID.uriRepresentation()))
        return try #require(other.object(with: objectID) as? ImportedTeam)
    }
}
