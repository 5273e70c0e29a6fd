import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import OpenCoreDataModel

@Suite("Model descriptions")
struct ModelDescriptionTests {
    /// Behaviour 1, but for `userInfo`.
    @Test func userInfoMayBeSetWhileTheModelIsInUse() throws {
        let model = try SampleModels.inventory()
        _ = NSPersistentStoreCoordinator(managedObjectModel: model)
        let entity = try #require(model.entities.first { !$0.properties.isEmpty })
        entity.userInfo?["key"] = 1
        entity.properties[0].userInfo?["key"] = 2
        #expect(entity.userInfo?["key"] as? Int == 1)
        #expect(entity.properties[0].userInfo?["key"] as? Int == 2)
        let copy = try #require(model.copy() as? NSManagedObjectModel)
        #expect(copy.entitiesByName[entity.name ?? ""]?.userInfo?["key"] as? Int == 1)
    }

    /// Behaviour 1.
    @Test func aModelIsEditableUntilItIsInUse() throws {
        let model = try SampleModels.inventory()
        let item = try #require(model.entitiesByName["Item"])
        #expect(model.tables == nil)
        #expect(item.tables == nil)
        item.isAbstract = true
        model.freeze()
        #expect(model.tables != nil)
        #expect(item.tables != nil)
        #expect(item.properties.allSatisfy { $0.isFrozen })
        #expect(item.indexes.allSatisfy { $0.isFrozen && $0.elements.allSatisfy(\.isFrozen) })
    }

