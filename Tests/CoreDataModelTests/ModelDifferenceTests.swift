import Foundation
import Testing

@testable import CoreData
@testable import OpenCoreDataModel

/// Descriptions of the differences between two versions of an attribute whose hashes differ.
@Suite("Differences of attributes")
struct ModelDifferenceTests {
    private func texts(_ old: NSAttributeDescription, _ new: NSAttributeDescription) -> [String] {
        #expect(old.versionHash != new.versionHash)
        return EntityDifference.texts(from: SampleModels.entity("Item", [old]), to: SampleModels.entity("Item", [new]))
    }

    @Test func preservationInTheHistoryIsNamed() {
        let (old, new) = (SampleModels.attribute("id"), SampleModels.attribute("id"))
        new.preservesValueInHistoryOnDeletion = true
        #expect(texts(old, new) == ["the attribute 'id' is preserved in the history on deletion now"])
        #expect(texts(new, old) == ["the attribute 'id' was preserved in the history on deletion"])
    }

    private func derived(_ expression: String) -> NSDerivedAttributeDescription {
        let attribute = NSDerivedAttributeDescription()
        attribute.name = "total"
        attribute.attributeType = .integer64AttributeType
        attribute.derivationExpression = NSExpression(format: expression)
        return attribute
    }

    @Test func bothDerivationsAreNamed() {
        #expect(
            texts(derived("items.@count"), derived("items.price.@sum")) == [
                "the attribute 'total' was derived from 'items.@count', now from 'items.@sum.price'"
            ])
        #expect(
            texts(SampleModels.attribute("total", .integer64AttributeType), derived("items.@count")) == [
                "the attribute 'total' became derived"
            ])
    }

    private func composite(_ name: String, _ elements: [NSAttributeDescription]) -> NSCompositeAttributeDescription {
        let attribute = NSCompositeAttributeDescription()
        attribute.name = name
        attribute.elements = elements
        return attribute
    }

    @Test func elementsOfCompositeAttributesAreNamedByTheirPaths() {
        let old = composite(
            "address",
            [
                SampleModels.attribute("city"), SampleModels.attribute("street"),
                composite("place", [SampleModels.attribute("height", .integer16AttributeType)]),
            ])
        let new = composite(
            "address",
            [
                SampleModels.attribute("city", optional: false), SampleModels.attribute("zip"),
                composite("place", [SampleModels.attribute("height", .doubleAttributeType)]),
            ])
        #expect(
            texts(old, new) == [
                "the attribute 'address' differs in the elements 'address.city' (became required), "
                    + "'address.place.height' (was of type Integer 16, now Double), 'address.street' (was removed), "
                    + "'address.zip' (was added)"
            ])
    }
}
