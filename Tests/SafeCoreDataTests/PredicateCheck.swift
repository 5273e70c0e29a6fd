import SafeCoreData
import Testing

/// Compares what Swift says of some predicates for each object with what the store finds for
/// another context, and what the translated predicates say of the objects.
func checkEverywhere<Object: NSManagedObject>(
    _ predicates: [Predicate<Object>], in context: NSManagedObjectContext,
    sourceLocation: SourceLocation = #_sourceLocation
) throws {
    let all = try context.fetch(Object.self)
    // Another context, so that the store answers and no object is there already.
    let fresh = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    fresh.persistentStoreCoordinator = context.persistentStoreCoordinator
    for predicate in predicates {
        do {
            let expected = Set(try all.filter { try predicate.evaluate($0) }.map(\.objectID))
            let translated = try NSPredicate.translating(predicate)
            let found = Set(try fresh.fetch(Object.self, where: predicate).map(\.objectID))
            #expect(found.subtracting(expected).isEmpty, "too many: \(translated)", sourceLocation: sourceLocation)
            #expect(expected.subtracting(found).isEmpty, "missing: \(translated)", sourceLocation: sourceLocation)
            #expect(try fresh.count(Object.self, where: predicate) == expected.count, sourceLocation: sourceLocation)
            let evaluated = Set(all.filter { translated.evaluate(with: $0) }.map(\.objectID))
            #expect(evaluated == expected, "evaluated: \(translated)", sourceLocation: sourceLocation)
        } catch {
            Issue.record("\(error)", sourceLocation: sourceLocation)
        }
    }
}
