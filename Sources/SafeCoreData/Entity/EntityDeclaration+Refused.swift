// Marks that do not fit their property do not compile: the compiler chooses these unavailable
// overloads only where no other one fits.

extension _EntityDeclaration {
    @available(
        *, unavailable,
        message: """
            @Relationship belongs on a property that leads to managed objects: Other?, Other, Set<Other>, [Other] or \
            NSOrderedSet
            """
    )
    @_disfavoredOverload
    public mutating func addRelationship<Kind>(
        _ name: String, _ keyPath: AnyKeyPath, _ kind: Kind.Type, inverse: String? = nil,
        deleteRule: NSDeleteRule = .nullify, minimum: Int = 0, maximum: Int = 0, optional: Bool? = nil,
        ordered: Bool? = nil,
        originalName: String? = nil, versionHashModifier: String? = nil, userInfo: [String: String] = [:]
    ) {}

    @available(
        *, unavailable,
        message: """
            @Attribute belongs on a property that holds a value: \
            for one that leads to managed objects write @Relationship
            """
    )
    public mutating func addAttribute<Kind: _RelationshipKind>(
        _ name: String, _ keyPath: AnyKeyPath, _ kind: Kind.Type, initial: (@Sendable () -> Kind.Value)? = nil,
        options: [AttributeOption] = [], originalName: String? = nil, versionHashModifier: String? = nil,
        userInfo: [String: String] = [:]
    ) {}

    // MARK: Options

    /// Returns the option, for an attribute that is a number or a date.
    public static func limitingNumber<Kind: _NumberOrDateKind>(_ kind: Kind.Type, _ option: AttributeOption)
        -> AttributeOption
    { option }

    @available(*, unavailable, message: "'.range' limits a number or a date: for a text write '.length' or '.pattern'")
    @_disfavoredOverload
    public static func limitingNumber<Kind>(_ kind: Kind.Type, _ option: AttributeOption) -> AttributeOption { option }

    /// Returns the option, for an attribute that is a text.
    public static func limitingText<Kind: _TextKind>(_ kind: Kind.Type, _ option: AttributeOption) -> AttributeOption {
        option
    }

    @available(*, unavailable, message: "'.length' and '.pattern' limit a text: for a number or a date write '.range'")
    @_disfavoredOverload
    public static func limitingText<Kind>(_ kind: Kind.Type, _ option: AttributeOption) -> AttributeOption { option }
}
