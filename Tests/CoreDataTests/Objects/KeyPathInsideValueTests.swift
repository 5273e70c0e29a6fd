import CoreData
import Testing

private final class LabelledParcel: NSManagedObject {
    @Managed var name: String
    @Managed var tags: [String]
    @Managed var bytes: Data?
    @Managed var other: LabelledParcel?
}

/// Key paths that go on inside of a value, where no property is found.
struct KeyPathInsideValueTests {
    @Test func anElementOfAListHasNoName() {
        #expect(KeyPathNames.name(of: \LabelledParcel.tags[3]) == nil)
        #expect(KeyPathNames.name(of: \LabelledParcel.bytes![9]) == nil)
        #expect(KeyPathNames.name(of: \LabelledParcel.bytes?[9]) == nil)
        #expect(KeyPathNames.name(of: \LabelledParcel.other?.tags[2]) == nil)
        #expect(KeyPathNames.name(of: \LabelledParcel.other!.tags.count) == nil)
    }

    @Test func thePropertiesThemselvesHaveNames() {
        #expect(KeyPathNames.name(of: \LabelledParcel.tags) == "tags")
        #expect(KeyPathNames.name(of: \LabelledParcel.bytes) == "bytes")
        #expect(KeyPathNames.name(of: \LabelledParcel.other?.name) == "other.name")
        #expect(KeyPathNames.name(of: \LabelledParcel.other?.other?.tags) == "other.other.tags")
    }
}
