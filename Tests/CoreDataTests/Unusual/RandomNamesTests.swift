import CoreData
import TestSupport
import Testing

/// Names of entities, attributes and relationships with spaces, quotes, words of SQL and letters
/// beyond ASCII, in all forms of fetch.
struct RandomNamesTests {
    private static let pieces = [
        "a b", "select", "\"", "'", "JOIN", " from ", "`", "[x]", "é", "日本", "👍🏽", "--", ";", "?", "%", "(", ")", ",",
        "*", "/", "\\", "0",
        "t0", "Z_PK",
        "where 1", ":x", "?1", "\u{301}", "ON",
    ]

    private func name(_ random: inout SeededGenerator, _ number: Int) -> String {
        let parts = (0..<Int.random(in: 1...3, using: &random)).compactMap { _ in
            Self.pieces.randomElement(using: &random)
        }
        return "n\(number)" + parts.joined()
    }

    @Test(arguments: 1...(LongTests.areEnabled ? 60 : 8))
    func everyFormOfFetchFindsObjectsOfAnyName(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        var numbers = 0
        func next() -> String {
            numbers += 1
            return name(&random, numbers)
        }
        let (owner, thing, label, count, one, many, links, back) = (
            next(), next(), next(), next(), next(), next(), next(), next()
        )
        let first = NSEntityDescription(
            owner, class: "NSManagedObject",
            [
                NSAttributeDescription(label, .stringAttributeType),
                NSAttributeDescription(count, .integer32AttributeType),
            ])
        let second = NSEntityDescription(
            thing, class: "NSManagedObject",
            [
                NSAttributeDescription(label, .stringAttributeType),
                NSAttributeDescription(count, .integer32AttributeType),
            ])
        relate(first, many, toMany: true, second, inverse: one)
        relate(first, links, toMany: true, second, inverse: back, inverseToMany: true)
        let stack = try TestStack([first, second])
        func new(_ entity: String, _ text: String, _ number: Int) -> NSManagedObject {
            let object = NSManagedObject(entity: stack.entity(entity), insertInto: stack.context)
            object.setValue(text, forKey: label)
            object.setValue(number, forKey: count)
            return object
        }
        let things = [new(thing, "x", 1), new(thing, "Y", 2), new(thing, "z", 3)]
        let owners = [new(owner, "o", 10), new(owner, "p", 20)]
        owners[0].setValue(NSSet(array: [things[0], things[1]]), forKey: many)
        owners[1].setValue(NSSet(array: [things[1], things[2]]), forKey: links)
        try stack.context.save()

        func request(_ format: String, _ arguments: [Any]) -> NSFetchRequest<NSManagedObject> {
            let request = NSFetchRequest<NSManagedObject>(entityName: owner)
            request.predicate = NSPredicate(format: format, argumentArray: arguments)
            return request
        }
        func found(_ format: String, _ arguments: [Any]) throws -> [Int] {
            try stack.newContext().fetch(request(format, arguments)).compactMap { $0.value(forKey: count) as? Int }
                .sorted()
        }
        #expect(try found("%K == %@", [label, "o"]) == [10])
        #expect(try found("%K ==[c] %@ OR %K BEGINSWITH 'p'", [label, "O", label]) == [10, 20])
        #expect(try found("ANY %K == %@", [many + "." + label, "Y"]) == [10])
        #expect(try found("ALL %K CONTAINS[c] %@", [links + "." + label, "y"]) == [10])
        #expect(try found("%K == 3", [many + ".@sum." + count]) == [10])
        #expect(try found("%K == 2", [links + ".@count"]) == [20])
        #expect(try found("SUBQUERY(%K, $x, $x.%K == 'Y').@count == 1", [links, label]) == [20])
        #expect(try found("%@ IN %K", [things[0].objectID, many]) == [10])
        let inner = NSFetchRequest<NSManagedObject>(entityName: thing)
        for (relationship, expected) in [(many, ["Y", "x"]), (links, [])] {
            inner.predicate = NSPredicate(
                format: "SELF IN SUBQUERY(%K, $y, $y.%K < 3)", argumentArray: [one + "." + relationship, count])
            #expect(
                try stack.newContext().fetch(inner).compactMap { $0.value(forKey: label) as? String }.sorted()
                    == expected)
        }
        inner.predicate = NSPredicate(format: "%K == %@", argumentArray: [one + "." + label, "o"])
        inner.sortDescriptors = [
            NSSortDescriptor(key: one + "." + count, ascending: true), NSSortDescriptor(key: label, ascending: true),
        ]
        #expect(try stack.newContext().fetch(inner).compactMap { $0.value(forKey: label) as? String } == ["Y", "x"])

        let dictionaries = NSFetchRequest<NSDictionary>(entityName: thing)
        dictionaries.resultType = .dictionaryResultType
        let sum = NSExpressionDescription(
            "the \"sum\" of", NSExpression(forFunction: "sum:", arguments: [NSExpression(forKeyPath: count)]),
            .integer64AttributeType)
        dictionaries.propertiesToFetch = [one + "." + label, sum]
        dictionaries.propertiesToGroupBy = [one + "." + label]
        let rows = try stack.newContext().fetch(dictionaries)
        #expect(rows.first { $0[one + "." + label] as? String == "o" }?[sum.name] as? Int == 3)
        dictionaries.havingPredicate = NSPredicate(format: "%K > 2", argumentArray: [sum.name])
        #expect(try stack.newContext().fetch(dictionaries).count == 2)
        #expect(try stack.newContext().count(for: request("%K != nil", [label])) == 2)
    }
}
