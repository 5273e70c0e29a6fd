import Foundation
import Testing

@testable import CoreData

@Suite("Consistency of models")
struct ConsistencyTests {
    private func problems(_ change: (NSManagedObjectModel) throws -> Void) throws -> [String] {
        let model = try SampleModels.inventory()
        try change(model)
        return model.consistencyProblems()
    }

    @Test func aSoundModelHasNoProblems() throws {
        #expect(try problems { _ in } == [])
    }

    @Test func aMissingDestinationIsNamed() throws {
        let found = try problems { $0.entities = $0.entities.filter { $0.name != "Supplier" } }
        #expect(found.contains { $0.contains("'suppliers'") && $0.contains("'Item'") })
    }

    @Test func anInverseThatDoesNotLeadBackIsNamed() throws {
        let found = try problems {
            $0.entitiesByName["Supplier"]?.relationshipsByName["items"]?.inverseRelationship = nil
        }
        #expect(found.count == 1)
        #expect(found.first?.contains("'Supplier.items'") == true)
    }

    /// Behaviour 24.
    @Test func anAttributeWithoutTypeMustBeTransient() throws {
        let found = try problems {
            $0.entitiesByName["Item"]?.attributesByName["stock"]?.attributeType = .undefinedAttributeType
        }
        #expect(found.count == 1)
        let none = try problems {
            $0.entitiesByName["Item"]?.attributesByName["stock"]?.attributeType = .undefinedAttributeType
            $0.entitiesByName["Item"]?.attributesByName["stock"]?.isTransient = true
        }
        #expect(none == [])
    }

    @Test func aNULInANameIsNamed() throws {
        let found = try problems { model in
            model.entitiesByName["Perishable"]?.name = "Perish\0able"
            let item = try #require(model.entitiesByName["Item"])
            let size = NSCompositeAttributeDescription()
            size.name = "size"
            size.elements = [SampleModels.attribute("wid\0th")]
            item.properties += [SampleModels.attribute("\0"), size]
        }
        #expect(found.count { $0.contains("U+0000") } == 3, "\(found)")
        for name in ["entity 'Perish\\0able'", "\\0'", "wid\\0th"] {
            #expect(found.contains { $0.contains(name) && $0.contains("U+0000") }, "\(found)")
        }
    }

    @Test func namesThatOccurTwiceAreNamed() throws {
        let found = try problems { model in
            model.entitiesByName["Perishable"]?.name = "Supplier"
            let item = try #require(model.entitiesByName["Item"])
            item.properties += [SampleModels.attribute("stock")]
        }
        #expect(found.contains { $0.contains("two entities named 'Supplier'") })
        #expect(found.contains { $0.contains("two properties named 'stock'") })
    }

    @Test func constraintsAndIndexesOnUnknownPropertiesAreNamed() throws {
        let found = try problems { model in
            let item = try #require(model.entitiesByName["Item"])
            item.uniquenessConstraints = [["colour"]]
            item.indexes = [
                NSFetchIndexDescription(
                    name: "byTaste",
                    elements: [
                        NSFetchIndexElementDescription(
                            property: SampleModels.attribute("taste"), collationType: .binary)
                    ])
            ]
        }
        #expect(found.contains { $0.contains("'colour'") })
        #expect(found.contains { $0.contains("'byTaste'") && $0.contains("'taste'") })
    }

    @Test func indexesOnToManyRelationshipsAndOrderOfOneObjectAreNoProblems() throws {
        let found = try problems { model in
            let item = try #require(model.entitiesByName["Item"])
            let suppliers = try #require(item.relationshipsByName["suppliers"])
            let elements = [NSFetchIndexElementDescription(property: suppliers, collationType: .binary)]
            item.indexes += [NSFetchIndexDescription(name: "bySuppliers", elements: elements)]
            let own = NSRelationshipDescription()
            own.name = "successor"
            own.destinationEntity = item
            own.maxCount = 1
            own.isOrdered = true
            item.properties += [own]
        }
        #expect(found == [])
    }

    @Test func templatesAndFetchedPropertiesOfUnknownEntitiesAreNamed() throws {
        let found = try problems { $0.fetchRequestTemplates["x"] = FetchRequestTemplate(entityName: "Nothing") }
        #expect(found.count == 1)
        #expect(found.first?.contains("'Nothing'") == true)
    }
}
