import CoreData
import Testing

private final class Parcel: NSManagedObject {
    @Managed var name: String
    @Managed var tags: [String]
    @Managed var bytes: Data?
    @Managed var other: Parcel?
}

/// Key paths that go on inside of a value, where no property is found.
@Suite struct KeyPathInsideValueTests {
    @Test func anElementOfAListHasNoName() {
        #expect(KeyPathNames.name(of: \Parcel.tags[3]) == nil)
        #expect(KeyPathNames.name(of: \Parcel.bytes![9]) == nil)
        #expect(KeyPathNames.name(of: \Parcel.bytes?[9]) == nil)
        #expect(KeyPathNames.name(of: \Parcel.other?.tags[2]) == nil)
        #expect(KeyPathNames.name(of: \Parcel.other!.tags.count) == nil)
    }

    @Test func thePropertiesThemselvesHaveNames() {
        #expect(KeyPathNames.name(of: \Parcel.tags) == "tags")
        #expect(KeyPathNames.name(of: \Parcel.bytes) == "bytes")
        #expect(KeyPathNames.name(of: \Parcel.other?.name) == "other.name")
        #expect(KeyPathNames.name(of: \Parcel.other?.other?.tags) == "other.other.tags")
    }
}
