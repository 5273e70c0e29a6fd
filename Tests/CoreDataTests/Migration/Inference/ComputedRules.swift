import CoreData
import TestSupport

/// Rules about composite and derived attributes, uniqueness constraints and indexes.
enum ComputedRules {
    typealias Version = InferenceRule.Version

    static let all: [InferenceRule] = composites + derivations + constraints

    // MARK: Composite attributes

    private static let sized = ["Item a size.depth=2 size.width=1", "Item b"]
    private static func sizes() -> Version {
        AttributeRules.item(sized) { [NSCompositeAttributeDescription("size", number("width"), number("depth"))] }
    }

    private static let composites: [InferenceRule] = [
        InferenceRule(
            "a composite attribute is added", AttributeRules.item(["Item a", "Item b"]) { [] }, sizes(),
            forward: .gives(["Item a", "Item b"]), backward: .gives(["Item a", "Item b"])),
        InferenceRule(
            "a composite attribute is renamed", sizes(),
            AttributeRules.item(sized.map { $0.replacing("size", "extent") }) {
                [NSCompositeAttributeDescription("extent", was: "size", number("width"), number("depth"))]
            }, forward: .gives(sized.map { $0.replacing("size", "extent") }), backward: .gives(sized)),
        InferenceRule(
            "an element is renamed", sizes(),
            AttributeRules.item(["Item a size.breadth=1 size.depth=2", "Item b"]) {
                let breadth = AttributeRules.former("width", number("breadth"))
                return [NSCompositeAttributeDescription("size", breadth, number("depth"))]
            }, forward: .gives(["Item a size.breadth=1 size.depth=2", "Item b"]), backward: .gives(sized)),
        InferenceRule(
            "an element is removed", sizes(),
            AttributeRules.item(["Item a size.width=1", "Item b"]) {
                [NSCompositeAttributeDescription("size", number("width"))]
            }, forward: .gives(["Item a size.width=1", "Item b"]),
            backward: .gives(["Item a size.width=1", "Item b"])),
        InferenceRule(
            "an element becomes wider",
            AttributeRules.item(["Item a size.width=1", "Item b"]) {
                [NSCompositeAttributeDescription("size", number("width", .integer16AttributeType))]
            },
            AttributeRules.item(["Item a size.width=1", "Item b"]) {
                [NSCompositeAttributeDescription("size", number("width"))]
            }, forward: .gives(["Item a size.width=1", "Item b"]), backward: .notInferred(["Item.size"])),
        InferenceRule(
            "a composite attribute has none of its former elements", sizes(),
            AttributeRules.item(["Item a size.length=3", "Item b"]) {
                [NSCompositeAttributeDescription("size", number("length"))]
            }, forward: .notInferred(["Item.size"]), backward: .notInferred(["Item.size"])),
        InferenceRule(
            "an attribute becomes the element of its name",
            AttributeRules.item(["Item a size=1", "Item b"]) { [number("size")] },
            AttributeRules.item(["Item a size.size=1", "Item b"]) {
                [NSCompositeAttributeDescription("size", number("size"))]
            }, forward: .gives(["Item a size.size=1", "Item b"]), backward: .gives(["Item a size=1", "Item b"])),
        // A way back that takes no values is no rule: the former model names no path.
        InferenceRule(
            "an attribute takes the values of the element that its renaming identifier names", sizes(),
            AttributeRules.item(["Item a width=1", "Item b"]) {
                [AttributeRules.former("size.width", number("width"))]
            }, forward: .gives(["Item a width=1", "Item b"]), backward: nil),
        InferenceRule(
            "an element takes the values of the attribute that its renaming identifier names",
            AttributeRules.item(["Item a width=1", "Item b"]) { [number("width")] },
            AttributeRules.item(["Item a size.breadth=1", "Item b"]) {
                [NSCompositeAttributeDescription("size", AttributeRules.former("width", number("breadth")))]
            }, forward: .gives(["Item a size.breadth=1", "Item b"]), backward: nil),
        InferenceRule(
            "a required element without a default is added", sizes(),
            AttributeRules.item(["Item a size.count=3 size.width=1", "Item b"]) {
                [NSCompositeAttributeDescription("size", number("width"), number("count", optional: false))]
            }, forward: .notInferred(["Item.size"]), backward: .gives(["Item a size.width=1", "Item b"])),
    ]

    // MARK: Derived attributes

    private static let spelled = ["Item a unit=kg", "Item b"]
    private static func units() -> Version { AttributeRules.item(spelled) { [text("unit")] } }

    private static let derivations: [InferenceRule] = [
        InferenceRule(
            "a derived attribute is added", units(),
            AttributeRules.item(["Item a copy=kg unit=kg", "Item b"]) {
                [text("unit"), NSDerivedAttributeDescription("copy", .stringAttributeType, from: "unit")]
            }, forward: .gives(["Item a copy=kg unit=kg", "Item b"]), backward: .gives(spelled)),
        InferenceRule(
            "an attribute becomes derived, and is computed anew",
            AttributeRules.item(["Item a copy=old unit=kg", "Item b copy=old"]) { [text("unit"), text("copy")] },
            AttributeRules.item(["Item a copy=kg unit=kg", "Item b"]) {
                [text("unit"), NSDerivedAttributeDescription("copy", .stringAttributeType, from: "unit")]
            }, forward: .gives(["Item a copy=kg unit=kg", "Item b"]),
            backward: .gives(["Item a copy=kg unit=kg", "Item b"])),
        InferenceRule(
            "an attribute becomes derived, of another type",
            AttributeRules.item(["Item a copy=7 unit=kg", "Item b"]) { [text("unit"), number("copy")] },
            AttributeRules.item(["Item a copy=kg unit=kg", "Item b"]) {
                [text("unit"), NSDerivedAttributeDescription("copy", .stringAttributeType, from: "unit")]
            }, forward: .notInferred(["Item.copy"]), backward: .notInferred(["Item.copy"])),
    ]

    // MARK: Constraints and indexes

    private static func item(_ lines: [String], unique: Bool = false, indexed: Bool = false) -> Version {
        Version(lines) {
            let item = entity("Item", text("name"), text("unit"))
            if unique { item.uniquenessConstraints = [["unit"]] }
            if indexed, let unit = item.attributesByName["unit"] {
                // Hashes do not know of indexes.
                item.versionHashModifier = "indexed"
                item.indexes = [
                    NSFetchIndexDescription(name: "byUnit", elements: [.init(property: unit, collationType: .binary)])
                ]
            }
            return [item]
        }
    }

    private static let constraints: [InferenceRule] = [
        InferenceRule(
            "a uniqueness constraint is added, and the values differ", item(spelled + ["Item c"]),
            item(spelled + ["Item c"], unique: true), forward: .gives(spelled + ["Item c"]),
            backward: .gives(spelled + ["Item c"])),
        InferenceRule(
            "a uniqueness constraint is added, and objects share a value", item(["Item a unit=kg", "Item b unit=kg"]),
            item(spelled, unique: true), forward: .fails(NSMigrationConstraintViolationError, ["Item"]),
            backward: .gives(spelled)),
        InferenceRule(
            "an index is added", item(spelled), item(spelled, indexed: true), forward: .gives(spelled),
            backward: .gives(spelled)),
    ]
}
