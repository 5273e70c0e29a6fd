import CoreData

/// A property of an entity.
struct PropertySchema {
    enum Kind: String {
        case attribute, relationship
        case fetchedProperty = "fetched property"
    }

    let kind: Kind
    let name: String
    /// The name by which a migration finds the property in an older model.
    let renamingIdentifier: String
    /// The type of an attribute, or the destination of another property.
    let type: SchemaFact
    /// Everything but the type.
    let facts: [SchemaFact]
    /// The elements of a composite attribute.
    var elements: [PropertySchema] = []
    /// Whether there are elements that are not shown because they are nested too deeply.
    private(set) var hidesElements = false

    /// More levels of composite attributes than any model has.
    private static let greatestDepth = 16

    init(_ property: NSPropertyDescription, depth: Int = 0) {
        name = property.name
        renamingIdentifier = property.renamingIdentifier ?? property.name
        switch property {
        case let attribute as NSAttributeDescription:
            kind = .attribute
            type = .text("type", "type", attribute.attributeType.displayName)
            facts = Self.common(property) + Self.facts(of: attribute) + Self.marks(property)
            let composite = attribute as? NSCompositeAttributeDescription
            if depth < Self.greatestDepth {
                elements = (composite?.elements ?? []).map { PropertySchema($0, depth: depth + 1) }
            } else {
                hidesElements = composite != nil
            }
        case let relationship as NSRelationshipDescription:
            kind = .relationship
            type = .text("destination", "destination", relationship.destinationEntity?.name ?? "nothing")
            facts =
                Self.cardinality(of: relationship) + Self.common(property) + Self.ends(of: relationship)
                + Self.validations(property.validationPredicates.map(\.predicateFormat)) + Self.marks(property)
        default:
            kind = .fetchedProperty
            let template = (property as? NSFetchedPropertyDescription)?.fetchRequestTemplate
            type = .text("destination", "destination", template?.entityName ?? "nothing")
            facts =
                SchemaFact.optional("predicate", "predicate", template?.predicate?.predicateFormat)
                + Self.common(property) + Self.marks(property)
        }
    }

    private static func common(_ property: NSPropertyDescription) -> [SchemaFact] {
        var facts = [SchemaFact.flag("isOptional", "optional", property.isOptional)]
        if property.isTransient { facts.append(.flag("isTransient", "transient")) }
        return facts
    }

    /// The facts that every property can have and few do.
    private static func marks(_ property: NSPropertyDescription) -> [SchemaFact] {
        var facts: [SchemaFact] = []
        if property.isIndexedBySpotlight { facts.append(.flag("isIndexedBySpotlight", "indexed by Spotlight")) }
        if let identifier = property.renamingIdentifier, identifier != property.name {
            facts.append(.text(SchemaFact.renamingIdentifierKey, "renaming identifier", identifier))
        }
        facts += SchemaFact.optional("versionHashModifier", "version hash modifier", property.versionHashModifier)
        return facts + SchemaFact.userInfo(property.userInfo)
    }

    private static func validations(_ formats: [String]) -> [SchemaFact] {
        if formats.isEmpty { return [] }
        let text = formats.joined(separator: "; ")
        return [.value("validations", "validation", .array(formats.map { .string($0) }), text)]
    }

    // MARK: Attributes

    private static func facts(of attribute: NSAttributeDescription) -> [SchemaFact] {
        var facts = defaultValue(of: attribute) + limits(of: attribute)
        if let derived = attribute as? NSDerivedAttributeDescription {
            let text = derived.derivationText ?? derived.derivationExpression.map { "\($0)" }
            facts += SchemaFact.optional("derivation", "derivation", text ?? "nothing")
        }
        if attribute.attributeType == .transformableAttributeType {
            facts += SchemaFact.optional("valueClass", "value class", attribute.attributeValueClassName)
        }
        facts += SchemaFact.optional("valueTransformer", "value transformer", attribute.valueTransformerName)
        if attribute.allowsExternalBinaryDataStorage {
            facts.append(.flag("allowsExternalStorage", "stored externally"))
        }
        if attribute.preservesValueInHistoryOnDeletion {
            facts.append(.flag("isPreservedAfterDeletion", "preserved after deletion"))
        }
        if attribute.allowsCloudEncryption { facts.append(.flag("allowsCloudEncryption", "encrypted in CloudKit")) }
        return facts
    }

