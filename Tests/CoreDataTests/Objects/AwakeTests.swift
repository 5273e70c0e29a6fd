import CoreData
import TestSupport
import Testing

final class AwakeAnimal: NSManagedObject {
    @Managed var name: String?
    @Managed var note: String?
    @Managed var keeper: AwakeKeeper?
    var fetches = 0
    var events: [NSSnapshotEventType] = []

    override func awakeFromFetch() {
        super.awakeFromFetch()
        fetches += 1
        note = "awoken"
        if let keeper = managedObjectContext?.userInfo["keeper"] as? AwakeKeeper { self.keeper = keeper }
    }

    override func awake(fromSnapshotEvents flags: NSSnapshotEventType) {
        super.awake(fromSnapshotEvents: flags)
        events.append(flags)
    }
}

final class AwakeKeeper: NSManagedObject {
    @Managed var name: String?
    @Managed var animals: Set<AwakeAnimal>
}

@Suite(.everyStore) struct AwakeTests {
    let stack: TestStack

    init() throws {
        let animal = NSEntityDescription(
            "Animal", class: "AwakeAnimal", [.init("name", .stringAttributeType), .init("note", .stringAttributeType)])
        let keeper = NSEntityDescription("Keeper", class: "AwakeKeeper", [.init("name", .stringAttributeType)])
        relate(keeper, "animals", toMany: true, animal, inverse: "keeper")
        stack = try TestStack([animal, keeper])
        AwakeAnimal(context: stack.context).name = "Rex"
        AwakeKeeper(context: stack.context).name = "Kim"
        try stack.context.save()
    }

    func fetchAnimal(in context: NSManagedObjectContext) throws -> AwakeAnimal {
        try #require(try context.fetch(NSFetchRequest<AwakeAnimal>(entityName: "Animal")).first)
    }

    @Test("34: awakeFromFetch runs each time a fault fires, not when the fault is made")
    func awakeFromFetchRunsWhenTheFaultFires() throws {
        let context = stack.newContext()
        let animal = try fetchAnimal(in: context)
        #expect(animal.isFault)
        #expect(animal.fetches == 0)
        #expect(animal.name == "Rex")
        #expect(animal.fetches == 1)
        #expect(animal.name == "Rex")
        #expect(animal.fetches == 1)
        context.refresh(animal, mergeChanges: false)
        #expect(animal.fetches == 1)
        #expect(animal.name == "Rex")
        #expect(animal.fetches == 2)
    }

    @Test("34: awakeFromFetch runs for objects that a fetch gives with their values")
    func awakeFromFetchRunsForRealizedObjects() throws {
        let context = stack.newContext()
        let request = NSFetchRequest<AwakeAnimal>(entityName: "Animal")
        request.returnsObjectsAsFaults = false
        #expect(try context.fetch(request).map(\.fetches) == [1])
    }

    @Test("35: setters in awakeFromFetch change values, but nothing counts as changed")
    func changesInAwakeFromFetchAreNotTracked() throws {
        let context = stack.newContext()
        let animal = try fetchAnimal(in: context)
        #expect(animal.note == "awoken")
        #expect(!animal.hasChanges)
        #expect(!context.hasChanges)
    }

    @Test("35: inverse relationships are not maintained in awakeFromFetch")
    func inversesAreNotMaintainedInAwakeFromFetch() throws {
        let context = stack.newContext()
        let keeper = try #require(try context.fetch(NSFetchRequest<AwakeKeeper>(entityName: "Keeper")).first)
        #expect(keeper.animals.isEmpty)
        context.userInfo["keeper"] = keeper
        let animal = try fetchAnimal(in: context)
        #expect(animal.keeper === keeper)
        #expect(keeper.animals.isEmpty)
        #expect(!keeper.hasChanges)
        #expect(!context.hasChanges)
    }

    @Test("36: rolling back changes tells awake(fromSnapshotEvents:) so")
    func rollbackIsASnapshotEvent() throws {
        let context = stack.newContext()
        let animal = try fetchAnimal(in: context)
        animal.name = "Max"
        context.rollback()
        #expect(animal.name == "Rex")
        #expect(animal.events == [.rollback])
    }

    @Test("36: refreshing with merged changes tells awake(fromSnapshotEvents:) so")
    func refreshIsASnapshotEvent() throws {
        let context = stack.newContext()
        let animal = try fetchAnimal(in: context)
        animal.name = "Max"
        context.refresh(animal, mergeChanges: true)
        #expect(animal.name == "Max")
        #expect(animal.events == [.refresh])
    }

    @Test("36: a merge policy that takes the store's values tells awake(fromSnapshotEvents:) so")
    func mergingIsASnapshotEvent() throws {
        let context = stack.newContext()
        context.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
        let animal = try fetchAnimal(in: context)
        animal.name = "Max"
        let other = stack.newContext()
        try fetchAnimal(in: other).name = "Moritz"
        try other.save()
        try context.save()
        #expect(animal.name == "Moritz")
        #expect(animal.events.contains(.mergePolicy))
    }
}
