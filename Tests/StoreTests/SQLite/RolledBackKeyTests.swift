import TestSupport
import Testing

@testable import CoreData

/// Keys in stores that were edited by hand, whose `Z_MAX` lies below real keys, after a transaction
/// that was rolled back.
struct RolledBackKeyTests {
    private let folder: TemporaryFolder
    private let url: URL

    init() throws {
        folder = try TemporaryFolder()
        url = folder.file("tags.sqlite")
    }

    private func openStore(_ options: [AnyHashable: Any]? = nil) throws -> OpenStore {
        let tag = NSEntityDescription(
            "Tag", class: "NSManagedObject",
            [
                NSAttributeDescription("name", .stringAttributeType),
                NSAttributeDescription("note", .stringAttributeType),
            ])
        tag.uniquenessConstraints = [["name"]]
        let open = try OpenStore(model: NSManagedObjectModel([tag]), url: url, options: options)
        SQLiteFile(url).execute(
            "INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT, ZNAME, ZNOTE) VALUES (1, 1, 1, 'taken', 'by hand')")
        return open
    }

    @Test(arguments: [
        NSMergePolicyType.mergeByPropertyObjectTrumpMergePolicyType, .mergeByPropertyStoreTrumpMergePolicyType,
    ])
    func aBatchAfterARefusedOneLeavesOtherRowsAlone(policy: NSMergePolicyType) throws {
        let open = try openStore()
        let context = open.coordinator.newContext()
        context.mergePolicy = NSMergePolicy.error
        let refused = NSBatchInsertRequest(entityName: "Tag", objects: [["name": "taken", "note": "x"]])
        #expect(throws: (any Error).self) { try context.execute(refused) }
        context.mergePolicy = NSMergePolicy(merge: policy)
        _ = try context.execute(NSBatchInsertRequest(entityName: "Tag", objects: [["name": "new", "note": "other"]]))
        #expect(
            SQLiteFile(url).rows("SELECT ZNAME, ZNOTE FROM ZTAG ORDER BY ZNAME") == [
                ["new", "other"], ["taken", "by hand"],
            ])
    }

    @Test func keysAfterAFailedCommitAreAboveTheRealOnes() throws {
        let open = try openStore([
            NSPersistentStoreTimeoutOption: 0.01, NSSQLitePragmasOption: ["journal_mode": "DELETE"],
        ])
        // Who reads keeps the commit of a rollback journal waiting.
        let reader = SQLiteFile(url)
        reader.execute("BEGIN")
        #expect(reader.value("SELECT count(*) FROM ZTAG") == "1")
        #expect(throws: (any Error).self) { try open.store.reserveKeys(1, for: open.layout("Tag")) }
        reader.execute("COMMIT")
        #expect(try open.store.reserveKeys(1, for: open.layout("Tag")) == 2)
    }
}
