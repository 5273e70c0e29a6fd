import SafeCoreData
import TestSupport
import Testing

/// A class without a macro.
final class WeighedThing: NSManagedObject {
    @Managed var weight: IncidentWeight
}

/// Views whose store is gone read an empty value, or the first one, of a property's type.
struct StackEmptyViewTests {
    let folder: TemporaryFolder
    let stack: DataStack

    init() throws {
        folder = try TemporaryFolder()
        stack = DataStack(entities: Outage.self, store: .file(folder.file("incidents.sqlite")))
    }

    @MainActor @Test(arguments: [true, false]) func theirRequiredValuesAreEmptyOrTheFirstOfTheType(isReplaced: Bool)
        async throws
    {
        try await stack.write { context in _ = Outage("first", .held, .heavy, in: context) }
        let view = try await stack.read { try $0.first(Outage.self) }
        let outage = try #require(view)
        #expect(outage.state == .held)
        if isReplaced {
            let copy = folder.file("copy.sqlite")
            let other = DataStack(entities: Outage.self, store: .file(copy))
            try await other.write { _ in }
            try await other.close()
            try await stack.replaceStore(withCopyOf: copy)
        } else {
            try await stack.close()
        }
        #expect(outage.text == "")
        #expect(outage.tags == [])
        #expect(outage.formerState == nil)
        #expect(outage.formerExtent == nil)
        #expect(outage.state == .open)
        #expect(outage.weight == .light)
        #expect(outage.mark == TicketMark(rawValue: ""))
        #expect(outage.extent == IncidentExtent(width: 0, place: .indoors))
        #expect(outage.address == ParcelAddress(city: ""))
        #expect(outage.status == .open)
    }

    @Test func anEnumerationWithoutAMacroIsItsFirstCase() throws {
        let model = NSManagedObjectModel()
        model.entities = [
            NSEntityDescription(
                "WeighedThing", [NSAttributeDescription("weight", .integer64AttributeType, optional: false)])
        ]
        let things = try EntityStack(model: model)
        let thing = WeighedThing(context: things.context)
        #expect(thing.weight == .light)
        thing.weight = .heavy
        try things.context.save()
        things.context.reset()
        #expect(thing.weight == .light)
    }
}