    private static func defaultValue(of attribute: NSAttributeDescription) -> [SchemaFact] {
        guard let value = attribute.defaultValue, !(value is NSNull) else { return [] }
        func fact(_ value: JSONValue, _ text: String? = nil) -> [SchemaFact] {
            [.value("defaultValue", "default", value, text ?? value.compact)]
        }
        switch value {
        case let text as String: return fact(.string(text))
        case let date as Date: return fact(.string(DateText.text(of: date)), DateText.text(of: date))
        case let data as Data: return fact(.string(data.base64EncodedString()), "of \(data.count) bytes")
        case let number as NSNumber where attribute.attributeType == .booleanAttributeType:
            return fact(.bool(number.boolValue))
        default:
            guard let text = attribute.defaultValueText.map(shortened) else {
                return fact(.string("\(Swift.type(of: value))"), "of the class \(Swift.type(of: value))")
            }
            return fact(attribute.attributeType.isNumeric ? .number(text) : .string(text), text)
        }
    }

    private static func limits(of attribute: NSAttributeDescription) -> [SchemaFact] {
        let limits = AttributeLimits(of: attribute)
        func bound(_ key: String, _ label: String, _ value: Any?) -> [SchemaFact] {
            switch value {
            case nil: return []
            case let date as Date: return [.text(key, label, DateText.text(of: date))]
            case let value?:
                guard let text = attribute.limitText(value).map(shortened) else {
                    return [.text(key, label, "\(value)")]
                }
                return [.value(key, label, .number(text), text)]
            }
        }
        func length(_ key: String, _ label: String, _ count: Int?) -> [SchemaFact] {
            count.map { [.value(key, label, .integer($0), "\($0)")] } ?? []
        }
        return bound("minimum", "minimum", limits.least) + bound("maximum", "maximum", limits.greatest)
            + length("minimumLength", "minimum length", limits.shortest)
            + length("maximumLength", "maximum length", limits.longest)
            + SchemaFact.optional("pattern", "pattern", limits.pattern) + validations(limits.others)
    }

    /// Returns a number's text without a fraction of zero, which only tells the type.
    private static func shortened(_ text: String) -> String {
        text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }

    // MARK: Relationships

    private static func cardinality(of relationship: NSRelationshipDescription) -> [SchemaFact] {
        let isToMany = relationship.isToMany
        let text = isToMany ? "to-many" : "to-one"
        var facts = [SchemaFact.value("isToMany", "cardinality", .bool(isToMany), text, phrase: text)]
        if relationship.isOrdered { facts.append(.flag("isOrdered", "ordered")) }
        // Counts that "to-one" or "no limit" say already are compared, but not shown.
        if relationship.minCount != 0 {
            let (count, isShown) = (relationship.minCount, isToMany || relationship.minCount != 1)
            facts.append(
                .value("minCount", "minimum count", .integer(count), "\(count)", phrase: isShown ? nil : ""))
        }
        if relationship.maxCount != 0, isToMany {
            let (count, isShown) = (relationship.maxCount, relationship.maxCount != .max)
            facts.append(
                .value("maxCount", "maximum count", .integer(count), "\(count)", phrase: isShown ? nil : ""))
        }
        return facts
    }

    private static func ends(of relationship: NSRelationshipDescription) -> [SchemaFact] {
        var facts: [SchemaFact] = []
        if let inverse = relationship.inverseRelationship {
            let entity = inverse.owningEntity?.name
            let name = entity.map { "\($0).\(inverse.name)" } ?? inverse.name
            let value = JSONValue.object([.init("entity", .optional(entity)), .init("name", .string(inverse.name))])
            facts.append(.value("inverse", "inverse", value, name))
        }
        facts.append(.text("deleteRule", "delete rule", name(of: relationship.deleteRule)))
        return facts
    }

    private static func name(of rule: NSDeleteRule) -> String {
        switch rule {
        case .noActionDeleteRule: "no action"
        case .nullifyDeleteRule: "nullify"
        case .cascadeDeleteRule: "cascade"
        case .denyDeleteRule: "deny"
        }
    }
}
