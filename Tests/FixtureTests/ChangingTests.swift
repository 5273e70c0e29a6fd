import CoreData
import TestSupport
import Testing

extension FixtureTests {
    /// Stores of Apple's framework that are changed here: what is written is read again, and the
    /// format's rules still hold.
    struct ChangingTests {
        let folder: TemporaryFolder

        init() throws { folder = try TemporaryFolder() }

        /// The changes that one save makes to objects of earlier saves or of the fixture.
        private struct Changes {
            var updated: [String] = []
            var deleted: Set<String> = []
            var inserted: [String] = []
            var assigned: [String: ObjectState] = [:]
        }

        @Test(arguments: StoreAndModel.some(6, of: StoreAndModel.all))
        func objectsOfEachEntityAreChangedInsertedAndDeleted(fixture: StoreAndModel) throws {
            let url = try fixture.store.copy(to: folder)
            let model = try fixture.readModel(of: url)
            let first = try RawStore(url, model)
            let invariants = try StoreInvariants(first)
            let stack = try Stack(model, url)

            // First the rows that Apple's framework wrote; then those that were written here.
            var changes = try change(stack, first, candidates: Set(try first.states().keys), number: 1000)
            let second = try RawStore(url, model)
            try check(changes, stack: stack, from: first, to: second)
            try invariants.check(second)
            try checkHistory(changes, from: first, to: second)

            let fresh = try Stack(try fixture.readModel(of: url), url)
            #expect(differences(try fresh.states(), try second.states()) == [])

            changes = try change(stack, second, candidates: Set(changes.inserted), number: 2000)
            let third = try RawStore(url, model)
            try check(changes, stack: stack, from: second, to: third)
            try invariants.check(third)
            try checkHistory(changes, from: second, to: third)
            try stack.close()
            try fresh.close()

            let last = try Stack(try fixture.readModel(of: url), url)
            #expect(differences(try last.states(), try third.states()) == [])
        }

        /// Changes one object, inserts two and deletes one of each entity.
        private func change(
            _ stack: Stack, _ before: RawStore, candidates: Set<String>, number: Int
        ) throws -> Changes {
            let plan = DeletionPlan(model: before.model, states: try before.states())
            var changes = Changes()
            var updated: [NSManagedObject] = []
            var doomed: [NSManagedObject] = []
            for entity in stack.model.concreteEntities {
                let objects = try stack.objects(entity).filter { candidates.contains($0.place) }
                if let object = objects.first(where: { !changes.deleted.contains($0.place) }) { updated.append(object) }
            }
            changes.updated = updated.map(\.place)
            for entity in stack.model.concreteEntities {
                let objects = try stack.objects(entity).filter { candidates.contains($0.place) }
                for object in objects.reversed() where !changes.deleted.contains(object.place) {
                    guard let gone = plan.deleted(with: object.place, and: changes.deleted),
                        gone.isDisjoint(with: changes.updated)
                    else { continue }
                    changes.deleted = gone
                    doomed.append(object)
                    break
                }
            }
            let maker = ObjectMaker(stack.context, partners: updated, firstNumber: number)
            for object in updated { maker.fill(object) }
            for entity in stack.model.concreteEntities {
                try maker.insert(entity)
                try maker.insert(entity)
            }
            for object in doomed { stack.context.delete(object) }
            stack.context.name = "context"
            stack.context.transactionAuthor = "author \(number)"
            let inserted = Array(stack.context.insertedObjects)
            try stack.context.save()
            #expect(inserted.count >= 2 * stack.model.concreteEntities.count)
            #expect(inserted.allSatisfy { !$0.objectID.isTemporaryID })
            changes.inserted = inserted.map(\.place)
            changes.assigned = maker.assignedByPlace
            return changes
        }

