import CoreData
import TestSupport
import Testing

final class CheckedItem: NSManagedObject {
    @Managed var name: String?
    @Managed var low: Int32
    @Managed var high: Int32
    var checks: [String] = []

    override func validateForInsert() throws {
        checks.append("insert")
        try combine { try super.validateForInsert() }
    }

    override func validateForUpdate() throws {
        checks.append("update")
        try combine { try super.validateForUpdate() }
    }

    override func validateForDelete() throws {
        checks.append("delete")
        try super.validateForDelete()
        if name == "keep" { throw NSError(domain: "CheckedItem", code: 2) }
    }

    private func combine(_ base: () throws -> Void) throws {
        var errors: [NSError] = errorThrown(by: base)?.singleErrors ?? []
        if low > high { errors.append(NSError(domain: "CheckedItem", code: 1)) }
        if errors.count == 1 { throw errors[0] }
        if errors.count > 1 {
            throw NSError(
                domain: NSCocoaErrorDomain, code: NSValidationMultipleErrorsError,
                userInfo: [NSDetailedErrorsKey: errors])
        }
    }
}

@Suite(.everyStore) struct SaveValidationTests {
    let stack: TestStack

    init() throws {
        stack = try TestStack([
            NSEntityDescription(
                "Item", class: "CheckedItem",
                [
                    .init("name", .stringAttributeType, optional: false),
                    .init("low", .integer32AttributeType, default: 0),
                    .init("high", .integer32AttributeType, default: 0),
                ])
        ])
    }

    func item(_ name: String? = "a") -> CheckedItem {
        let item = CheckedItem(context: stack.context)
        item.name = name
        return item
    }

    func saveError() -> NSError? { errorThrown { try stack.context.save() } }

    @Test("69: a save asks each object the question of its change") func eachChangeHasItsValidation() throws {
        let item = item()
        try stack.context.save()
        #expect(item.checks == ["insert"])
        item.name = "b"
        try stack.context.save()
        #expect(item.checks == ["insert", "update"])
        stack.context.delete(item)
        try stack.context.save()
        #expect(item.checks == ["insert", "update", "delete"])
    }

    @Test("69: a deletion that is not allowed fails the save") func deletionsMayBeRefused() throws {
        let item = item("keep")
        try stack.context.save()
        stack.context.delete(item)
        let error = saveError()
        #expect(error?.domain == "CheckedItem")
        #expect(error?.code == 2)
        #expect(item.isDeleted)
        #expect(stack.storedCount(of: "Item") == 1)
        stack.context.rollback()
        #expect(!item.isDeleted)
        #expect(item.name == "keep")
        #expect(saveError() == nil)
    }

    @Test("81: a deleted object may lack required values") func deletedObjectsMayLackValues() throws {
        let item = item()
        try stack.context.save()
        item.name = nil
        #expect(saveError()?.code == 1570)
        stack.context.delete(item)
        try stack.context.save()
        #expect(stack.storedCount(of: "Item") == 0)
    }

    @Test("82: a save that fails writes nothing and keeps all changes") func failedSavesWriteNothing() throws {
        let changed = item("old")
        let deleted = item("deleted")
        try stack.context.save()
        changed.name = "new"
        stack.context.delete(deleted)
        let valid = item("valid")
        let invalid = item(nil)
        #expect(saveError()?.code == 1570)
        #expect(stack.stored("name", of: "Item") == ["deleted", "old"])
        #expect(stack.context.hasChanges)
        #expect(stack.context.insertedObjects == [valid, invalid])
        #expect(stack.context.updatedObjects == [changed])
        #expect(stack.context.deletedObjects == [deleted])
        #expect(valid.objectID.isTemporaryID)
        invalid.name = "now valid"
        try stack.context.save()
        #expect(stack.stored("name", of: "Item") == ["new", "now valid", "valid"])
    }

    @Test("84: a subclass adds its errors to those of its superclass") func subclassesAddErrors() throws {
        let item = item(nil)
        item.low = 5
        let error = try #require(saveError())
        #expect(error.code == 1560)
        #expect(error.singleErrors.map(\.domain).sorted() == ["CheckedItem", NSCocoaErrorDomain].sorted())
        #expect(error.validationKeys == ["name"])
        item.name = "a"
        #expect(saveError()?.domain == "CheckedItem")
        item.high = 6
        #expect(saveError() == nil)
    }
}
