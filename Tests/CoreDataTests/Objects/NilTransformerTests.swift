import CoreData
import TestSupport
import Testing

/// Turns texts into bytes: the empty one into nil, "number" into something that is no data.
private final class LabelTransformer: ValueTransformer, @unchecked Sendable {
    override func transformedValue(_ value: Any?) -> Any? {
        guard let text = value as? String, !text.isEmpty else { return nil }
        return text == "number" ? 1 : Data(text.utf8)
    }

    override func reverseTransformedValue(_ value: Any?) -> Any? {
        (value as? Data).map { String(decoding: $0, as: UTF8.self) }
    }
}

/// Values for which a transformer gives nil.
@Suite(.everyStore) struct NilTransformerTests {
    private let stack: TestStack

    init() throws {
        let label = NSAttributeDescription("label", .transformableAttributeType)
        label.valueTransformerName = "LabelTransformer"
        ValueTransformer.setValueTransformer(LabelTransformer(), forName: NSValueTransformerName("LabelTransformer"))
        stack = try TestStack([
            NSEntityDescription("Box", class: "NSManagedObject", [.init("name", .stringAttributeType), label])
        ])
    }

    private func labels(_ condition: String = "TRUEPREDICATE") throws -> [String?] {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Box")
        request.predicate = NSPredicate(format: condition)
        return try stack.newContext().fetch(request).map { $0.value(forKey: "label") as? String }
    }

    @Test func suchAValueIsStoredAsNil() throws {
        let box = NSManagedObject(entity: stack.entity("Box"), insertInto: stack.context)
        box.setValue("", forKey: "label")
        try stack.context.save()
        #expect(try labels() == [nil])
        #expect(try labels("label == nil").count == 1)
        box.setValue("full", forKey: "label")
        try stack.context.save()
        #expect(try labels() == ["full"])
        box.setValue("", forKey: "label")
        try stack.context.save()
        #expect(try labels() == [nil])
        #expect(!stack.context.hasChanges)
    }

    @Test func whatIsNoDataIsRefused() throws {
        let box = NSManagedObject(entity: stack.entity("Box"), insertInto: stack.context)
        box.setValue("number", forKey: "label")
        let error = errorThrown { try stack.context.save() }
        #expect(error?.code == 1550)
        #expect(
            error?.localizedDescription.contains("Box.label gave a Int and no data for a String") == true,
            "\(error as Any)")
    }
}
