import CoreData
import TestSupport
import Testing

extension FixtureTests {
    /// A hundred times the rows that a store of Apple's framework has.
    struct ScaleTests {
        let folder: TemporaryFolder

        init() throws { folder = try TemporaryFolder() }

        @Test(.timeLimit(.minutes(5)))
        func aHundredTimesTheCarsAndTheirOwnersAreSavedReadAndDeleted() throws {
            let fixture = try #require(
                StoreAndModel.oneOfEachStore.first { $0.store.path.hasSuffix("SampleModel_V2.sqlite") })
            let url = try fixture.store.copy(to: folder)
            let model = try fixture.readModel(of: url)
            let invariants = try StoreInvariants(try RawStore(url, model))
            let stack = try Stack(model, url)
            let owners = 2_000
            for batch in 0..<4 {
                for number in (batch * owners / 4)..<((batch + 1) * owners / 4) {
                    let person = NSEntityDescription.insertNewObject(forEntityName: "Person", into: stack.context)
                    person.setValue("First \(number)", forKey: "firstName")
                    person.setValue("Last \(number)", forKey: "lastName")
                    person.setValue(Date(timeIntervalSinceReferenceDate: Double(number)), forKey: "updatedAt")
                    for car in 0..<6 {
                        let kind = ["Car", "SportCar", "LuxuryCar"][car % 3]
                        let object = NSEntityDescription.insertNewObject(forEntityName: kind, into: stack.context)
                        object.setValue("Plate \(number) \(car)", forKey: "numberPlate")
                        object.setValue("Maker \(number % 7)", forKey: "maker")
                        object.setValue(person, forKey: "owner")
                    }
                }
                try stack.context.save()
                stack.context.reset()
            }
            let raw = SQLiteFile(url)
            #expect(raw.integer("SELECT count(*) FROM ZCAR") == 125 + owners * 6)
            #expect(raw.integer("SELECT count(*) FROM ZPERSON") == 20 + owners)
            #expect(raw.integer("SELECT count(DISTINCT ZOWNER) FROM ZCAR WHERE Z_PK > 125") == owners)
            #expect(
                raw.integer("SELECT max(n) FROM (SELECT count(*) n FROM ZCAR WHERE Z_PK > 125 GROUP BY ZOWNER)")
                    == 6)

            let fresh = try Stack(try fixture.readModel(of: url), url)
            let request = NSFetchRequest<NSManagedObject>(entityName: "Car")
            request.predicate = NSPredicate(
                format: "owner.firstName BEGINSWITH %@ AND maker == %@", "First ", "Maker 3")
            let expected = (0..<owners).filter { $0 % 7 == 3 }.count * 6
            #expect(try fresh.context.count(for: request) == expected)
            #expect(try fresh.context.fetch(request).count == expected)

            // Deleting nullifies the cars of the owners.
            let people = NSFetchRequest<NSManagedObject>(entityName: "Person")
            people.predicate = NSPredicate(format: "lastName BEGINSWITH %@", "Last 1")
            let doomed = try fresh.context.fetch(people)
            for person in doomed { fresh.context.delete(person) }
            try fresh.context.save()
            #expect(raw.integer("SELECT count(*) FROM ZPERSON") == 20 + owners - doomed.count)
            #expect(
                raw.integer("SELECT count(*) FROM ZCAR WHERE ZOWNER IS NULL AND Z_PK > 125")
                    == doomed.count * 6)
            try invariants.check(try RawStore(url, model))
        }

        @Test(.timeLimit(.minutes(5)))
        func tenTimesTheEntriesOfAStoreInItsJournalAreSavedAndRead() throws {
            let fixture = try #require(StoreAndModel.all.first { $0.store.project == "SurfJournal" })
            let url = try fixture.store.copy(to: folder)
            let stack = try Stack(try fixture.readModel(of: url), url)
            let entity = try #require(stack.model.entitiesByName["JournalEntry"])
            for batch in 0..<9 {
                for number in 0..<5_000 {
                    let entry = NSManagedObject(entity: entity, insertInto: stack.context)
                    entry.setValue("Place \(batch) \(number)", forKey: "location")
                    entry.setValue(Int64(number % 5), forKey: "rating")
                }
                try stack.context.save()
                stack.context.reset()
            }
            let raw = SQLiteFile(url)
            #expect(raw.integer("SELECT count(*) FROM ZJOURNALENTRY") == 50_000)
            #expect(raw.integer("SELECT Z_MAX FROM Z_PRIMARYKEY") == 50_000)
            #expect(try raw.strings("PRAGMA integrity_check") == ["ok"])
            let fresh = try Stack(try fixture.readModel(of: url), url)
            let entries = try fresh.objects(entity)
            #expect(entries.count == 50_000)
            #expect(entries.last?.value(forKey: "location") as? String == "Place 8 4999")
            let sum = entries.reduce(0) { $0 + (($1.value(forKey: "rating") as? NSNumber)?.int64Value ?? 0) }
            #expect(raw.integer("SELECT sum(ZRATING) FROM ZJOURNALENTRY").map(Int64.init) == sum)
        }
    }
}
