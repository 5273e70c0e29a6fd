import CoreData
import TestSupport
import Testing

/// Predicates about numbers at the limits of 64 bits, and about relationships of missing objects,
/// have the same result in every store and by evaluation.
@Suite(.everyStore) struct OverflowAgreementTests {
    private let stack: TestStack

    init() throws {
        let item = NSEntityDescription(
            "Item", class: "NSManagedObject",
            [
                .init("name", .stringAttributeType), .init("whole", .integer64AttributeType),
                .init("double", .doubleAttributeType),
            ])
        let group = NSEntityDescription("Group", class: "NSManagedObject", [.init("name", .stringAttributeType)])
        relate(item, "group", group, inverse: "items", inverseToMany: true)
        stack = try TestStack([item, group])
        let first = NSManagedObject(entity: stack.entity("Group"), insertInto: stack.context)
        first.setValue("group", forKey: "name")
        let values: [(String, Int64?, Double?)] = [
            ("a", 1, 0x1p63), ("b", Int64.max, 1.5), ("c", Int64.min, -0x1p63), ("d", nil, nil),
            ("e", Int64.max - 1, 0x1p64),
        ]
        for (name, whole, double) in values {
            let object = NSManagedObject(entity: stack.entity("Item"), insertInto: stack.context)
            object.setValue(name, forKey: "name")
            object.setValue(whole, forKey: "whole")
            object.setValue(double, forKey: "double")
            if ["a", "c"].contains(name) { object.setValue(first, forKey: "group") }
        }
        try stack.context.save()
    }

    private func check(_ format: String, _ wanted: String) throws { try check(format, [], wanted) }

    private func check(_ format: String, _ arguments: [Any], _ wanted: String) throws {
        let predicate = NSPredicate(format: format, argumentArray: arguments)
        let context = stack.newContext()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
        func names(_ objects: [NSManagedObject]) -> String {
            objects.compactMap { $0.value(forKey: "name") as? String }.sorted().joined()
        }
        #expect(
            names(try context.fetch(request).filter { predicate.evaluate(with: $0) }) == wanted,
            "\(predicate) by evaluation")
        request.predicate = predicate
        #expect(names(try context.fetch(request)) == wanted, "\(predicate) in the store")
    }

    @Test(arguments: 0..<3) func aWholeNumberBeyondSixtyFourBitsEqualsItsDouble(form: Int) throws {
        let forms: [NSNumber] = [
            NSNumber(value: UInt64(1) << 63), NSDecimalNumber(string: "9223372036854775808"), NSNumber(value: 0x1p63),
        ]
        let number = forms[form]
        try check("double == %@", [number], "a")
        try check("double != %@", [number], "bcde")
        try check("double > %@", [number], "e")
        try check("double <= %@", [number], "abc")
        try check("whole == %@", [number], "")
        try check("whole < %@", [number], "abce")
    }

    @Test(arguments: [NSNumber(value: Double.nan), NSDecimalNumber.notANumber])
    func notANumberEqualsNothingAndHasNoOrder(number: NSNumber) throws {
        for attribute in ["double", "whole", "name"] {
            for comparison in ["==", "<", "<=", ">", ">="] {
                try check("\(attribute) \(comparison) %@", [number], "")
                try check("NOT \(attribute) \(comparison) %@", [number], "abcde")
                try check("%@ \(comparison) \(attribute)", [number], "")
            }
            try check("\(attribute) != %@", [number], "abcde")
            try check("NOT \(attribute) != %@", [number], "")
            try check("\(attribute) IN {%@}", [number], "")
            try check("NOT \(attribute) IN {%@}", [number], "abcde")
        }
        try check("whole IN {%@, 1}", [number], "a")
        try check("whole BETWEEN {%@, 1}", [number], "")
        try check("NOT whole BETWEEN {0, %@}", [number], "abcde")
        // Statements of the same shape are used again.
        try check("double != %@", [1.5], "acde")
        try check("double != %@", [number], "abcde")
        try check("double != %@", [1.5], "acde")
    }

    /// A decimal and the items whose whole number is equal to it, less and greater.
    private static let decimals: [(text: String, equal: String, less: String, greater: String)] = [
        ("1", "a", "c", "be"), ("1.5", "", "ac", "be"), ("0.99999999999999999999999", "", "c", "abe"),
        ("9223372036854775806", "e", "ac", "b"), ("9223372036854775806.5", "", "ace", "b"),
        ("9223372036854775808", "", "abce", ""), ("-9223372036854775808", "c", "", "abe"),
        ("-9223372036854775808.5", "", "", "abce"), ("-9223372036854775809", "", "", "abce"), ("1e30", "", "abce", ""),
    ]

    /// Also by a statement that was made for a decimal of another form.
    @Test func aDecimalHasItsPlaceAmongWholeNumbers() throws {
        for (text, equal, less, greater) in Self.decimals + Self.decimals.reversed() {
            let number = NSDecimalNumber(string: text)
            func others(_ names: String) -> String { String("abcde".filter { !names.contains($0) }) }
            try check("whole == %@", [number], equal)
            try check("whole != %@", [number], others(equal))
            try check("whole < %@", [number], less)
            try check("whole <= %@", [number], String((less + equal).sorted()))
            try check("whole > %@", [number], greater)
            try check("whole >= %@", [number], String((greater + equal).sorted()))
            try check("%@ < whole", [number], greater)
            try check("whole BETWEEN {%@, %@}", [number, number], equal)
            try check("whole BETWEEN {%@, 1e30}", [number], String((greater + equal).sorted()))
            try check("whole IN {%@}", [number], equal)
            try check("NOT whole IN {%@}", [number], others(equal))
        }
    }

    /// A sum that 64 bits do not hold has no bits.
    @Test func operatorsOnBitsTakeNoSumThatOverflowed() throws {
        try check("(whole + 1) & 3 == 2", "a")
        try check("(whole + 1) & 3 == nil", "bd")
        try check("(whole * 4) | 1 == 5", "a")
        try check("(whole + 2) >> 1 == 1", "a")
        // The double of -2^63 - 1 is -2^63, which 64 bits hold.
        try check("(whole - 1) & 1 == nil", "d")
        try check("onesComplement:(whole + 1) == -3", "a")
        try check("modulus:by:(abs:(whole), 7) == 1", "a")
        try check("modulus:by:(whole, -1) == 0", "abce")
        try check("whole & 1 == 1", "ab")
    }

    /// The relationship is empty: no comparison with its objects is true.
    @Test func aToManyRelationshipOfAMissingObjectIsEmpty() throws {
        try check("group.items.name != 'a'", "ac")
        try check("NOT group.items.name != 'a'", "bde")
        try check("group.items.name == 'a'", "ac")
        try check("group.items.whole == nil", "")
        try check("NOT group.items.whole == nil", "abcde")
        try check("group.items == nil", "")
        try check("group.items.name == group.name", "")
        try check("'a' != group.items.name", "ac")
        try check("ANY group.items.name != 'a'", "ac")
        try check("ALL group.items.name != 'z'", "abcde")
        try check("name IN group.items.name", "ac")
        try check("group.items.@count == 0", "bde")
        try check("group.name == nil", "bde")
    }
}
