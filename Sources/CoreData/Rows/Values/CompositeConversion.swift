import Foundation

extension EntityLayout {
    /// Returns the values of a composite attribute's elements from a dictionary, in the form in
    /// which objects keep them.
    func elementValues(
        of value: Any?, _ composite: CompositeLayout
    ) throws(CompositeProblem) -> [(slot: Int, value: AttributeValue)] {
        var result: [(slot: Int, value: AttributeValue)] = []
        for (slot, value) in try composite.elements(of: value) {
            guard let converted = PropertyConversion.value(from: value, kind: slots[slot].kind) else {
                throw .wrongType(
                    slots[slot].name, expected: slots[slot].attribute?.attributeValueClassName ?? "another type",
                    given: value.map { "\(type(of: $0))" } ?? "nil")
            }
            result.append((slot, converted))
        }
        return result
    }
}

extension Snapshot {
    /// Returns the dictionary of a composite attribute's elements in the row.
    func dictionary(_ composite: CompositeLayout) -> [String: Any]? {
        composite.dictionary { object($0) }
    }

    /// Returns the value of a stored attribute as users see it, with transformables decoded; nil
    /// for a reference.
    func object(_ slot: Int) -> Any? {
        let property = layout.slots[slot]
        guard property.kind == .transformable else {
            return PropertyConversion.object(from: value(slot), kind: property.kind)
        }
        if isNull(slot) { return nil }
        return property.attribute.flatMap { Transformation.value(from: data(slot), attribute: $0) }
    }
}
