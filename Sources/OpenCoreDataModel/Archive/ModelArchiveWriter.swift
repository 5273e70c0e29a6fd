import Predicates

/// Writes a model as the keyed archive that compiled models and stores hold.
///
/// Class names, keys and structure are those of archives that Apple's framework writes for a model
/// that has not been in use: each entity lists its own properties only. Not written are default
/// values of an application's own classes, names for Spotlight, and the columns, groups and
/// prefetched relationships of fetch request templates.
final class ModelArchiveWriter {
    private let writer: ObjectArchiveWriter
    private let predicates: PredicateArchiveWriter
    private let model: NSManagedObjectModel

    /// Returns the archive of a model. Cost: O(size of the model).
    /// - Throws: `ModelReadingError` when a predicate holds a closure, which cannot be archived.
    static func data(of model: NSManagedObjectModel) throws -> Data {
        try ObjectArchiveWriter.data { writer in
            ModelArchiveWriter(writer: writer, model: model).root()
        }
    }

    private init(writer: ObjectArchiveWriter, model: NSManagedObjectModel) {
        self.writer = writer
        self.model = model
        predicates = PredicateArchiveWriter(writer: writer)
    }

    private func root() -> PropertyListValue {
        writer.shared(model, ["NSManagedObjectModel"]) { [self] in
            var entries: ObjectArchiveWriter.Entries = [:]
            entries["NSEntities"] = writer.dictionary(
                model.entities.map { ($0.name ?? "", reference(to: $0)) }, isMutable: true)
            entries["NSFetchRequestTemplates"] = ObjectArchiveWriter.null
            if !model.fetchRequestTemplates.isEmpty {
                entries["NSFetchRequestTemplates"] = writer.dictionary(
                    model.fetchRequestTemplates.map { ($0.key, reference(to: $0.value)) }, isMutable: true)
            }
            if let texts = model.localizationDictionary {
                entries[ModelArchiveKeys.localization] = writer.plainValue(texts)
            }
            let identifiers = model.versionIdentifiers.compactMap { writer.plainValue($0.base) }
            entries["NSVersionIdentifiers"] = writer.array(identifiers, className: "NSSet")
            if !model.configurations.isEmpty {
                entries["NSConfigurations"] = writer.dictionary(
                    model.configurations.map { name in
                        let members = model.entities(forConfigurationName: name) ?? []
                        return (name, writer.array(members.map { reference(to: $0) }, className: "NSSet"))
                    }, isMutable: true)
            }
            return entries
        }
    }

    // MARK: Entities

    private func reference(to entity: NSEntityDescription?) -> PropertyListValue {
        guard let entity else { return ObjectArchiveWriter.null }
        return writer.shared(entity, ["NSEntityDescription"]) { [self] in
            var entries: ObjectArchiveWriter.Entries = [
                "NSEntityName": writer.text(entity.name),
                "NSClassNameForEntity": writer.text(entity.managedObjectClassName),
                "NSRenamingIdentifier": writer.text(entity.renamingIdentifier),
                "NSVersionHashModifier": writer.text(entity.versionHashModifier),
                "NSUserInfo": userInfo(entity.userInfo),
                "NSManagedObjectModel": root(), "NSSuperentity": reference(to: entity.superentity),
                "NSSubentities": writer.dictionary(
                    entity.subentities.map { ($0.name ?? "", reference(to: $0)) }, isMutable: true),
                "NSProperties": writer.dictionary(
                    entity.ownProperties.map { ($0.name, reference(to: $0)) }, isMutable: true),
            ]
            if entity.isAbstract { entries["NSIsAbstract"] = .boolean(true) }
            if !entity.uniquenessConstraintNames.isEmpty {
                entries["NSUniqueTuples"] = lists(of: entity.uniquenessConstraintNames)
            }
            let compound = entity.compoundIndexes.map { $0.compactMap { $0 as? String } }
            if !compound.isEmpty { entries["NSCompoundIndexes"] = lists(of: compound) }
            if !entity.indexes.isEmpty {
                entries["NSFetchIndexDescriptions"] = writer.array(
                    entity.indexes.map { reference(to: $0) }, className: "NSMutableArray")
            }
            return entries
        }
    }

    private func lists(of lists: [[String]]) -> PropertyListValue {
        writer.array(
            lists.map { writer.array($0.map { writer.text($0) }, className: "NSMutableArray") },
            className: "NSMutableArray")
    }

