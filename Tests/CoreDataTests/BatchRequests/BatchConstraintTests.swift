import CoreData
import TestSupport
import Testing

/// Batches under several uniqueness constraints, and constraints of several attributes.
@Suite struct BatchConstraintTests {
    private func stack(
        _ kind: StoreKind, _ constraints: [[String]], _ rows: [[String: Any]] = [], options: [AnyHashable: Any]? = nil
    ) throws -> BatchStack {
        let photo = NSAttributeDescription("photo", .binaryDataAttributeType)
        photo.allowsExternalBinaryDataStorage = true
        let entry = NSEntityDescription(
            "Entry", class: "NSManagedObject",
            [
                NSAttributeDescription("number", .integer32AttributeType), NSAttributeDescription("key", .integer32AttributeType),
                NSAttributeDescription("code", .stringAttributeType), NSAttributeDescription("list", .stringAttributeType), photo,
            ])
        entry.uniquenessConstraints = constraints
        let stack = try BatchStack(kind, NSManagedObjectModel([entry]), options: options)
        if !rows.isEmpty { try stack.context.execute(NSBatchInsertRequest(entityName: "Entry", objects: rows)) }
        return stack
    }

    private func rows(_ stack: BatchStack) throws -> [String] {
        zip(try stack.values("key", of: "Entry", by: "number"), try stack.values("code", of: "Entry", by: "number")).map { "\($0) \($1)" }
    }

    // MARK: What errors name

    @Test(arguments: StoreKind.allCases)
    func anErrorDoesNotNameValuesThatNobodyKnows(kind: StoreKind) throws {
        let stack = try stack(kind, [["list", "key"]], (1...2).map { ["number": $0, "list": "L", "key": $0] })
        let update = NSBatchUpdateRequest(entityName: "Entry")
        update.propertiesToUpdate = ["key": NSExpression(format: "number * 0")]
        let error = try #require(#expect(throws: NSError.self) { try stack.context.execute(update) })
        #expect(error.code == 133021)
        #expect(!error.localizedDescription.contains("nil"), "\(error.localizedDescription)")
        #expect(error.localizedDescription.contains("list") && error.localizedDescription.contains("key"))
        let conflict = (error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict])?.first
        #expect(conflict?.constraint == ["list", "key"])
    }

    @Test(arguments: StoreKind.allCases)
    func anErrorNamesTheConstraintThatFails(kind: StoreKind) throws {
        let stack = try stack(kind, [["key"], ["code"]], (1...2).map { ["number": $0, "key": $0, "code": "\($0)"] })
        let update = NSBatchUpdateRequest(entityName: "Entry")
        update.propertiesToUpdate = ["key": NSExpression(format: "number + 5"), "code": "x"]
        let error = try #require(#expect(throws: NSError.self) { try stack.context.execute(update) })
        #expect(error.code == 133021)
        let conflict = (error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict])?.first
        #expect(conflict?.constraint == ["code"])
        #expect(conflict?.constraintValues["code"] as? String == "x")
        #expect(try rows(stack) == ["1 1", "2 2"])
    }
}
