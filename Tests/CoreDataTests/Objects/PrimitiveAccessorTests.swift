import CoreData
import TestSupport
import Testing

final class StampedItem: NSManagedObject {
    @Managed var name: String?
    @Managed var modified: Date
    @Managed var count: Int32
    @Managed var speed: Int
    @Managed var ratio: Double
    @Managed var owner: StampedItem?
    @Managed var parts: Set<StampedItem>
    @Managed var url: String?

    @Managed private var primitiveModified: Date
    @Managed var primitiveName: String?
    @Managed var primitiveCount: Int32
    @Managed var primitiveRatio: Double
    @Managed var primitiveOwner: StampedItem?
    @Managed var primitiveParts: Set<StampedItem>

    override func awakeFromInsert() {
        super.awakeFromInsert()
        primitiveModified = Date(timeIntervalSinceReferenceDate: 42)
    }
}

/// Properties named `primitiveX`, which read and write the storage of `x`.
@Suite(.everyStore) struct PrimitiveAccessorTests {
    let stack: TestStack

    init() throws {
        let speed = NSAttributeDescription("speed", .integer64AttributeType)
        speed.isTransient = true
        let ratio = NSAttributeDescription("ratio", .doubleAttributeType, default: 0.5)
        ratio.isTransient = true
        let item = NSEntityDescription(
            "Item", class: "StampedItem",
            [
                .init("name", .stringAttributeType), .init("modified", .dateAttributeType, optional: false),
                .init("count", .integer32AttributeType), .init("url", .stringAttributeType), speed, ratio,
            ])
        relate(item, "owner", item, inverse: "parts", inverseToMany: true)
        stack = try TestStack([item])
    }

    @Test func aPrimitivePropertySetsTheValueWithoutTracking() throws {  // 32, 53, 55
        let item = StampedItem(context: stack.context)
        #expect(item.modified == Date(timeIntervalSinceReferenceDate: 42))
        // The object was never saved: all that was set since counts.
        #expect(item.changedValues() as? [String: Date] == ["modified": Date(timeIntervalSinceReferenceDate: 42)])
        try stack.context.save()
        stack.expectColumn(
            "SELECT {modified} FROM {item}", is: [stack.kind == .sqlite ? "42" : "2001-01-01 00:00:42+00"])
        let stored = try stack.newContext().existingObject(with: item.objectID) as? StampedItem
        #expect(stored?.modified == Date(timeIntervalSinceReferenceDate: 42))
        item.primitiveCount = 7
        item.primitiveName = "A"
        #expect(!item.hasChanges)
        #expect(item.changedValues().isEmpty)
        #expect(item.count == 7)
        #expect(item.name == "A")
        item.primitiveName = nil
        #expect(item.name == nil)
    }

    @Test func aPrimitivePropertyReadsWithoutFiringTheFault() throws {  // 51
        let item = StampedItem(context: stack.context)
        item.name = "A"
        item.owner = StampedItem(context: stack.context)
        try stack.context.save()
        #expect(item.primitiveName == "A")
        #expect(item.primitiveOwner === item.owner)
        #expect(item.owner?.primitiveParts == [item])
        stack.context.refresh(item, mergeChanges: false)
        #expect(item.primitiveName == nil)
        #expect(item.isFault)
    }

    @Test func scalarTransientPropertiesKeepTheirValueThroughASave() throws {  // 61
        let item = StampedItem(context: stack.context)
        #expect(item.ratio == 0.5)
        item.speed = 50
        item.ratio = 1.5
        try stack.context.save()
        #expect(item.speed == 50)
        #expect(item.ratio == 1.5)
        item.speed = 60
        #expect(item.speed == 60)
        stack.context.refresh(item, mergeChanges: false)
        #expect(item.speed == 0)
        #expect(item.ratio == 0.5)
        let other = try #require(try stack.newContext().fetch(NSFetchRequest<StampedItem>(entityName: "Item")).first)
        #expect(other.speed == 0)
        #expect(other.ratio == 0.5)
    }
}

struct PrimitiveAccessorStopTests {
    @Test func aPropertyThatStandsForNothingStopsTheProgram() async {  // 340
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            final class Stray: NSManagedObject { @Managed var primitiveNothing: String? }
            let stack = try TestStack([NSEntityDescription("Stray", class: "Stray", [])])
            _ = Stray(context: stack.context).primitiveNothing
        }
        #expect(
            Complaint(result?.standardErrorContent).lacks(
                "Stray declares the managed property \"primitiveNothing\", but the entity Stray has none of this name")
                == [])
    }
}
