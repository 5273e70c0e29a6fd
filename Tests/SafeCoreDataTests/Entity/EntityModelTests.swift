import SafeCoreData
import TestSupport
import Testing

struct EntityModelTests {
    private func expectEqual(_ model: NSManagedObjectModel, _ drawn: NSManagedObjectModel) {
        #expect(model.entityVersionHashesByName == drawn.entityVersionHashesByName)
        // A drawn model also lists the index of an attribute that a fetch index has alone, as
        // compiled models do.
        for entity in drawn.entities {
            entity.indexes.removeAll { entity.attributesByName[$0.name]?.isIndexed == true }
        }
        let (found, expected) = (ModelDescription(model).lines, ModelDescription(drawn).lines)
        #expect(found.filter { !expected.contains($0) } == [])
        #expect(expected.filter { !found.contains($0) } == [])
    }

    @Test func theClassesOfAStockAreTheDrawnModel() throws {
        let drawn = try NSManagedObjectModel(
            drawn:
                """
                <entity name="Article" representedClassName="SafeCoreDataTests.Article">
                    <attribute name="articleId" attributeType="String"/>
                    <attribute name="serial" attributeType="Integer 64"/>
                    <attribute name="name" attributeType="String" minValueString="1" maxValueString="40"/>
                    <attribute name="unitPrice" attributeType="Decimal"/>
                    <attribute name="stockCount" attributeType="Integer 64" defaultValueString="0" minValueString="0"/>
                    <attribute name="note" optional="YES" attributeType="String"/>
                    <attribute name="quality" attributeType="Integer 16"/>
                    <attribute name="unit" optional="YES" attributeType="String"/>
                    <attribute name="dimensions" optional="YES" attributeType="Binary"/>
                    <attribute name="tags" attributeType="Binary"/>
                    <relationship name="vendor" optional="YES" maxCount="1" deletionRule="Nullify" \
                destinationEntity="Supplier"
                        inverseName="articles" inverseEntity="Supplier"/>
                    <relationship name="shelf" optional="YES" maxCount="1" deletionRule="Nullify" \
                destinationEntity="Shelf"
                        inverseName="articles" inverseEntity="Shelf"/>
                    <fetchIndex name="byStockCountIndex">
                        <fetchIndexElement property="stockCount" type="Binary" order="ascending"/>
                    </fetchIndex>
                    <fetchIndex name="byNameAndUnitPriceIndex">
                        <fetchIndexElement property="name" type="Binary" order="ascending"/>
                        <fetchIndexElement property="unitPrice" type="Binary" order="ascending"/>
                    </fetchIndex>
                    <uniquenessConstraints><uniquenessConstraint><constraint \
                value="name"/></uniquenessConstraint></uniquenessConstraints>
                </entity>
                <entity name="Supplier" representedClassName="SafeCoreDataTests.Vendor">
                    <attribute name="name" attributeType="String"/>
                    <attribute name="articleCount" attributeType="Integer 64" derived="YES" \
                derivationExpression="articles.@count"/>
                    <attribute name="isSelected" transient="YES" attributeType="Boolean" defaultValueString="NO"/>
                    <attribute name="cache" optional="YES" transient="YES"/>
                    <relationship name="articles" optional="YES" toMany="YES" deletionRule="Cascade" \
                destinationEntity="Article"
                        inverseName="vendor" inverseEntity="Article"/>
                </entity>
                <entity name="Shelf" representedClassName="SafeCoreDataTests.Shelf">
                    <attribute name="label" attributeType="String"/>
                    <relationship name="articles" optional="YES" toMany="YES" ordered="YES" deletionRule="Nullify"
                        destinationEntity="Article" inverseName="shelf" inverseEntity="Article"/>
                </entity>
                """)
        expectEqual(NSManagedObjectModel(entities: Article.self), drawn)
        expectEqual(NSManagedObjectModel(entities: Shelf.self, Vendor.self), drawn)
    }

