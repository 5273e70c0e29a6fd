import CoreData
import TestSupport
import Testing

/// A predicate finds the same objects in a SQLite store, in one of PostgreSQL, in a store in memory
/// and by evaluation, or is refused.
struct PredicateAgreementTests {
    private static let count = LongTests.areEnabled ? 20_000 : 400

    @Test(arguments: LongTests.areEnabled ? [1, 2, 3] : [4])
    func randomPredicatesFindTheSameEverywhere(seed: UInt64) throws {
        let things = try RandomThings(seed: seed)
        var predicates = RandomPredicates(seed: seed &* 7919)
        var refused = 0
        var refusedByPostgreSQL = 0
        var matches = 0
        var differences: [String] = []
        for number in 0..<Self.count {
            let description = predicates.next()
            let stored = try description.predicate(on: things.sqlite)
            let evaluated = try things.sqlite.evaluate(stored)
            let remembered = try things.memory.fetch(try description.predicate(on: things.memory))
            if remembered != evaluated {
                differences.append("\(number): \(stored) memory \(remembered) evaluation \(evaluated)")
            }
            do {
                let fetched = try things.sqlite.fetch(stored)
                if fetched != evaluated {
                    differences.append("\(number): \(stored) SQL \(fetched) evaluation \(evaluated)")
                }
                if !fetched.isEmpty, fetched.count < RandomThings.thingCount { matches += 1 }
            } catch CocoaError.coreData {
                refused += 1
            }
            if let side = things.postgreSQL {
                let predicate = try description.predicate(on: side)
                let wanted = try side.evaluate(predicate)
                do {
                    let fetched = try side.fetch(predicate)
                    if fetched != wanted {
                        differences.append("\(number): \(predicate) PostgreSQL \(fetched) evaluation \(wanted)")
                    }
                } catch CocoaError.coreData {
                    refusedByPostgreSQL += 1
                } catch {
                    differences.append("\(number): \(predicate) PostgreSQL \(error)")
                }
            }
            if description.arguments.isEmpty, try NSPredicate.parse(stored.predicateFormat) != stored {
                differences.append("\(number): \(stored) reads as another")
            }
            if differences.count > 40 { break }
        }
        #expect(differences.isEmpty, "\(differences.count)\n\(differences.joined(separator: "\n"))")
        // A test that is refused, or finds all or nothing, shows little.
        #expect(refused < Self.count / 10, "\(refused) of \(Self.count) were refused")
        #expect(
            refusedByPostgreSQL < Self.count / 5, "\(refusedByPostgreSQL) of \(Self.count) were refused by PostgreSQL")
        #expect(matches > Self.count / 4, "\(matches) of \(Self.count) chose some objects of all")
    }
}
