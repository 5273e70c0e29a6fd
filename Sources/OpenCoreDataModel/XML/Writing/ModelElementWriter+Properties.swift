import Foundation

extension ModelElementWriter {
    mutating func element(of property: NSPropertyDescription, in entity: NSEntityDescription) -> ModelElementText {
        let place = "\(entity.name ?? "").\(property.name)"
        switch property {
        case let attribute as NSAttributeDescription:
            // Reading a file marks an attribute that has an index of its own as indexed.
            let hasIndex = property.isIndexed && Self.hasOwnIndex(property, entity)
            return element(of: attribute, place, isIndexed: property.isIndexed && !hasIndex)
        case let relationship as NSRelationshipDescription: return element(of: relationship, place)
        case let fetched as NSFetchedPropertyDescription: return element(of: fetched, place)
        default:
            omit(place, "a property of the class \(type(of: property)) has no place in model files.")
            return ModelElementText("property")
        }
    }

    private static func hasOwnIndex(_ property: NSPropertyDescription, _ entity: NSEntityDescription) -> Bool {
        let hasIndex = entity.indexes.contains { index in
            guard let only = index.elements.first, index.elements.count == 1 else { return false }
            return only.property === property && only.isAscending && only.collationType == .binary
        }
        return hasIndex || entity.subentities.contains { hasOwnIndex(property, $0) }
    }

    private func start(_ name: String, _ property: NSPropertyDescription) -> ModelElementText {
        ModelElementText(name, ("name", property.name), ("optional", property.isOptional ? "YES" : nil))
    }

    private mutating func finish(
        _ element: inout ModelElementText, _ property: NSPropertyDescription, _ place: String
    ) -> ModelElementText {
        element.add("spotlightIndexingEnabled", if: property.isIndexedBySpotlight)
        element.add("versionHashModifier", property.versionHashModifier)
        element.add("elementID", property.renamingIdentifier == property.name ? nil : property.renamingIdentifier)
        if let info = userInfo(property.userInfo, place) { element.children.append(info) }
        return checked(element, place)
    }

    // MARK: Attributes

    mutating func element(of attribute: NSAttributeDescription, _ place: String, isIndexed: Bool) -> ModelElementText {
        let type = attribute.attributeType
        var element = start("attribute", attribute)
        element.add("transient", if: attribute.isTransient)
        element.add("attributeType", type.name)
        if let composite = attribute as? NSCompositeAttributeDescription {
            element.add("composite", nameOfComposite(of: composite, place))
        }
        element.add("indexed", if: isIndexed)
        addLimits(of: attribute, to: &element, place)
        addDefault(of: attribute, to: &element, place)
        if let derived = attribute as? NSDerivedAttributeDescription, let expression = derived.derivationExpression {
            let text = DerivationExpression.editableText(of: expression)
            if text == nil { omit(place, "its derivation '\(expression)' cannot be written.") }
            element.add("derived", "YES")
            element.add("derivationExpression", text)
        }
        element.add("valueTransformerName", attribute.valueTransformerName)
        if let className = attribute.attributeValueClassName, className != type.valueClassName {
            element.add("customClassName", className)
            omit(place, "the class of its values, \(className), is written but for generated code only.")
        }
        element.add("allowsExternalBinaryDataStorage", if: attribute.allowsExternalBinaryDataStorage)
        element.add("allowsCloudEncryption", if: attribute.allowsCloudEncryption)
        switch type {
        case .dateAttributeType, .UUIDAttributeType: element.add("usesScalarValueType", "NO")
        default: element.add("usesScalarValueType", if: type.valueClassName == "NSNumber")
        }
        element.add("preserveAfterDeletion", if: attribute.preservesValueInHistoryOnDeletion)
        return finish(&element, attribute, place)
    }

    private mutating func addLimits(
        of attribute: NSAttributeDescription, to element: inout ModelElementText, _ place: String
    ) {
        let limits = AttributeLimits(of: attribute)
        let texts = AttributeTexts(type: attribute.attributeType)
        for (value, number, date) in [
            (limits.least, "minValueString", "minDateTimeInterval"),
            (limits.greatest, "maxValueString", "maxDateTimeInterval"),
        ] {
            guard let value else { continue }
            if let text = texts.text(ofLimit: value) {
                element.add(value is Date ? date : number, text)
            } else {
                omit(place, "the limit \(value) is not a value of its type.")
            }
        }
        element.add("minValueString", limits.shortest.map { "\($0)" })
        element.add("maxValueString", limits.longest.map { "\($0)" })
        element.add("regularExpressionString", limits.pattern)
        for other in limits.others { omit(place, "the validation '\(other)' has no place in model files.") }
    }

    private mutating func addDefault(
        of attribute: NSAttributeDescription, to element: inout ModelElementText, _ place: String
    ) {
        guard let value = attribute.defaultValue, !(value is NSNull) else { return }
        guard let text = AttributeTexts(type: attribute.attributeType).text(ofDefault: value) else {
            return omit(place, "its default value cannot be written.")
        }
        element.add(
            attribute.attributeType == .dateAttributeType ? "defaultDateTimeInterval" : "defaultValueString", text)
    }

    // MARK: Relationships

    private mutating func element(of relationship: NSRelationshipDescription, _ place: String) -> ModelElementText {
        var element = start("relationship", relationship)
        element.add("transient", if: relationship.isTransient)
        element.add("indexed", if: relationship.isIndexed)
        element.add("toMany", if: relationship.isToMany)
        if relationship.minCount != 0 { element.add("minCount", "\(relationship.minCount)") }
        if relationship.maxCount != 0 { element.add("maxCount", "\(relationship.maxCount)") }
        element.add("deletionRule", ModelElementReader.deleteRules.first { $0.value == relationship.deleteRule }?.key)
        element.add("ordered", if: relationship.isOrdered)
        element.add("destinationEntity", relationship.destinationEntity?.name)
        if let inverse = relationship.inverseRelationship {
            element.add("inverseName", inverse.name)
            element.add("inverseEntity", inverse.owningEntity?.name)
        }
        omitValidation(of: relationship, place)
        return finish(&element, relationship, place)
    }

    // MARK: Fetched properties

    private mutating func element(of fetched: NSFetchedPropertyDescription, _ place: String) -> ModelElementText {
        var element = start("fetchedProperty", fetched)
        if let template = fetched.fetchRequestTemplate {
            element.children.append(self.element(of: template, named: "fetchedPropertyFetchRequest", place: place))
        }
        omitValidation(of: fetched, place)
        return finish(&element, fetched, place)
    }

    private mutating func omitValidation(of property: NSPropertyDescription, _ place: String) {
        for predicate in property.validationPredicates {
            omit(place, "the validation '\(predicate.predicateFormat)' has no place in model files.")
        }
    }
}