    @Test func theClassesOfAHierarchyAreTheDrawnModel() throws {
        let drawn = try NSManagedObjectModel(
            drawn:
                """
                <entity name="PaperMedium" representedClassName="SafeCoreDataTests.PaperMedium" isAbstract="YES">
                    <attribute name="title" attributeType="String"/>
                    <attribute name="added" attributeType="Integer 64"/>
                    <attribute name="summary" optional="YES" attributeType="String"/>
                </entity>
                <entity name="PaperBook" representedClassName="SafeCoreDataTests.PaperBook" parentEntity="PaperMedium">
                    <attribute name="author" attributeType="String"/>
                    <attribute name="pages" attributeType="Integer 32" defaultValueString="100"/>
                </entity>
                <entity name="PaperNovel" representedClassName="SafeCoreDataTests.PaperNovel" parentEntity="PaperBook">
                    <attribute name="genre" optional="YES" attributeType="String"/>
                </entity>
                """)
        expectEqual(NSManagedObjectModel(entities: PaperNovel.self), drawn)
    }

    @Test func everyOptionIsWhereTheEditorPutsIt() throws {
        let drawn = try NSManagedObjectModel(
            drawn:
                """
                <entity name="Options" representedClassName="SafeCoreDataTests.OptionsEntity" elementID="OldOptions"
                    versionHashModifier="2">
                    <attribute name="code" attributeType="String" elementID="oldCode" versionHashModifier="b"
                        regularExpressionString="[a-z]+"/>
                    <attribute name="region" attributeType="String" defaultValueString="EU" \
                spotlightIndexingEnabled="YES"/>
                    <attribute name="photo" optional="YES" attributeType="Binary" \
                allowsExternalBinaryDataStorage="YES"/>
                    <attribute name="tag" optional="YES" attributeType="UUID" preserveAfterDeletion="YES"/>
                    <attribute name="secret" optional="YES" attributeType="String" allowsCloudEncryption="YES"/>
                    <attribute name="color" optional="YES" attributeType="Transformable"
                        valueTransformerName="NSSecureUnarchiveFromData"/>
                    <attribute name="ratio" attributeType="Double" defaultValueString="-0.5" minValueString="-1"
                        maxValueString="1"/>
                    <attribute name="price" attributeType="Decimal" defaultValueString="0.1" maxValueString="9.9"/>
                    <attribute name="isOpen" attributeType="Boolean" defaultValueString="YES"/>
                    <relationship name="parts" toMany="YES" minCount="1" maxCount="3" deletionRule="Deny"
                        destinationEntity="Part" inverseName="whole" inverseEntity="Part"/>
                    <uniquenessConstraints>
                        <uniquenessConstraint><constraint value="code"/><constraint \
                value="region"/></uniquenessConstraint>
                        <uniquenessConstraint><constraint value="tag"/></uniquenessConstraint>
                    </uniquenessConstraints>
                </entity>
                <entity name="Part" representedClassName="SafeCoreDataTests.Part">
                    <attribute name="number" attributeType="Integer 64"/>
                    <relationship name="whole" maxCount="1" deletionRule="No Action" destinationEntity="Options"
                        inverseName="parts" inverseEntity="Options"/>
                    <relationship name="related" optional="YES" toMany="YES" ordered="YES" deletionRule="Nullify"
                        destinationEntity="Part" inverseName="relatedTo" inverseEntity="Part"/>
                    <relationship name="relatedTo" optional="YES" toMany="YES" deletionRule="Nullify"
                        destinationEntity="Part" inverseName="related" inverseEntity="Part"/>
                </entity>
                """)
        expectEqual(NSManagedObjectModel(entities: OptionsEntity.self), drawn)
    }
}

@Entity(
    "Options", uniquenessConstraints: [["code", "region"]], renamingIdentifier: "OldOptions", versionHashModifier: "2")
final class OptionsEntity: NSManagedObject {
    @Attribute(.pattern("[a-z]+"), originalName: "oldCode", versionHashModifier: "b") var code: String
    @Attribute(.spotlight) var region: String = "EU"
    @Attribute(.externalStorage) var photo: Data?
    @Attribute(.unique, .preservedOnDeletion) var tag: UUID?
    @Attribute(.cloudEncryption) var secret: String?
    @Attribute(.transformable(by: "NSSecureUnarchiveFromData")) var color: NSArray?
    @Attribute(.range(-1...1)) var ratio: Double = -0.5
    @Attribute(.range(...9.9)) var price: Decimal = 0.1
    var isOpen: Bool = true
    @Relationship(deleteRule: .deny, inverse: \Part.whole, minimum: 1, maximum: 3) var parts: Set<Part>
}

@Entity
final class Part: NSManagedObject {
    var number: Int
    @Relationship(deleteRule: .noAction) var whole: OptionsEntity
    @Relationship(inverse: \Part.relatedTo) var related: NSOrderedSet
    var relatedTo: Set<Part>
}
