import CoreData
import TestSupport
import Testing

/// What updates say of ordered and many-to-many relationships: both ends have changed.
@Suite(.stores(StoreKind.complete)) struct HistoryRelationshipTests {
    let stack: RecordedStack
    let box: NSManagedObject
    let items: [NSManagedObject]
    let tag: NSManagedObject

    init() throws {
        let box = NSEntityDescription("Box", class: "NSManagedObject", [])
        let item = NSEntityDescription("Item", class: "NSManagedObject", [])
        let tag = NSEntityDescription("Tag", class: "NSManagedObject", [])
        relate(box, "items", toMany: true, ordered: true, item, inverse: "box")
        relate(item, "tags", toMany: true, tag, inverse: "items", inverseToMany: true)
        stack = try RecordedStack(model: NSManagedObjectModel([box, item, tag]))
        self.box = stack.insert("Box")
        self.tag = stack.insert("Tag")
        items = [stack.insert("Item"), stack.insert("Item")]
        try stack.save()
    }

    /// The names of the properties that the last save changed, by the object.
    private func updates(_ work: () throws -> Void) throws -> [String: Set<String>] {
        let token = stack.token
        try stack.save { try work() }
        let changes = try stack.transactions(after: token).flatMap { $0.changes ?? [] }
        return Dictionary(
            uniqueKeysWithValues: changes.filter { $0.changeType == .update }.map { change in
                (
                    change.changedObjectID.uriRepresentation().pathComponents.suffix(2).joined(separator: "/"),
                    Set((change.updatedProperties ?? []).map(\.name))
                )
            })
    }

    @Test func aPairChangesBothOfItsObjects() throws {
        let updates = try updates { items[0].mutableSetValue(forKey: "tags").add(tag) }
        #expect(updates == ["Item/p1": ["tags"], "Tag/p1": ["items"]])
    }

    @Test func aMemberInOrderChangesItsOwnerToo() throws {
        let updates = try updates { box.mutableOrderedSetValue(forKey: "items").addObjects(from: items) }
        #expect(updates == ["Box/p1": ["items"], "Item/p1": ["box"], "Item/p2": ["box"]])
    }

    @Test func aDeletionChangesWhatReferredToTheObject() throws {
        try stack.save {
            items[0].setValue(box, forKey: "box")
            items[1].mutableSetValue(forKey: "tags").add(tag)
        }
        let updates = try updates {
            stack.context.delete(box)
            stack.context.delete(tag)
        }
        #expect(updates == ["Item/p1": ["box"], "Item/p2": ["tags"]])
    }

    @Test func aMergedDeletionOfABatchLeavesItsOwners() throws {
        try stack.save {
            box.mutableOrderedSetValue(forKey: "items").addObjects(from: items)
            for item in items { item.mutableSetValue(forKey: "tags").add(tag) }
        }
        let view = stack.newContext()
        let held = try [box, tag].map { try view.existingObject(with: $0.objectID) }
        let count = {
            [
                (held[0].value(forKey: "items") as? NSOrderedSet)?.count,
                (held[1].value(forKey: "items") as? NSSet)?.count,
            ]
        }
        #expect(count() == [2, 2])
        let token = stack.token
        let request = NSBatchDeleteRequest(objectIDs: [items[0].objectID])
        try stack.context.execute(request)
        for transaction in try stack.transactions(after: token) {
            view.mergeChanges(fromContextDidSave: transaction.objectIDNotification())
        }
        #expect(count() == [1, 1])
    }
}
