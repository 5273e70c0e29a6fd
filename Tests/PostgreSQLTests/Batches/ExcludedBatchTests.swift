import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataPostgreSQL

/// Rows that triggers leave out of batch requests, and pairs that they leave out while several
/// programs write the same ones.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server"))
struct ExcludedBatchTests {
    private static func trigger(_ kind: String, _ table: String, when condition: String) -> String {
        """
        CREATE FUNCTION keep_out() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$; \
        CREATE TRIGGER keep_out BEFORE \(kind) ON \(table) FOR EACH ROW WHEN (\(condition)) EXECUTE FUNCTION keep_out()
        """
    }

    /// A store of items with a tag each, one of which a trigger keeps as it is, and another program
    /// that opens it.
    private func open(_ kind: String, deleteRule: NSDeleteRule = .nullifyDeleteRule) throws -> (
        Warehouse, NSManagedObjectContext
    ) {
        let model = Warehouse.model()
        model.entitiesByName["Maker"]?.relationshipsByName["items"]?.deleteRule = deleteRule
        let warehouse = try Warehouse(model)
        let context = warehouse.context
        try context.performAndWait {
            let (maker, tag) = (context.insert("Maker", ["title": "maker"]), context.insert("Tag", ["label": "tag"]))
            for name in ["a", "b", "kept"] {
                context.insert("Item", ["name": name, "maker": maker]).setValue(
                    NSOrderedSet(object: tag), forKey: "tags")
            }
            try context.save()
        }
        try warehouse.run(Self.trigger(kind, "item", when: "OLD.name = 'kept'"))
        return (warehouse, try warehouse.otherProgram())
    }

    /// Each item with the title of its maker and the number of its tags.
    private static let state = """
        SELECT i.name || ' ' || i.stock_count || ' ' || coalesce(m.title, '-') || ' ' \
        || (SELECT count(*) FROM item_tags t WHERE t.item_id = i.id) FROM item i LEFT JOIN maker m ON m.id = \
        i.maker_id ORDER BY 1
        """

    // MARK: Batches

    @Test(arguments: [NSBatchUpdateRequestResultType.updatedObjectIDsResultType, .updatedObjectsCountResultType])
    func whatABatchUpdateReportsIsChanged(resultType: NSBatchUpdateRequestResultType) throws {
        let (warehouse, context) = try open("UPDATE")
        let before = try warehouse.texts(Self.state)
        let request = NSBatchUpdateRequest(entityName: "Item")
        request.propertiesToUpdate = ["stockCount": 7]
        request.resultType = resultType
        let outcome = Result {
            try context.performAndWait { (try context.execute(request) as? NSBatchUpdateResult)?.result }
        }
        let after = try warehouse.texts(Self.state)
        switch outcome {
        // Whole or not at all.
        case .failure: #expect(after == before)
        case .success(let result):
            let count = (result as? [NSManagedObjectID])?.count ?? result as? Int
            #expect(count == 2)
            #expect(after == ["a 7 maker 1", "b 7 maker 1", "kept 0 maker 1"])
        }
    }

    /// A row that stays has what it had, and is not reported to be gone.
    @Test(arguments: [NSBatchDeleteRequestResultType.resultTypeObjectIDs, .resultTypeCount, .resultTypeStatusOnly])
    func whatABatchDeletionReportsIsGone(resultType: NSBatchDeleteRequestResultType) throws {
        let (warehouse, context) = try open("DELETE")
        let before = try warehouse.texts(Self.state)
        let request = NSBatchDeleteRequest(fetchRequest: NSFetchRequest<any NSFetchRequestResult>(entityName: "Item"))
        request.resultType = resultType
        let outcome = Result {
            try context.performAndWait { (try context.execute(request) as? NSBatchDeleteResult)?.result }
        }
        let after = try warehouse.texts(Self.state)
        switch outcome {
        // Whole or not at all.
        case .failure: #expect(after == before)
        case .success(let result):
            #expect(after == ["kept 0 maker 1"])
            let count = (result as? [NSManagedObjectID])?.count ?? result as? Int
            #expect(resultType == .resultTypeStatusOnly || count == 2)
        }
    }

    @Test func aBatchDeletionThatCannotCascadeDeletesNothing() throws {
        let (warehouse, context) = try open("DELETE", deleteRule: .cascadeDeleteRule)
        let before = try warehouse.texts(Self.state)
        let request = NSBatchDeleteRequest(fetchRequest: NSFetchRequest<any NSFetchRequestResult>(entityName: "Maker"))
        #expect(throws: NSError.self) { try context.performAndWait { _ = try context.execute(request) } }
        #expect(try warehouse.texts(Self.state) == before)
        #expect(try warehouse.texts("SELECT title FROM maker") == ["maker"])
    }

