import CoreData
import TestSupport

/// Rules about the attributes of one entity, `Item`, and its objects `a` and `b`.
enum AttributeRules {
    typealias Version = InferenceRule.Version

    /// A version of an item with the given attributes besides its name.
    static func item(_ lines: [String], _ attributes: @escaping @Sendable () -> [NSAttributeDescription]) -> Version {
        Version(lines) { [NSEntityDescription("Item", class: "NSManagedObject", [text("name")] + attributes())] }
    }

    private static let bare = item(["Item a", "Item b"]) { [] }
    private static let units = item(["Item a unit=kg", "Item b"]) { [text("unit")] }
    private static let allUnits = item(["Item a unit=kg", "Item b unit=l"]) { [text("unit")] }

    static let all: [InferenceRule] = presence + requirement + renaming + storage

    private static let presence: [InferenceRule] = [
        InferenceRule(
            "an attribute is added", bare, units, forward: .gives(["Item a", "Item b"]),
            backward: .gives(["Item a", "Item b"])),
        InferenceRule(
            "an attribute with a default is added", bare,
            item(["Item a unit=kg", "Item b"]) { [text("unit", default: "pc")] },
            forward: .gives(["Item a unit=pc", "Item b unit=pc"]), backward: .gives(["Item a", "Item b"])),
        InferenceRule(
            "a required attribute with a default is added", bare,
            item(["Item a unit=kg", "Item b unit=pc"]) { [text("unit", optional: false, default: "pc")] },
            forward: .gives(["Item a unit=pc", "Item b unit=pc"]), backward: .gives(["Item a", "Item b"])),
        InferenceRule(
            "a required attribute without a default is added, beside objects", bare,
            item(["Item a unit=kg", "Item b unit=l"]) { [text("unit", optional: false)] },
            forward: .lacks("Item.unit"), backward: .gives(["Item a", "Item b"])),
        InferenceRule(
            "a required attribute without a default is added, without objects", item([]) { [] },
            item([]) { [text("unit", optional: false)] }, forward: .gives([]), backward: .gives([])),
        InferenceRule(
            "the default changes", item(["Item a unit=kg", "Item b"]) { [text("unit", default: "pc")] },
            item(["Item a unit=kg", "Item b"]) { [text("unit", default: "l")] },
            forward: .gives(["Item a unit=kg", "Item b"]), backward: .gives(["Item a unit=kg", "Item b"])),
        InferenceRule(
            "an attribute becomes transient", units,
            item(["Item a", "Item b"]) {
                let unit = text("unit")
                unit.isTransient = true
                return [unit]
            }, forward: .gives(["Item a", "Item b"]), backward: .gives(["Item a", "Item b"])),
    ]

    private static let requirement: [InferenceRule] = [
        InferenceRule(
            "an optional attribute becomes required, with a default", units,
            item(["Item a unit=kg", "Item b unit=l"]) { [text("unit", optional: false, default: "pc")] },
            forward: .gives(["Item a unit=kg", "Item b unit=pc"]),
            backward: .gives(["Item a unit=kg", "Item b unit=l"])),
        InferenceRule(
            "an optional attribute becomes required, where all objects have a value", allUnits,
            item(["Item a unit=kg", "Item b unit=l"]) { [text("unit", optional: false)] },
            forward: .gives(["Item a unit=kg", "Item b unit=l"]),
            backward: .gives(["Item a unit=kg", "Item b unit=l"])),
        InferenceRule(
            "an optional attribute becomes required, where an object has no value", units,
            item(["Item a unit=kg", "Item b unit=l"]) { [text("unit", optional: false)] },
            forward: .lacks("Item.unit"), backward: .gives(["Item a unit=kg", "Item b unit=l"])),
    ]

    /// Gives an attribute a former name.
    static func former(_ name: String, _ attribute: NSAttributeDescription) -> NSAttributeDescription {
        attribute.renamingIdentifier = name
        return attribute
    }

