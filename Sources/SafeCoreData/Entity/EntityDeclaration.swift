/// The description of an entity by an `@Entity` class: the part of a model that one class declares.
///
/// Generated code fills it. Each declaration creates its own descriptions, which become part of one
/// model.
public struct _EntityDeclaration {
    /// A relationship with its destination and inverse, which are resolved in the whole model.
    struct Relationship {
        let description: NSRelationshipDescription
        let destination: NSManagedObject.Type
        /// The name of the inverse property, if this side declares it.
        let inverse: String?
    }

    /// The class itself.
    public let objectClass: NSManagedObject.Type
    /// The entity's name.
    public let name: String
    let isAbstract: Bool
    let indexes: [[String]]
    let renamingIdentifier: String?
    let versionHashModifier: String?
    let userInfo: [String: String]
    private(set) var uniquenessConstraints: [[String]]
    private(set) var properties: [NSPropertyDescription] = []
    private(set) var relationships: [Relationship] = []
    /// Problems, as sentences: options that the compiler could not compare with their attribute's
    /// type, and that no model can express.
    private(set) var problems: [String] = []
    private(set) var names: [AnyKeyPath: String] = [:]

    public init(
        _ objectClass: NSManagedObject.Type, named name: String, isAbstract: Bool = false,
        uniquenessConstraints: [[String]] = [], indexes: [[String]] = [], renamingIdentifier: String? = nil,
        versionHashModifier: String? = nil, userInfo: [String: String] = [:]
    ) {
        self.objectClass = objectClass
        self.name = name
        self.isAbstract = isAbstract
        self.uniquenessConstraints = uniquenessConstraints
        self.indexes = indexes
        self.renamingIdentifier = renamingIdentifier
        self.versionHashModifier = versionHashModifier
        self.userInfo = userInfo
    }

    // MARK: Properties without a macro of their own

    /// Adds an attribute.
    public mutating func add<Kind: _AttributeKind>(
        _ name: String, _ keyPath: AnyKeyPath, _ kind: Kind.Type, default value: Kind.Value? = nil,
        initial: (@Sendable () -> Kind.Value)? = nil
    ) {
        addAttribute(name, keyPath, kind, default: value, initial: initial)
    }

    /// Adds a relationship. Its initial value applies only to new objects.
    public mutating func add<Kind: _RelationshipKind>(
        _ name: String, _ keyPath: AnyKeyPath, _ kind: Kind.Type, initial: (@Sendable () -> Kind.Value)? = nil
    ) {
        addRelationship(name, keyPath, kind)
    }

    // MARK: Attributes

    /// Adds an attribute with options.
    ///
    /// - Parameters:
    ///   - name: the attribute's name.
    ///   - keyPath: the property of the class.
    ///   - kind: the storage of the property's type.
    ///   - value: the model's default.
    ///   - initial: returns the value for objects that were stored before the attribute existed;
    ///     called once for a migration.
    ///   - options: the options of `@Attribute`.
    ///   - originalName: the name in the first version of the model that had it, for migrations.
    ///   - versionHashModifier: a text that makes the version hash differ.
    ///   - userInfo: entries of the model for programs and stores.
    public mutating func addAttribute<Kind: _AttributeKind>(
        _ name: String, _ keyPath: AnyKeyPath, _ kind: Kind.Type, default value: Kind.Value? = nil,
        initial: (@Sendable () -> Kind.Value)? = nil, options: [AttributeOption] = [], originalName: String? = nil,
        versionHashModifier: String? = nil, userInfo: [String: String] = [:]
    ) {
        guard let attribute = kind.describe() as? NSAttributeDescription else { return }
        if let value, let composite = attribute as? NSCompositeAttributeDescription {
            composite.setDefaults(kind.modelValue(value) as? [String: Any] ?? [:])
        } else if let value {
            attribute.defaultValue = kind.modelValue(value)
            if attribute.isTransient, !(Kind.Value.self is any OptionalValue.Type) { attribute.isOptional = false }
        }
        if let initial { attribute.valueForExistingRows = { Kind.modelValue(initial()) } }
        for option in options { apply(option, to: attribute, named: name) }
        append(attribute, name, keyPath, originalName, versionHashModifier)
        if !userInfo.isEmpty { attribute.userInfo = (attribute.userInfo ?? [:]).merging(userInfo) { $1 } }
    }

