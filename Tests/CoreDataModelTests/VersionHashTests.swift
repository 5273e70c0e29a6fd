import Foundation
import Testing

@testable import CoreData
@testable import OpenCoreDataModel

@Suite("Version hashes")
struct VersionHashTests {
    private func hash(_ change: (NSManagedObjectModel) throws -> Void) throws -> String {
        let model = try SampleModels.inventory()
        try change(model)
        return model.versionChecksum
    }

    /// Behaviours 10, 12.
    @Test func whatDoesNotShapeRowsDoesNotCount() throws {
        let original = try hash { _ in }
        let changed = try hash { model in
            let item = try #require(model.entitiesByName["Item"])
            item.managedObjectClassName = "Other"
            item.userInfo = ["a": 1]
            item.indexes = []
            item.renamingIdentifier = "Old"
            item.attributesByName["price"]?.defaultValue = 3
            item.attributesByName["price"]?.setValidationPredicates(nil, withValidationWarnings: nil)
            item.attributesByName["color"]?.valueTransformerName = "Other"
            item.relationshipsByName["suppliers"]?.deleteRule = .cascadeDeleteRule
            model.versionIdentifiers = ["9"]
        }
        #expect(changed == original)
    }

    /// Behaviours 10, 11, 13.
    @Test func eachPartThatCountsChangesTheHash() throws {
        let changes: [(NSEntityDescription) throws -> Void] = [
            { $0.isAbstract = true }, { $0.versionHashModifier = "1" }, { $0.uniquenessConstraints = [] },
            { $0.attributesByName["price"]?.isOptional = true }, { $0.attributesByName["price"]?.name = "cost" },
            { $0.attributesByName["price"]?.attributeType = .doubleAttributeType },
            { $0.attributesByName["price"]?.versionHashModifier = "1" },
            { $0.attributesByName["picture"]?.allowsExternalBinaryDataStorage = false },
            { $0.attributesByName["code"]?.preservesValueInHistoryOnDeletion = false },
            { $0.relationshipsByName["suppliers"]?.maxCount = 5 },
            { $0.relationshipsByName["suppliers"]?.minCount = 1 },
            { $0.relationshipsByName["suppliers"]?.isOrdered = false },
            { $0.relationshipsByName["suppliers"]?.inverseRelationship = nil },
            { $0.relationshipsByName["suppliers"]?.destinationEntity = $0 },
        ]
        var seen = [try hash { _ in }]
        for change in changes {
            seen.append(try hash { try change(try #require($0.entitiesByName["Item"])) })
        }
        #expect(Set(seen).count == changes.count + 1)
    }

    /// Behaviour 334 and the rules of the store's format.
    @Test func transientAndFetchedPropertiesDoNotCount() throws {
        let original = try hash { _ in }
        let changed = try hash { model in
            let item = try #require(model.entitiesByName["Item"])
            let extra = SampleModels.attribute("extra")
            extra.isTransient = true
            item.properties = item.properties.filter { $0.name != "cheap" } + [extra]
        }
        #expect(changed == original)
    }

    /// Behaviour 13, 18.
    @Test func aModifierAloneMakesAStoreIncompatible() throws {
        let model = try SampleModels.inventory()
        let metadata: [String: Any] = ["NSStoreModelVersionHashes": model.entityVersionHashesByName]
        #expect(model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
        #expect(!model.isConfiguration(withName: "Goods", compatibleWithStoreMetadata: metadata))
        #expect(!model.isConfiguration(withName: "None", compatibleWithStoreMetadata: metadata))
        #expect(!model.isConfiguration(withName: nil, compatibleWithStoreMetadata: [:]))
        model.entitiesByName["Supplier"]?.versionHashModifier = "2"
        #expect(!model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
    }

    @Test func theHashIsTheSameWhenTheModelIsInUse() throws {
        let model = try SampleModels.inventory()
        let before = model.entityVersionHashesByName
        model.freeze()
        #expect(model.entityVersionHashesByName == before)
        #expect(model.entities.allSatisfy { $0.versionHash.count == 32 })
    }

    @Test func aDerivedAttributesHashIsThatOfItsExpression() {
        let derived = NSDerivedAttributeDescription()
        derived.name = "n"
        derived.derivationExpression = NSExpression(forKeyPath: "pages.@count")
        var hash = SHA256()
        hash.update("count:(pages)")
        #expect(derived.versionHash == Data(hash.finalize()))
    }

    /// The order that photo libraries show: the entity's modifier, then its constraints in
    /// ascending order.
    @Test func anEntitysModifierComesBeforeItsConstraints() {
        let title = SampleModels.attribute("title")
        let code = SampleModels.attribute("code")
        let keyword = SampleModels.entity("Keyword", [title, code])
        keyword.versionHashModifier = "11066"
        keyword.uniquenessConstraints = [["title"], ["code"]]
        var hash = SHA256()
        hash.update("Keyword")
        hash.update([0])
        hash.update(Array(code.versionHash))
        hash.update(Array(title.versionHash))
        hash.update("11066" + "code" + "title")
        #expect(keyword.versionHash == Data(hash.finalize()))
    }

    @Test func aRelationshipThatIsItsOwnInverseCountsAsOneWithoutAnInverse() {
        let person = SampleModels.entity("Person")
        let friends = SampleModels.relationship("friends", to: person, max: 0)
        let rivals = SampleModels.relationship("rivals", to: person, max: 0)
        person.properties = [friends, rivals]
        let without = friends.versionHash
        SampleModels.connect(friends, friends)
        #expect(friends.versionHash == without)
        SampleModels.connect(friends, rivals)
        #expect(friends.versionHash != without)
    }
}
