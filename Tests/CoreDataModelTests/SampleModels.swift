import Foundation

@testable import CoreData
@testable import OpenCoreDataModel

/// Models built in code.
enum SampleModels {
    static func attribute(
        _ name: String, _ type: NSAttributeType = .stringAttributeType, optional: Bool = true
    ) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.isOptional = optional
        return attribute
    }

    static func entity(_ name: String, _ properties: [NSPropertyDescription] = []) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        entity.properties = properties
        return entity
    }

    static func relationship(
        _ name: String, to destination: NSEntityDescription, max: Int = 1
    ) -> NSRelationshipDescription {
        let relationship = NSRelationshipDescription()
        relationship.name = name
        relationship.destinationEntity = destination
        relationship.maxCount = max
        return relationship
    }

    static func connect(_ first: NSRelationshipDescription, _ second: NSRelationshipDescription) {
        first.inverseRelationship = second
        second.inverseRelationship = first
    }

    /// A model with every kind of property: an item and its subentity, suppliers, configurations, a
    /// template.
    static func inventory() throws -> NSManagedObjectModel {
        let item = entity("Item")
        let supplier = entity("Supplier", [attribute("name", optional: false), attribute("home", .URIAttributeType)])
        let perishable = entity("Perishable", [attribute("bestBefore", .dateAttributeType)])
        let price = attribute("price", .decimalAttributeType, optional: false)
        price.defaultValue = Decimal(string: "12.345")
        price.setValidation(
            predicates: [try NSPredicate.parse("SELF >= 0"), try NSPredicate.parse("SELF <= 1000")],
            warnings: [NSNumber(value: 1620), NSNumber(value: 1610)])
        let stock = attribute("stock", .integer64AttributeType)
        stock.defaultValue = 7
        let isOld = attribute("isOld", .booleanAttributeType)
        isOld.defaultValue = false
        let weight = attribute("weight", .doubleAttributeType)
        weight.defaultValue = 0.5
        let picture = attribute("picture", .binaryDataAttributeType)
        picture.allowsExternalBinaryDataStorage = true
        picture.defaultValue = Data([1, 2, 3])
        let code = attribute("code", .UUIDAttributeType)
        code.defaultValue = UUID(uuidString: "11111111-2222-3333-4444-555555555555")
        code.preservesValueInHistoryOnDeletion = true
        let made = attribute("made", .dateAttributeType)
        made.defaultValue = Date(timeIntervalSinceReferenceDate: 1234.5)
        let page = attribute("page", .URIAttributeType)
        page.defaultValue = URL(string: "https://example.org/a")
        let title = attribute("titel \u{e4}\u{1F600}")
        title.defaultValue = "grün"
        title.userInfo = ["note": "old", "count": 3]
        title.renamingIdentifier = "name"
        title.versionHashModifier = "2"
        let color = attribute("color", .transformableAttributeType)
        color.valueTransformerName = "ColorTransformer"
        color.attributeValueClassName = "Color"
        let suppliers = relationship("suppliers", to: supplier, max: 0)
        suppliers.isOrdered = true
        suppliers.deleteRule = .denyDeleteRule
        let items = relationship("items", to: item, max: 0)
        items.deleteRule = .cascadeDeleteRule
        connect(suppliers, items)
        let count = NSDerivedAttributeDescription()
        count.name = "supplierCount"
        count.attributeType = .integer64AttributeType
        count.derivationExpression = DerivationExpression.compiled(NSExpression(forKeyPath: "suppliers.@count"))
        let size = NSCompositeAttributeDescription()
        size.name = "size"
        size.elements = [attribute("width", .doubleAttributeType), attribute("height", .doubleAttributeType)]
        let cheap = NSFetchedPropertyDescription()
        cheap.name = "cheap"
        cheap.isTransient = true
        var cheapRequest = FetchRequestTemplate(entityName: "Item")
        cheapRequest.predicate = try NSPredicate.parse("price < $FETCH_SOURCE.price AND titel BEGINSWITH[cd] \"a\"")
        cheapRequest.sortDescriptors = [NSSortDescriptor(key: "price", ascending: false)]
        cheap.fetchRequestTemplate = cheapRequest
        item.properties = [
            price, stock, isOld, weight, picture, code, made, page, title, color, suppliers, count, size, cheap,
        ]
        supplier.properties += [items]
        item.subentities = [perishable]
        item.uniquenessConstraints = [["code"], ["stock", "weight"]]
        item.userInfo = ["owner": "stock"]
        perishable.versionHashModifier = "x"
        supplier.isAbstract = false
        let index = NSFetchIndexDescription(
            name: "byPrice", elements: [NSFetchIndexElementDescription(property: price, collationType: .binary)])
        index.elements[0].isAscending = false
        index.partialIndexPredicate = try NSPredicate.parse("stock > 0")
        item.indexes = [index]
        let model = NSManagedObjectModel()
        model.entities = [item, supplier, perishable]
        model.versionIdentifiers = ["1.0"]
        model.setEntities([item, perishable], forConfigurationName: "Goods")
        var template = FetchRequestTemplate(entityName: "Supplier")
        template.predicate = try NSPredicate.parse(
            "name == $NAME OR name IN {\"a\", \"b\"} OR SUBQUERY(items, $i, $i.stock > 3).@count > 2")
        template.fetchLimit = 5
        template.returnsDistinctResults = true
        model.fetchRequestTemplates["byName"] = template
        return model
    }
}