    private func userInfo(_ info: [AnyHashable: Any]?) -> PropertyListValue {
        writer.plainValue(info ?? [:]) ?? ObjectArchiveWriter.null
    }

    private func reference(to index: NSFetchIndexDescription) -> PropertyListValue {
        writer.shared(index, ["NSFetchIndexDescription"]) { [self] in
            [
                "NSIndexName": writer.text(index.name), "NSEntity": reference(to: index.entity),
                "NSPartialIndexPredicate": try reference(to: index.partialIndexPredicate),
                "NSIndexElements": writer.array(index.elements.map { reference(to: $0, in: index) }),
            ]
        }
    }

    private func reference(
        to element: NSFetchIndexElementDescription, in index: NSFetchIndexDescription
    ) -> PropertyListValue {
        writer.shared(element, ["NSFetchIndexElementDescription"]) { [self] in
            var entries: ObjectArchiveWriter.Entries = [
                "NSPropertyName": writer.text(element.propertyName),
                "NSFetchIndexElementType": .integer(Int64(element.collationType.rawValue)),
                "NSFetchIndexDescription": reference(to: index), "NSAscending": .boolean(element.isAscending),
            ]
            if let expression = element.property as? NSExpressionDescription {
                entries["NSProperty"] = reference(to: expression)
            }
            return entries
        }
    }

    // MARK: Properties

    private func reference(to property: NSPropertyDescription) -> PropertyListValue {
        writer.shared(property, Self.classNames(of: property)) { [self] in
            var entries = try common(property)
            switch property {
            case let attribute as NSAttributeDescription: try add(attribute, to: &entries)
            case let relationship as NSRelationshipDescription: add(relationship, to: &entries)
            case let fetched as NSFetchedPropertyDescription:
                entries["NSIsReadOnly"] = .boolean(true)
                entries["_NSFetchRequestEntityName"] = writer.text(fetched.fetchRequestTemplate?.entityName)
                entries["NSFetchRequest"] =
                    fetched.fetchRequestTemplate.map { reference(to: $0) } ?? ObjectArchiveWriter.null
            case let description as NSExpressionDescription:
                entries["NSExpression"] = try reference(to: description.expression)
                entries["NSExpressionResultType"] = .integer(Int64(description.expressionResultType.rawValue))
            default: break
            }
            return entries
        }
    }

    private static func classNames(of property: NSPropertyDescription) -> [String] {
        let classes: [NSPropertyDescription.Type] = [
            NSDerivedAttributeDescription.self, NSCompositeAttributeDescription.self, NSAttributeDescription.self,
            NSRelationshipDescription.self, NSFetchedPropertyDescription.self, NSExpressionDescription.self,
            NSPropertyDescription.self,
        ]
        return classes.filter { ClassLookup.inherits(type(of: property), from: $0) }.map { "\($0)" }
    }

    private func common(_ property: NSPropertyDescription) throws -> ObjectArchiveWriter.Entries {
        typealias Bits = ModelArchiveKeys.PropertyBits
        var bits = Bits.always
        var entries: ObjectArchiveWriter.Entries = [
            "NSPropertyName": writer.text(property.name),
            "NSRenamingIdentifier": writer.text(property.renamingIdentifier),
            "NSEntity": reference(to: property.owningEntity),
        ]
        if property.isOptional {
            bits |= Bits.optional
            entries["NSIsOptional"] = .boolean(true)
        }
        if property.isTransient {
            bits |= Bits.transient
            entries["NSIsTransient"] = .boolean(true)
        }
        if property is NSFetchedPropertyDescription || property is NSDerivedAttributeDescription {
            bits |= Bits.readOnly
        }
        if (property as? NSRelationshipDescription)?.isOrdered == true { bits |= Bits.ordered }
        if property.validationPredicates.isEmpty {
            bits |= Bits.noValidation
        } else {
            entries["NSValidationPredicates"] = writer.array(
                try property.validationPredicates.map { try predicates.reference(to: $0) })
            entries["NSValidationWarnings"] = writer.array(
                property.validationWarnings.map { writer.plainValue($0) ?? writer.text("") })
        }
        if let info = property.userInfo, !info.isEmpty {
            entries["NSUserInfo"] = userInfo(info)
        } else {
            bits |= Bits.noUserInfo
        }
        if let modifier = property.versionHashModifier {
            entries["NSVersionHashModifier"] = writer.text(modifier)
        } else {
            bits |= Bits.noModifier
        }
        if property.isIndexedBySpotlight { entries[ModelArchiveKeys.indexedBySpotlight] = .boolean(true) }
        if property.isIndexed { entries["NSIsIndexed"] = .boolean(true) } else { entries["_P"] = .integer(Int64(bits)) }
        return entries
    }

