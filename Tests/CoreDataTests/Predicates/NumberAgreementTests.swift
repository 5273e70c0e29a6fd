import CoreData
import TestSupport
import Testing

/// Calculations whose numbers have a kind of their own: every store finds what evaluation finds.
struct NumberAgreementTests {
    private func expectAgreement(of formats: [String], _ location: SourceLocation = #_sourceLocation) throws {
        let things = try RandomThings(seed: 1)
        for side in [things.sqlite, things.memory, things.postgreSQL].compactMap({ $0 }) {
            for format in formats {
                let predicate = try NSPredicate.parse(format, arguments: [])
                #expect(try side.fetch(predicate) == side.evaluate(predicate), "\(format)", sourceLocation: location)
            }
        }
    }

    @Test(arguments: ["weight", "worth", "number"])
    func theSumOfNothingIsAWholeNumber(attribute: String) throws {
        let sum = "tags.@sum.\(attribute)"
        try expectAgreement(
            of: ["\(sum) == 0", "TERNARY(flag == YES, \(sum), 7) / 2 == 3"]
                + ["/", "*", "+", "-"].flatMap { operation in
                    [
                        "(\(sum) + 5) \(operation) long > flag", "(\(sum) + 5) \(operation) 2 == 2",
                        "\(sum) \(operation) 4 < 0.5",
                    ]
                })
    }

    @Test func soAreSumsOfWholeNumbers() throws {
        try expectAgreement(
            of: ["children.@sum.small", "children.@sum.flag", "children.@max.flag", "children.@avg.flag"].flatMap {
                sum in
                ["(\(sum) + 5) / long > flag", "\(sum) / 4 < 0.5"]
            })
    }

    @Test func calculationsWithABooleanGiveNumbers() throws {
        try expectAgreement(of: [
            "abs:(flag) >= 1", "abs:(flag) IN {9223372036854775806, flag, -1}", "abs:(flag) == flag",
            "abs:(flag) / 2 == 0",
            "abs:(flag) == YES", "abs:(flag) BETWEEN {0, 1}", "floor:(flag) >= 1", "ceiling:(flag) == flag",
            "trunc:(flag) == 1",
            "onesComplement:(flag) < -1", "bitwiseXor:with:(flag, 3) == 2", "abs:(abs:(flag)) > 0.5",
            "sqrt:(flag) == 1",
            "flag + 1 > 1", "modulus:by:(flag, 2) == 1", "flag * price > 1", "raise:toPower:(flag, 2) == flag",
            "-(flag) < 0",
            "abs:(NO) == flag",
        ])
    }
}
