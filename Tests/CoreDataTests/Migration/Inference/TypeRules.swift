import CoreData
import TestSupport

/// Rules about changes of an attribute's type: wider numbers take the place of others, and nothing
/// else does.
enum TypeRules {
    /// A value of each type, as `StoreLines` writes it, which every wider type can hold.
    private static let types: [(type: NSAttributeType, name: String, value: String)] = [
        (.booleanAttributeType, "Boolean", "1"), (.integer16AttributeType, "Integer 16", "-32768"),
        (.integer32AttributeType, "Integer 32", "2147483647"),
        (.integer64AttributeType, "Integer 64", "1099511627777"), (.floatAttributeType, "Float", "-0.25"),
        (.doubleAttributeType, "Double", "1234567.125"), (.decimalAttributeType, "Decimal", "12.5"),
        (.stringAttributeType, "String", "text"), (.dateAttributeType, "Date", "1000.5"),
        (.UUIDAttributeType, "UUID", "01020304-0506-0708-090A-0B0C0D0E0F10"),
        (.URIAttributeType, "URI", "https://example.org/a"), (.binaryDataAttributeType, "Binary Data", "AQIDBA=="),
    ]

    /// The types that hold the values of each, as the guide lists them.
    private static let wider: [NSAttributeType: [NSAttributeType]] = [
        .booleanAttributeType: [
            .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .floatAttributeType,
            .doubleAttributeType, .decimalAttributeType,
        ],
        .integer16AttributeType: [
            .integer32AttributeType, .integer64AttributeType, .floatAttributeType, .doubleAttributeType,
            .decimalAttributeType,
        ],
        .integer32AttributeType: [.integer64AttributeType, .doubleAttributeType, .decimalAttributeType],
        .integer64AttributeType: [.doubleAttributeType, .decimalAttributeType],
        .floatAttributeType: [.doubleAttributeType],
    ]

    /// A rule for each two types: one becomes the other, and back.
    static let all: [InferenceRule] = {
        var rules: [InferenceRule] = []
        for (place, old) in types.enumerated() {
            for new in types.dropFirst(place + 1) {
                func outcome(_ from: NSAttributeType, _ to: NSAttributeType, _ value: String) -> InferenceRule.Outcome {
                    let isWider = wider[from]?.contains(to) == true
                    return isWider ? .gives(["Item a value=\(value)", "Item b"]) : .notInferred(["Item.value"])
                }
                func version(_ type: NSAttributeType, _ value: String) -> InferenceRule.Version {
                    AttributeRules.item(["Item a value=\(value)", "Item b"]) { [NSAttributeDescription("value", type)] }
                }
                rules.append(
                    InferenceRule(
                        "\(old.name) becomes \(new.name)", version(old.type, old.value), version(new.type, new.value),
                        forward: outcome(old.type, new.type, old.value),
                        backward: outcome(new.type, old.type, new.value)))
            }
        }
        return rules
    }()

    /// Those that a short run is content with: all in which a type becomes wider, and each sixth of
    /// the others.
    static let some: [InferenceRule] = all.enumerated().filter { place, rule in
        if case .gives = rule.forward { return true }
        return place % 6 == 0
    }.map(\.element)
}
