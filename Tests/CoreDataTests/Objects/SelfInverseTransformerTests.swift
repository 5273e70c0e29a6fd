import CoreData
import TestSupport
import Testing

/// Scrambles bytes: done twice, they are as they were.
private final class ScramblingTransformer: ValueTransformer, @unchecked Sendable {
    // Sendable: no state.
    override class func transformedValueClass() -> AnyClass { NSData.self }
    override func transformedValue(_ value: Any?) -> Any? { (value as? Data).map { Data($0.map { $0 ^ 0x5A }) } }
}

private final class OneWayTransformer: ValueTransformer, @unchecked Sendable {
    // Sendable: no state.
    override class func allowsReverseTransformation() -> Bool { false }
    override func transformedValue(_ value: Any?) -> Any? { Data() }
}

/// Transformers that leave the way back to the class they inherit from.
@Suite(.everyStore) struct SelfInverseTransformerTests {
    @Test func theWayBackIsTheWayThereAgain() {
        let bytes = Data("abc".utf8)
        let transformer = ScramblingTransformer()
        #expect(transformer.transformedValue(bytes) as? Data != bytes)
        #expect(transformer.reverseTransformedValue(transformer.transformedValue(bytes)) as? Data == bytes)
        #expect(OneWayTransformer().reverseTransformedValue(Data()) == nil)
    }

    @Test func whatWasStoredIsReadBack() throws {
        let name = NSValueTransformerName("SelfInverseTransformerTestsScrambling")
        ValueTransformer.setValueTransformer(ScramblingTransformer(), forName: name)
        let secret = NSAttributeDescription("secret", .transformableAttributeType)
        secret.valueTransformerName = name.rawValue
        let stack = try TestStack([NSEntityDescription("Note", class: "NSManagedObject", [secret])])
        let bytes = Data("abc".utf8)
        stack.context.new("Note", ["secret": bytes])
        try stack.context.save()
        let reader = stack.newContext()
        let note = try #require(try reader.fetch(NSFetchRequest<NSManagedObject>(entityName: "Note")).first)
        #expect(note.value(forKey: "secret") as? Data == bytes)
    }
}