    private static let renaming: [InferenceRule] = [
        InferenceRule(
            "an attribute is renamed", units,
            item(["Item a measure=kg", "Item b"]) { [text("measure", was: "unit")] },
            forward: .gives(["Item a measure=kg", "Item b"]), backward: .gives(["Item a unit=kg", "Item b"])),
        InferenceRule(
            "an attribute with another name and no renaming identifier is another one", units,
            item(["Item a measure=kg", "Item b"]) { [text("measure")] }, forward: .gives(["Item a", "Item b"]),
            backward: .gives(["Item a", "Item b"])),
        InferenceRule(
            "an attribute that was renamed is renamed again",
            item(["Item a measure=kg", "Item b"]) { [text("measure", was: "unit")] },
            item(["Item a scale=kg", "Item b"]) { [text("scale", was: "unit")] },
            forward: .gives(["Item a scale=kg", "Item b"]), backward: .gives(["Item a measure=kg", "Item b"])),
        InferenceRule(
            "an attribute is renamed and becomes required, with a default", units,
            item(["Item a measure=kg", "Item b measure=l"]) {
                [text("measure", was: "unit", optional: false, default: "pc")]
            }, forward: .gives(["Item a measure=kg", "Item b measure=pc"]),
            backward: .gives(["Item a unit=kg", "Item b unit=l"])),
        InferenceRule(
            "a renamed attribute becomes required, where an object has no value", units,
            item(["Item a measure=kg", "Item b measure=l"]) { [text("measure", was: "unit", optional: false)] },
            forward: .lacks("Item.measure"), backward: .gives(["Item a unit=kg", "Item b unit=l"])),
        // Which of both is the former one, a model without identifiers does not say.
        InferenceRule(
            "a renamed attribute leaves its name to a new one", units,
            item(["Item a measure=kg", "Item b"]) { [text("measure", was: "unit"), text("unit")] },
            forward: .gives(["Item a measure=kg", "Item b"]), backward: nil),
        // On the way back names count before the identifiers of the former model.
        InferenceRule(
            "two attributes exchange their names",
            item(["Item a x=1 y=2", "Item b x=3"]) { [text("x"), number("y")] },
            item(["Item a x=1 y=2", "Item b x=3"]) { [former("y", number("x")), text("y", was: "x")] },
            forward: .gives(["Item a x=2 y=1", "Item b y=3"]), backward: nil),
        InferenceRule(
            "two attributes have one former name", units,
            item(["Item a first=kg second=kg", "Item b"]) {
                [text("first", was: "unit"), text("second", was: "unit")]
            },
            forward: .notInferred(["Item.second"]), backward: .gives(["Item a unit=kg", "Item b"])),
        InferenceRule(
            "an attribute is renamed and its type changes", units,
            item(["Item a measure=7", "Item b"]) { [former("unit", number("measure"))] },
            forward: .notInferred(["Item.measure"]), backward: .notInferred(["Item.unit"])),
        InferenceRule(
            "an attribute is renamed and its numbers become wider",
            item(["Item a count=7", "Item b"]) { [number("count", .integer16AttributeType)] },
            item(["Item a size=7", "Item b"]) { [former("count", number("size"))] },
            forward: .gives(["Item a size=7", "Item b"]), backward: .notInferred(["Item.count"])),
    ]

    private static func data(external: Bool) -> NSAttributeDescription {
        let data = NSAttributeDescription("data", .binaryDataAttributeType)
        data.allowsExternalBinaryDataStorage = external
        return data
    }

    private static let storage: [InferenceRule] = [
        InferenceRule(
            "external storage comes and goes", item(["Item a data=AQIDBA==", "Item b"]) { [data(external: false)] },
            item(["Item a data=AQIDBA==", "Item b"]) { [data(external: true)] },
            forward: .gives(["Item a data=AQIDBA==", "Item b"]),
            backward: .gives(["Item a data=AQIDBA==", "Item b"]))
    ]
}
