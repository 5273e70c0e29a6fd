import Foundation

@testable import CoreData

/// Everything a model says, as sorted lines that can be compared.
enum ModelText {
    static func lines(of model: NSManagedObjectModel) -> [String] {
        var lines = ["identifiers \(model.versionIdentifiers.map { "\($0)" }.sorted())"]
        for entity in model.entities { lines += self.lines(of: entity) }
        for name in model.configurations {
            let members = model.entities(forConfigurationName: name) ?? []
            lines.append("configuration \(name): \(members.compactMap(\.name).sorted())")
        }
        for (name, template) in model.fetchRequestTemplates { lines.append("template \(name): \(text(template))") }
        return lines.sorted()
    }

    private static func lines(of entity: NSEntityDescription) -> [String] {
        let name = entity.name ?? ""
        var lines = [
            "\(name): class \(entity.managedObjectClassName ?? "") abstract \(entity.isAbstract) super "
                + "\(entity.superentity?.name ?? "-") sub \(entity.subentities.compactMap(\.name).sorted()) renaming "
                + "\(entity.renamingIdentifier ?? "") modifier \(entity.versionHashModifier ?? "-") info "
                + "\(text(entity.userInfo)) unique \(entity.uniquenessConstraintNames) hash "
                + entity.versionHash.base64EncodedString()
        ]
        for index in entity.indexes {
            let elements = index.elements.map {
                "\($0.propertyName ?? "") \($0.collationType) \($0.isAscending) \($0.property?.owningEntity === entity)"
            }
            lines.append(
                "\(name) index \(index.name): \(elements) \(index.partialIndexPredicate?.predicateFormat ?? "-")")
        }
        lines += entity.properties.map { "\(name).\($0.name) of \($0.entity.name ?? ""): \(text($0))" }
        return lines
    }

    private static func text(_ property: NSPropertyDescription) -> String {
        var text =
            "\(type(of: property)) optional \(property.isOptional) transient \(property.isTransient) renaming "
            + "\(property.renamingIdentifier ?? "") modifier \(property.versionHashModifier ?? "-") info "
            + "\(self.text(property.userInfo)) validation \(property.validationPredicates.map(\.predicateFormat)) "
            + "\(property.validationWarnings)"
        switch property {
        case let attribute as NSAttributeDescription:
            text +=
                " type \(attribute.attributeType.rawValue) class \(attribute.attributeValueClassName ?? "-") default "
            text += "\(attribute.defaultValue.map { "\($0) \(type(of: $0))" } ?? "-") transformer "
            text +=
                "\(attribute.valueTransformerName ?? "-") external \(attribute.allowsExternalBinaryDataStorage) kept "
            text += "\(attribute.preservesValueInHistoryOnDeletion)"
            if let derived = attribute as? NSDerivedAttributeDescription {
                text += " derivation \(derived.derivationExpression.map { "\($0)" } ?? "-")"
            }
            if let composite = attribute as? NSCompositeAttributeDescription {
                text += " elements \(composite.elements.map { "\($0.name): \(self.text($0))" })"
            }
        case let relationship as NSRelationshipDescription:
            text += " to \(relationship.destinationEntity?.name ?? "-") inverse "
            text += "\(relationship.inverseRelationship.map { "\($0.entity.name ?? "").\($0.name)" } ?? "-") "
            text += "\(relationship.minCount)...\(relationship.maxCount) rule \(relationship.deleteRule) ordered "
            text += "\(relationship.isOrdered)"
        case let fetched as NSFetchedPropertyDescription:
            text += " fetch \(fetched.fetchRequestTemplate.map { self.text($0) } ?? "-")"
        default: break
        }
        return text
    }

    private static func text(_ template: FetchRequestTemplate) -> String {
        let order = template.sortDescriptors.map { "\($0.key ?? "") \($0.ascending)" }
        return "\(template.entityName) \(template.predicate?.predicateFormat ?? "-") \(order) \(template.fetchLimit) "
            + "\(template.fetchOffset) \(template.fetchBatchSize) \(template.resultType) "
            + "\(template.includesSubentities) "
            + "\(template.includesPropertyValues) \(template.includesPendingChanges) "
            + "\(template.returnsObjectsAsFaults) "
            + "\(template.returnsDistinctResults)"
    }

    private static func text(_ info: [AnyHashable: Any]?) -> String {
        "\((info ?? [:]).map { "\($0.key)=\($0.value)" }.sorted())"
    }
}