    private func add(_ attribute: NSAttributeDescription, to entries: inout ObjectArchiveWriter.Entries) throws {
        entries["NSAttributeType"] = .integer(Int64(attribute.attributeType.rawValue))
        entries["NSAttributeValueClassName"] = writer.text(attribute.attributeValueClassName)
        entries["NSValueTransformerName"] = writer.text(attribute.valueTransformerName)
        entries["NSDefaultValue"] = attribute.defaultValue.flatMap { writer.plainValue($0) } ?? ObjectArchiveWriter.null
        let flags =
            (attribute.allowsExternalBinaryDataStorage ? ModelArchiveKeys.externalStorageFlag : 0)
            | (attribute.preservesValueInHistoryOnDeletion ? ModelArchiveKeys.preservedOnDeletionFlag : 0)
        entries["NSFlagsKey"] = .integer(Int64(flags))
        if attribute.allowsCloudEncryption { entries[ModelArchiveKeys.cloudEncryption] = .boolean(true) }
        if let derived = attribute as? NSDerivedAttributeDescription {
            entries["NSIsReadOnly"] = .boolean(true)
            entries["NSFilteringPredicate"] = ObjectArchiveWriter.null
            entries["NSDerivationExpression"] = try reference(to: derived.derivationExpression)
        }
        if let composite = attribute as? NSCompositeAttributeDescription {
            entries[ModelArchiveKeys.compositeElements] = writer.array(composite.elements.map { reference(to: $0) })
        }
    }

    private func add(_ relationship: NSRelationshipDescription, to entries: inout ObjectArchiveWriter.Entries) {
        entries["NSDestinationEntity"] = reference(to: relationship.destinationEntity)
        entries["_NSDestinationEntityName"] = writer.text(relationship.destinationEntity?.name)
        entries["NSInverseRelationship"] =
            relationship.inverseRelationship.map { reference(to: $0) } ?? ObjectArchiveWriter.null
        entries["_NSInverseRelationshipName"] = writer.text(relationship.inverseRelationship?.name)
        entries["NSDeleteRule"] = .integer(Int64(relationship.deleteRule.rawValue))
        entries["NSMaxCount"] = .integer(Int64(Int32(exactly: relationship.maxCount) ?? -1))
        entries["NSMinCount"] = .integer(Int64(Int32(clamping: relationship.minCount)))
        if relationship.isOrdered { entries["NSIsOrdered"] = .boolean(true) }
    }

    private func reference(to expression: NSExpression?) throws -> PropertyListValue {
        try expression.map { try predicates.reference(to: $0) } ?? ObjectArchiveWriter.null
    }

    private func reference(to predicate: NSPredicate?) throws -> PropertyListValue {
        try predicate.map { try predicates.reference(to: $0) } ?? ObjectArchiveWriter.null
    }

    // MARK: Fetch requests

    private func reference(to template: FetchRequestTemplate) -> PropertyListValue {
        writer.object(["NSFetchRequest", "NSPersistentStoreRequest"]) { [self] in
            let entity = model.entitiesByName[template.entityName]
            var entries: ObjectArchiveWriter.Entries = [
                "NSEntity": reference(to: entity), "NSHasFetchRequestFlags": .boolean(true),
                "NSFetchRequestFlags": .integer(Int64(ModelArchiveKeys.fetchFlags(of: template))),
                "NSResultType": .integer(Int64(template.resultType)),
                "NSFetchLimit": .integer(Int64(template.fetchLimit)),
                "NSFetchOffset": .integer(Int64(template.fetchOffset)),
                "NSBatchSize": .integer(Int64(template.fetchBatchSize)), "NSAllocationType": .integer(0),
                "NSPredicate": try reference(to: template.predicate),
                "NSSortDescriptors": template.sortDescriptors.isEmpty
                    ? ObjectArchiveWriter.null
                    : writer.array(try template.sortDescriptors.map { try predicates.reference(to: $0) }),
            ]
            if entity == nil { entries["NSEntityName"] = writer.text(template.entityName) }
            for key in [
                "NSValuesToFetch", "NSValuesToGroupBy", "NSHavingPredicate", "NSRelationshipKeyPathsForPrefetching",
            ] { entries[key] = ObjectArchiveWriter.null }
            return entries
        }
    }
}