    /// Adds an attribute that the store computes.
    public mutating func addDerived<Kind: _AttributeKind>(
        _ name: String, _ keyPath: AnyKeyPath, _ kind: Kind.Type, from expression: String
    ) {
        guard let attribute = kind.describe() as? NSAttributeDescription else { return }
        let derived = NSDerivedAttributeDescription()
        derived.attributeType = attribute.attributeType
        derived.isOptional = attribute.isOptional
        derived.holdsJSON = attribute.holdsJSON
        derived.derive(from: expression)
        append(derived, name, keyPath, nil, nil)
    }

    private mutating func apply(_ option: AttributeOption, to attribute: NSAttributeDescription, named name: String) {
        let type = attribute.attributeType
        switch option.content {
        case .unique: uniquenessConstraints.append([name])
        case .externalStorage: attribute.allowsExternalBinaryDataStorage = true
        case .transformable(let transformer): attribute.valueTransformerName = transformer
        case .preservedOnDeletion: attribute.preservesValueInHistoryOnDeletion = true
        case .spotlight: attribute.isIndexedBySpotlight = true
        case .cloudEncryption: attribute.allowsCloudEncryption = true
        case .range(let least, let greatest):
            let bounds = [least, greatest].compactMap { $0 }
            if type == .dateAttributeType {
                guard bounds.allSatisfy({ $0.date != nil }) else {
                    return problems.append("\(self.name).\(name) is a date: its range needs dates.")
                }
                attribute.limit(by: AttributeLimit.dates(from: least?.date, to: greatest?.date))
            } else {
                guard type.isNumeric else {
                    return problems.append("\(self.name).\(name) is not a number or a date: it has no range.")
                }
                guard bounds.allSatisfy({ $0.number(for: type) != nil }) else {
                    return problems.append("\(self.name).\(name) is a number: its range needs numbers.")
                }
                attribute.limit(
                    by: AttributeLimit.numbers(from: least?.number(for: type), to: greatest?.number(for: type)))
            }
        case .length(let least, let greatest):
            guard type == .stringAttributeType else {
                return problems.append("\(self.name).\(name) is not a text: it has no length.")
            }
            attribute.limit(
                by: AttributeLimit.lengths(
                    from: least.map { NSNumber(value: $0) }, to: greatest.map { NSNumber(value: $0) }))
        case .pattern(let pattern):
            guard type == .stringAttributeType else {
                return problems.append("\(self.name).\(name) is not a text: it has no pattern.")
            }
            attribute.limit(by: [AttributeLimit.pattern(pattern)])
        }
    }

    // MARK: Relationships

    /// Adds a relationship with its rules.
    public mutating func addRelationship<Kind: _RelationshipKind>(
        _ name: String, _ keyPath: AnyKeyPath, _ kind: Kind.Type, inverse: String? = nil,
        deleteRule: NSDeleteRule = .nullify, minimum: Int = 0, maximum: Int = 0, optional: Bool? = nil,
        ordered: Bool? = nil,
        originalName: String? = nil, versionHashModifier: String? = nil, userInfo: [String: String] = [:]
    ) {
        guard let relationship = kind.describe() as? NSRelationshipDescription else { return }
        relationship.deleteRule = deleteRule
        relationship.minCount = minimum
        if relationship.isToMany {
            relationship.maxCount = maximum
            relationship.isOptional = optional ?? (minimum == 0)
        }
        if let ordered { relationship.isOrdered = ordered }
        relationships.append(
            Relationship(description: relationship, destination: Kind.Destination.self, inverse: inverse))
        append(relationship, name, keyPath, originalName, versionHashModifier)
        if !userInfo.isEmpty { relationship.userInfo = userInfo }
    }

    private mutating func append(
        _ property: NSPropertyDescription, _ name: String, _ keyPath: AnyKeyPath, _ originalName: String?,
        _ versionHashModifier: String?
    ) {
        property.name = name
        (property as? NSCompositeAttributeDescription)?.takeName()
        if let originalName { property.renamingIdentifier = originalName }
        if let versionHashModifier { property.versionHashModifier = versionHashModifier }
        properties.append(property)
        names[keyPath] = name
    }
}

extension NSAttributeDescription {
    /// Adds limits to the attribute's existing ones.
    fileprivate func limit(by limits: [AttributeLimit]) {
        setValidation(
            predicates: validationPredicates + limits.map(\.predicate),
            warnings: validationWarnings + limits.map { NSNumber(value: $0.code) })
    }
}
