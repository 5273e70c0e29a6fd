import CoreData
import TestSupport
import Testing

extension FixtureTests {
    /// Bookmarks in folders: ordered one-to-many and ordered many-to-many relationships.
    struct OrderedFixtureTests {
        let folder: TemporaryFolder

        init() throws { folder = try TemporaryFolder() }

        private static let stores = StoreAndModel.all.filter { $0.store.project == "DuckDuckGoBookmarks" }

        /// Opens a store, changes each of its ordered relationships, and compares with another
        /// reading.
        private func change(
            _ fixture: StoreAndModel, _ body: (NSMutableOrderedSet, NSManagedObjectContext) -> Void
        ) throws {
            let url = try fixture.store.copy(to: folder)
            let model = try fixture.readModel(of: url)
            let invariants = try StoreInvariants(try RawStore(url, model))
            let stack = try Stack(model, url)
            var expected: [String: [String: [NSManagedObject]]] = [:]
            for entity in model.concreteEntities {
                for object in try stack.objects(entity) {
                    for relationship in entity.sortedRelationships where relationship.isOrdered {
                        let set = object.mutableOrderedSetValue(forKey: relationship.name)
                        guard set.count > 1 else { continue }
                        body(set, stack.context)
                        expected[object.place, default: [:]][relationship.name] =
                            set.array.compactMap { $0 as? NSManagedObject }
                    }
                }
            }
            #expect(expected.count >= 2)
            try stack.context.save()
            let raw = try RawStore(url, model)
            try invariants.check(raw)
            let states = try raw.states()
            for (place, relationships) in expected {
                for (name, objects) in relationships {
                    #expect(!objects.isEmpty)
                    #expect(states[place]?[name] == .ordered(objects.map(\.place)), "\(place).\(name)")
                }
            }
            #expect(differences(try stack.states(), states) == [])
            let fresh = try Stack(try fixture.readModel(of: url), url)
            #expect(differences(try fresh.states(), states) == [])
        }

        @Test(arguments: stores)
        func aReversedOrderIsKept(fixture: StoreAndModel) throws {
            try change(fixture) { set, _ in
                let reversed = Array(set.array.reversed())
                #expect(reversed.count == set.count)
                set.removeAllObjects()
                #expect(set.array.isEmpty)
                set.addObjects(from: reversed)
            }
        }

        @Test(arguments: stores)
        func theFirstObjectMovesToTheEnd(fixture: StoreAndModel) throws {
            try change(fixture) { set, _ in
                let first = set.firstObject as? NSManagedObject
                set.moveObjects(at: IndexSet(integer: 0), to: set.count - 1)
                #expect(set.lastObject as? NSManagedObject === first)
            }
        }

        @Test(arguments: stores)
        func anObjectBetweenTheOthersIsKeptThere(fixture: StoreAndModel) throws {
            try change(fixture) { set, context in
                guard let first = set.firstObject as? NSManagedObject else { return }
                for _ in 0..<20 {
                    // Always in the same gap, so that there is no place left between the
                    // neighbours' positions.
                    let object = NSManagedObject(entity: first.entity, insertInto: context)
                    for attribute in first.entity.settableAttributes {
                        object.setValue(first.value(forKey: attribute.name), forKey: attribute.name)
                    }
                    object.setValue(UUID().uuidString, forKey: "uuid")
                    set.insert(object, at: 1)
                }
            }
        }

        @Test(arguments: stores)
        func aSortedOrderIsKept(fixture: StoreAndModel) throws {
            try change(fixture) { set, _ in
                let titles = set.map { ($0 as? NSManagedObject)?.value(forKey: "title") as? String ?? "" }
                set.sort(comparator: { left, right in
                    let (left, right) = (left as? NSManagedObject, right as? NSManagedObject)
                    return (left?.value(forKey: "title") as? String ?? "")
                        .compare(right?.value(forKey: "title") as? String ?? "")
                })
                #expect(
                    set.map { ($0 as? NSManagedObject)?.value(forKey: "title") as? String ?? "" }
                        == titles.sorted { $0.compare($1) == .orderedAscending })
            }
        }

        @Test(arguments: stores)
        func anObjectInTheMiddleIsTakenOutAndTheOthersStayInOrder(fixture: StoreAndModel) throws {
            try change(fixture) { set, _ in set.removeObject(at: 1) }
        }
    }
}