        private func check(_ changes: Changes, stack: Stack, from before: RawStore, to after: RawStore) throws {
            let old = try before.states()
            let new = try after.states()
            // What the context believes is what the store holds.
            #expect(differences(try stack.states(), new) == [])
            #expect(changes.deleted.allSatisfy { new[$0] == nil })
            #expect(Set(new.keys) == Set(old.keys).subtracting(changes.deleted).union(changes.inserted))
            for (place, state) in changes.assigned {
                for (name, value) in state { #expect(new[place]?[name] == value, "\(place).\(name)") }
            }
            // Objects that were not touched lose at most objects that went, and gain at most
            // objects that came.
            for (place, state) in new where changes.assigned[place] == nil {
                guard let previous = old[place] else { continue }
                let arrived = DeletionPlan.state(state, without: Set(changes.inserted))
                let expected = DeletionPlan.state(previous, without: changes.deleted)
                for (name, value) in expected where !(after.isDerived(name, of: place)) {
                    #expect(arrived[name] == value, "\(place).\(name)")
                }
            }
            for place in new.keys {
                let version = after.row(place)?["Z_OPT"]?.integer
                let expected = before.row(place)?["Z_OPT"]?.integer ?? 0
                if changes.inserted.contains(place) {
                    #expect(version == 1, "\(place)")
                } else if changes.updated.contains(place) {
                    #expect(version == expected + 1, "\(place)")
                } else if !after.isUnchanged(place, since: before) {
                    #expect(version == expected + 1, "\(place) has changed")
                } else {
                    #expect(version == expected || version == expected + 1, "\(place)")
                }
            }
            // New keys are above all that were ever handed out.
            for place in changes.inserted {
                let root = RawStore.table(of: try #require(after.entity(of: after.row(place) ?? [:])))
                let key = try #require(after.row(place)?["Z_PK"]?.integer)
                #expect(key > (before.tables[root]?.keys.max() ?? 0), "\(place)")
                #expect(key > before.highestKey(root), "\(place)")
            }
        }

        private func checkHistory(_ changes: Changes, from before: RawStore, to after: RawStore) throws {
            guard try after.database.strings("SELECT name FROM sqlite_master").contains("ACHANGE") else { return }
            let last = try #require(after.database.integer("SELECT max(Z_PK) FROM ATRANSACTION"))
            let rows = try after.database.cells(
                "SELECT ZCHANGETYPE, ZENTITY, ZENTITYPK, Z_ENT, Z_PK FROM ACHANGE WHERE ZTRANSACTIONID = \(last)")
            var found: [Int64: Set<String>] = [:]
            for row in rows {
                #expect(row[3] == .integer(16001))
                let entity = after.entities[row[1].integer ?? 0]
                let inserted = found[row[0].integer ?? -1, default: []]
                    .insert("\(entity?.name ?? "")/p\(row[2].integer ?? 0)").inserted
                #expect(inserted, "a change is recorded once")
            }
            #expect(found[0] == Set(changes.inserted))
            #expect(found[1, default: []].isSuperset(of: changes.updated))
            #expect(found[1, default: []].isDisjoint(with: changes.inserted))
            #expect(found[2, default: []] == changes.deleted)
            // Whatever changed has a bit.
            for place in changes.updated {
                let row = try #require(after.row(place))
                let columns = try after.database.cells(
                    "SELECT ZCOLUMNS FROM ACHANGE WHERE ZTRANSACTIONID = \(last) AND ZENTITY = "
                        + "\(row["Z_ENT"]?.integer ?? 0) "
                        + "AND ZENTITYPK = \(row["Z_PK"]?.integer ?? 0)")
                #expect(columns.count == 1)
                #expect(columns.first?.first?.blob?.contains { $0 != 0 } == true, "\(place)")
            }
            let transaction = try after.database.cells(
                """
                SELECT t.Z_ENT, a.ZNAME, c.ZNAME, t.ZPROCESSIDTS IN (SELECT Z_PK FROM ATRANSACTIONSTRING), t.ZTIMESTAMP
                FROM ATRANSACTION t JOIN ATRANSACTIONSTRING a ON a.Z_PK = t.ZAUTHORTS
                JOIN ATRANSACTIONSTRING c ON c.Z_PK = t.ZCONTEXTNAMETS WHERE t.Z_PK = \(last)
                """)
            let values = try #require(transaction.first)
            #expect(values[0] == .integer(16002))
            #expect(values[1].text?.hasPrefix("author") == true)
            #expect(values[2] == .text("context"))
            #expect(values[3] == .integer(1))
            #expect((values[4].double ?? 0) > 700_000_000)
        }
    }
}