    /// Behaviour 1.
    @Test func changingAnAttributeInUseStopsTheProgram() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let model = try SampleModels.inventory()
            model.freeze()
            model.entitiesByName["Item"]?.attributesByName["price"]?.isOptional = true
        }
        #expect(
            Complaint(result?.standardErrorContent).lacks(
                "NSAttributeDescription.isOptional", "price", "Item", "in use by a persistent store coordinator") == [])
    }

    /// Behaviour 1.
    @Test func changingAnEntityInUseStopsTheProgram() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let model = try SampleModels.inventory()
            model.freeze()
            model.entitiesByName["Item"]?.name = "Thing"
        }
        #expect(
            Complaint(result?.standardErrorContent).lacks(
                "NSEntityDescription.name: the entity 'Item' is in use by a persistent store coordinator") == [])
    }

    /// Behaviour 1.
    @Test func changingAModelInUseStopsTheProgram() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let model = try SampleModels.inventory()
            model.freeze()
            model.entities = []
        }
        #expect(
            Complaint(result?.standardErrorContent).lacks(
                "NSManagedObjectModel.entities", "\"Item\"", "in use by a persistent store coordinator") == [])
    }

    @Test func freezingAgainChangesNothing() throws {
        let model = try SampleModels.inventory()
        let text = ModelText.lines(of: model)
        model.freeze()
        model.freeze()
        #expect(ModelText.lines(of: model) == text)
    }

    @Test func aModelInUseIsReadFromManyThreads() async throws {
        let model = try SampleModels.inventory()
        model.freeze()
        let checksums = await withTaskGroup(of: String.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    model.freeze()
                    return model.versionChecksum + "\(model.entitiesByName["Item"]?.propertiesByName.count ?? 0)"
                }
            }
            return await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(checksums.count == 1)
    }

    /// Behaviour 2.
    @Test func aCopyOfAModelInUseIsEditableAndHasNoLinkToTheOriginal() throws {
        let model = try SampleModels.inventory()
        model.freeze()
        let copy = try #require(model.copy() as? NSManagedObjectModel)
        #expect(copy.tables == nil)
        #expect(ModelText.lines(of: copy) == ModelText.lines(of: model))
        for entity in copy.entities {
            #expect(entity.managedObjectModel === copy)
            for relationship in entity.relationshipsByName.values {
                #expect(relationship.destinationEntity?.managedObjectModel === copy)
                #expect(relationship.inverseRelationship?.entity.managedObjectModel === copy)
            }
            for element in entity.indexes.flatMap(\.elements) {
                #expect(element.property?.entity === entity)
            }
        }
        copy.entitiesByName["Item"]?.name = "Thing"
        #expect(model.entitiesByName["Item"] != nil)
    }

    /// Behaviour 3.
    @Test func aCopyOfAnEntityIsNotEqualToIt() throws {
        let entity = SampleModels.entity("A", [SampleModels.attribute("x")])
        let copy = try #require(entity.copy() as? NSEntityDescription)
        #expect(copy != entity)
        #expect(copy.versionHash == entity.versionHash)
        #expect(copy.properties.first !== entity.properties.first)
    }

    /// Behaviour 4.
    @Test func anEntityWithoutClassNameUsesNSManagedObject() {
        let entity = NSEntityDescription()
        #expect(entity.managedObjectClassName == "NSManagedObject")
        entity.managedObjectClassName = "Item"
        entity.managedObjectClassName = nil
        #expect(entity.managedObjectClassName == "NSManagedObject")
    }

    /// Behaviour 5.
    @Test func assigningSubentitiesSetsTheirSuperentity() {
        let (first, second) = (SampleModels.entity("A"), SampleModels.entity("B"))
        let child = SampleModels.entity("C")
        first.subentities = [child]
        #expect(child.superentity === first)
        second.subentities = [child]
        #expect(child.superentity === second)
        #expect(first.subentities.isEmpty)
        second.subentities = []
        #expect(child.superentity == nil)
    }

    /// Behaviour 6.
    @Test func propertiesOfASubentityIncludeInheritedOnes() {
        let parent = SampleModels.entity("A", [SampleModels.attribute("x")])
        let child = SampleModels.entity("B", [SampleModels.attribute("y")])
        let link = SampleModels.relationship("z", to: child)
        parent.properties += [link]
        parent.subentities = [child]
        #expect(child.properties.map(\.name) == ["x", "z", "y"])
        #expect(Set(child.attributesByName.keys) == ["x", "y"])
        #expect(child.relationshipsByName["z"] === link)
        #expect(child.propertiesByName["x"]?.entity === parent)
        child.properties += [SampleModels.attribute("w")]
        #expect(child.ownProperties.map(\.name) == ["y", "w"])
    }

    /// Behaviour 7.
    @Test func anEntityIsKindOfItselfAndItsAncestors() {
        let (a, b, c) = (SampleModels.entity("A"), SampleModels.entity("B"), SampleModels.entity("C"))
        a.subentities = [b]
        b.subentities = [c]
        #expect(c.isKindOf(entity: c))
        #expect(c.isKindOf(entity: b))
        #expect(c.isKindOf(entity: a))
        #expect(!a.isKindOf(entity: c))
    }

    /// Behaviour 8.
    @Test(arguments: [(0, true), (1, false), (2, true), (Int.max, true)])
    func aRelationshipIsToManyUnlessItsMaximumIsOne(maximum: Int, isToMany: Bool) {
        let relationship = NSRelationshipDescription()
        relationship.maxCount = maximum
        #expect(relationship.isToMany == isToMany)
    }

    /// Behaviour 9.
    @Test func aNewRelationshipNullifiesAndHasNoBounds() {
        let relationship = NSRelationshipDescription()
        #expect(relationship.deleteRule == .nullifyDeleteRule)
        #expect(relationship.minCount == 0)
        #expect(relationship.maxCount == 0)
        #expect(relationship.isOptional)
        #expect(!relationship.isTransient)
        #expect(!relationship.isOrdered)
    }

    /// Behaviour 14.
    @Test func theRenamingIdentifierIsTheNameUnlessSet() {
        let entity = SampleModels.entity("A", [SampleModels.attribute("x")])
        #expect(entity.renamingIdentifier == "A")
        #expect(entity.properties[0].renamingIdentifier == "x")
        entity.renamingIdentifier = "B"
        entity.properties[0].renamingIdentifier = "y"
        #expect(entity.renamingIdentifier == "B")
        #expect(entity.properties[0].renamingIdentifier == "y")
    }

    /// Behaviour 20.
    @Test func aDefaultValueIsRetainedNotCopied() {
        let attribute = SampleModels.attribute("x")
        let text = NSMutableString(string: "a")
        attribute.defaultValue = text
        #expect(attribute.defaultValue as AnyObject === text)
    }

    @Test func defaultValuesReadBackInTheirTypesForm() {
        func value(_ given: Any, _ type: NSAttributeType) -> Any? {
            let attribute = SampleModels.attribute("x", type)
            attribute.defaultValue = given
            return attribute.defaultValue
        }
        #expect(value(Int16(3), .integer16AttributeType) as? NSNumber == 3)
        #expect(value(2.5, .doubleAttributeType) as? NSNumber == 2.5)
        #expect((value(true, .booleanAttributeType) as? NSNumber)?.boolValue == true)
        #expect(value(4, .decimalAttributeType) is NSDecimalNumber)
        #expect(value(Decimal(5), .decimalAttributeType) as? NSDecimalNumber == 5)
        #expect(value(NSString(string: "a"), .stringAttributeType) as? String == "a")
        #expect(value(UUID(), .UUIDAttributeType) is UUID)
        #expect(value(Date(), .dateAttributeType) is Date)
    }

    /// Behaviour 21.
    @Test func uniquenessConstraintsAcceptDescriptionsAndReturnNames() {
        let (x, y) = (SampleModels.attribute("x"), SampleModels.attribute("y"))
        let entity = SampleModels.entity("A", [x, y])
        entity.uniquenessConstraints = [[x], ["y", x]]
        #expect(entity.uniquenessConstraints as? [[String]] == [["x"], ["y", "x"]])
    }

    /// Behaviour 22.
    @Test func changingPropertiesOrHierarchyDropsTheIndexesOfTheHierarchy() {
        func indexed() -> (NSEntityDescription, NSEntityDescription) {
            let x = SampleModels.attribute("x")
            let (parent, child) = (SampleModels.entity("A", [x]), SampleModels.entity("B"))
            parent.subentities = [child]
            let element = NSFetchIndexElementDescription(property: x, collationType: .binary)
            parent.indexes = [NSFetchIndexDescription(name: "byX", elements: [element])]
            return (parent, child)
        }
        let (first, firstChild) = indexed()
        #expect(first.indexes.count == 1)
        firstChild.properties = [SampleModels.attribute("y")]
        #expect(first.indexes.isEmpty)
        let (second, _) = indexed()
        second.subentities = []
        #expect(second.indexes.isEmpty)
    }

    @Test func modelsOfOneVersionAreEqual() throws {
        func model(_ names: [String], configured: [String] = [], identifier: String = "1") -> NSManagedObjectModel {
            let model = NSManagedObjectModel()
            model.entities = names.map { SampleModels.entity($0, [SampleModels.attribute("x")]) }
            model.setEntities(
                model.entities.filter { configured.contains($0.name ?? "") }, forConfigurationName: "Some")
            model.versionIdentifiers = [identifier]
            return model
        }
        let (first, second) = (model(["A", "B"]), model(["B", "A"]))
        #expect(first == second)
        #expect(first.hash == second.hash)
        #expect(try #require(first.copy() as? NSManagedObjectModel) == first)
        #expect(first != model(["A"]))
        #expect(first != model(["A", "B"], configured: ["A"]))
        #expect(first != model(["A", "B"], identifier: "2"))
        second.entities.first?.versionHashModifier = "other"
        #expect(first != second)
    }

    @Test func aCopyOfAnIndexNamesItsEntityAndOwnsItsElements() throws {
        let entity = SampleModels.entity("A", [SampleModels.attribute("x")])
        let element = NSFetchIndexElementDescription(
            property: try #require(entity.propertiesByName["x"]), collationType: .binary)
        let index = NSFetchIndexDescription(name: "byX", elements: [element])
        entity.indexes = [index]
        let copy = try #require(index.copy() as? NSFetchIndexDescription)
        #expect(copy.entity === entity)
        #expect(copy.elements.first !== element)
        #expect(copy.elements.first?.indexDescription === copy)
        #expect(element.indexDescription === index)
        #expect(entity.indexes == [index])
    }

    /// Behaviour 23.
    @Test func anIndexThatMixesKindsStopsTheProgram() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let elements = [NSFetchIndexElementType.binary, .rTree].map {
                NSFetchIndexElementDescription(property: SampleModels.attribute("x"), collationType: $0)
            }
            _ = NSFetchIndexDescription(name: "mixed", elements: elements)
        }
        #expect(Complaint(result?.standardErrorContent).lacks("index 'mixed'") == [])
    }

    /// Behaviour 25.
    @Test func textsForPeopleAreKept() throws {
        let model = try SampleModels.inventory()
        let texts = [
            "Entity/Item": "Ware", "Property/price": "Wert", "Property/price/Entity/Item": "Preis",
            "ErrorString/Too long": "Zu lang",
        ]
        model.localizationDictionary = texts
        let copy = try #require(model.copy() as? NSManagedObjectModel)
        #expect(copy.localizationDictionary == texts)
        copy.localizationDictionary = nil
        #expect(model.localizationDictionary == texts)
    }

    /// Behaviour 331.
    @Test func anElementWithoutTypeStopsTheProgram() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            NSCompositeAttributeDescription().elements = [SampleModels.attribute("x", .undefinedAttributeType)]
        }
        #expect(Complaint(result?.standardErrorContent).lacks("'x' has no type", "composite attribute") == [])
    }

    @Test func relationshipsForADestinationAreThoseThatCanHoldIt() throws {
        let model = try SampleModels.inventory()
        let perishable = try #require(model.entitiesByName["Perishable"])
        let supplier = try #require(model.entitiesByName["Supplier"])
        #expect(supplier.relationships(forDestination: perishable).map(\.name) == ["items"])
        #expect(supplier.relationships(forDestination: supplier).isEmpty)
    }

    @Test func configurationsHoldEntitiesOfTheModel() throws {
        let model = try SampleModels.inventory()
        #expect(model.configurations == ["Goods"])
        #expect(model.entities(forConfigurationName: "Goods")?.compactMap(\.name) == ["Item", "Perishable"])
        #expect(model.entities(forConfigurationName: nil)?.count == 3)
        #expect(model.entities(forConfigurationName: "None") == nil)
    }
}