    @Test func aBatchDeletionThatCannotNullifyDeletesNothing() throws {
        let (warehouse, context) = try open("UPDATE")
        let before = try warehouse.texts(Self.state)
        let request = NSBatchDeleteRequest(fetchRequest: NSFetchRequest<any NSFetchRequestResult>(entityName: "Maker"))
        #expect(throws: NSError.self) { try context.performAndWait { _ = try context.execute(request) } }
        #expect(try warehouse.texts(Self.state) == before)
        #expect(try warehouse.texts("SELECT title FROM maker") == ["maker"])
    }

    /// Pairs are deleted with the rows that they lead to.
    @Test func aBatchDeletionThatCannotDeletePairsDeletesNothing() throws {
        let (warehouse, _) = try open("DELETE")
        try warehouse.run("DROP FUNCTION keep_out CASCADE")
        try warehouse.run(Self.trigger("DELETE", "item_tags", when: "OLD.item_id = (OLD.item_id / 2) * 2"))
        let before = try warehouse.texts(Self.state)
        let context = try warehouse.otherProgram()
        let request = NSBatchDeleteRequest(fetchRequest: NSFetchRequest<any NSFetchRequestResult>(entityName: "Tag"))
        #expect(throws: NSError.self) { try context.performAndWait { _ = try context.execute(request) } }
        #expect(try warehouse.texts(Self.state) == before)
        #expect(try warehouse.texts("SELECT label FROM tag") == ["tag"])
    }

    // MARK: Writers of the same pairs

    private static func clubs(ordered: Bool) -> NSManagedObjectModel {
        let club = NSEntityDescription(
            "Club", class: "NSManagedObject", [NSAttributeDescription("name", .stringAttributeType)])
        let member = NSEntityDescription(
            "Member", class: "NSManagedObject", [NSAttributeDescription("name", .stringAttributeType)])
        relate(club, "members", toMany: true, ordered: ordered, member, inverse: "clubs", inverseToMany: true)
        return NSManagedObjectModel([club, member])
    }

    private static let rounds = 20

    /// Two programs give a club the same members, in each second round together with one that a
    /// trigger keeps out.
    @Test(arguments: [false, true]) func whoeverWritesTheSamePairsWritesThemWholeOrNotAtAll(ordered: Bool) throws {
        let warehouse = try Warehouse(Self.clubs(ordered: ordered))
        let context = warehouse.context
        try context.performAndWait {
            _ = context.insert("Club", ["name": "club"])
            for name in (0..<Self.rounds).map({ "\($0)" }) + ["kept out"] {
                _ = context.insert("Member", ["name": name])
            }
            try context.save()
        }
        let keptOut = try warehouse.texts("SELECT id FROM member WHERE name = 'kept out'")[0] ?? ""
        try warehouse.run(Self.trigger("INSERT", "club_members", when: "NEW.member_id = \(keptOut)"))
        let writers = try (0..<2).map { _ in try warehouse.otherProgram() }
        DispatchQueue.concurrentPerform(iterations: 2) { index in
            for round in 0..<Self.rounds { Self.addMember(round, ordered: ordered, writers[index]) }
        }
        let members = try warehouse.texts(
            "SELECT m.name FROM club_members p JOIN member m ON m.id = p.member_id ORDER BY m.id")
        let expected = (0..<Self.rounds).filter { $0 % 2 == 0 }.map { "\($0)" }
        #expect(Set(members.compactMap { $0 }) == Set(expected))
        #expect(members.count == expected.count)
        let reader = try warehouse.otherProgram()
        let found = try reader.performAndWait {
            let value = try reader.all("Club")[0].value(forKey: "members")
            let members =
                (value as? NSOrderedSet)?.array as? [NSManagedObject] ?? Array(value as? Set<NSManagedObject> ?? [])
            return members.compactMap { $0.value(forKey: "name") as? String }
        }
        #expect(Set(found) == Set(members.compactMap { $0 }))
        #expect(found.count == members.count)
    }

    /// Tries until nobody else has changed the club meanwhile.
    private static func addMember(_ round: Int, ordered: Bool, _ context: NSManagedObjectContext) {
        let isRefused = round % 2 == 1
        context.performAndWait {
            for _ in 0..<500 {
                context.reset()
                do {
                    let club = try context.all("Club")[0]
                    var names = ["\(round)"]
                    if isRefused { names.append("kept out") }
                    for name in names {
                        let member = try context.all("Member", "name == '\(name)'")[0]
                        if ordered {
                            club.mutableOrderedSetValue(forKey: "members").add(member)
                        } else {
                            club.mutableSetValue(forKey: "members").add(member)
                        }
                    }
                    try context.save()
                    if isRefused { Issue.record("round \(round) was saved") }
                    return
                } catch {
                    let error = error as NSError
                    if error.code == CocoaError.Code.managedObjectMerge.rawValue { continue }
                    let isLeftOut = error.localizedDescription.contains("In the table 'club_members'")
                    #expect(isRefused, "round \(round): \(error)")
                    #expect(isLeftOut, "round \(round): \(error)")
                    return
                }
            }
            Issue.record("round \(round) met the other writer each time")
        }
    }
}
