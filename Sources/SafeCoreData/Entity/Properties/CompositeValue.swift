/// A type whose values are stored as a composite attribute. Each element has its own column, so
/// that predicates, sort descriptors and indexes can use it (`address.city`). SwiftData stores
/// structures and enumerations in this way.
///
/// ```swift
/// struct Address: CompositeValue, Hashable {
///     var city: String
///     var zip: Int?
///
///     static let compositeElements: [CompositeElement] = [
///         .init("city", String.self), .init("zip", Int?.self),
///     ]
///
///     init(_ elements: CompositeElements) throws {
///         city = try elements.required("city")
///         zip = try elements.optional("zip")
///     }
///
///     func write(to elements: inout CompositeElements) {
///         elements.set("city", city)
///         elements.set("zip", zip)
///     }
/// }
/// ```
///
/// A property of such a type is a property of the entity: `var address: Address?`. A `Codable` type
/// without this conformance is stored as JSON in one binary attribute.
public protocol CompositeValue: Codable, PredicateComposite, SendableMetatype {
    /// The elements, in the order of their columns.
    static var compositeElements: [CompositeElement] { get }

    /// Creates a value from its elements. Throws if they do not form one.
    init(_ elements: CompositeElements) throws

    /// Writes the value to its elements; elements that it does not set are nil.
    func write(to elements: inout CompositeElements)

    /// Whether the model marks the attribute as an enumeration, as SwiftData does.
    static var isCompositeEnumeration: Bool { get }
}

extension CompositeValue {
    public static var isCompositeEnumeration: Bool { false }

    public static var _predicateElementNames: [String] { compositeElements.map(\.name) }

    public var _predicateElements: [String: Any] { CompositeElements.dictionary(of: self, property: "") }
}

/// A type with raw values that is stored as SwiftData stores enumerations with raw values: as a
/// composite attribute with one element, which holds the raw value and has the property's name
/// (`status.status` in predicates).
///
/// ```swift
/// enum Status: String, CompositeEnumeration { case open, closed }
/// request.predicate = NSPredicate(format: "status.status == 'open'")
/// ```
public protocol CompositeEnumeration: CompositeValue, RawRepresentable where RawValue: NativeAttributeValue {}

extension CompositeEnumeration {
    public static var isCompositeEnumeration: Bool { true }

    /// One element, which gets the property's name. The element is optional even if the property is
    /// not; a required property must have a value.
    public static var compositeElements: [CompositeElement] { [CompositeElement("", RawValue?.self)] }

    public init(_ elements: CompositeElements) throws {
        let raw: RawValue = try elements.required("")
        guard let value = Self(rawValue: raw) else { throw CompositeValueError("\(raw) stands for no \(Self.self)") }
        self = value
    }

    public func write(to elements: inout CompositeElements) { elements.set("", rawValue) }
}

/// An enumeration without raw values or associated values, stored as SwiftData stores it: as a
/// composite attribute with a text element for each case. The element of the present case holds the
/// name of the case.
///
/// ```swift
/// enum Kind: CompositeCases { case fresh, used }
/// request.predicate = NSPredicate(format: "kind.fresh != nil")
/// ```
public protocol CompositeCases: CompositeValue, CaseIterable {}

extension CompositeCases {
    public static var isCompositeEnumeration: Bool { true }

    public static var compositeElements: [CompositeElement] { allCases.map { CompositeElement("\($0)", String?.self) } }

    public init(_ elements: CompositeElements) throws {
        for value in Self.allCases {
            let name: String? = try elements.optional("\(value)")
            if name != nil {
                self = value
                return
            }
        }
        throw CompositeValueError("none of the cases of \(Self.self) is set")
    }

    public func write(to elements: inout CompositeElements) { elements.set("\(self)", "\(self)") }
}

/// One element of a composite attribute.
///
/// ```swift
/// static let compositeElements: [CompositeElement] = [
///     .init("city", String.self, default: "Graz"), .init("zip", Int?.self),
/// ]
/// ```
public struct CompositeElement: Sendable {
    let name: String
    private let make: @Sendable () -> NSAttributeDescription

    /// Creates an element of a native attribute type, which is required if the composite has a
    /// value.
    ///
    /// - Parameters:
    ///   - name: the element's name.
    ///   - type: the type of its values.
    ///   - value: the element's value in a new object, unless the property has an initial value.
    ///   - originalName: the name in the first version of the model that had it, for migrations.
    ///   - versionHashModifier: a text that makes the version hash differ.
    ///   - isPreservedOnDeletion: whether the history keeps the values of deleted objects.
    public init<Value: NativeAttributeValue>(
        _ name: String, _ type: Value.Type, default value: Value? = nil, originalName: String? = nil,
        versionHashModifier: String? = nil,
        isPreservedOnDeletion: Bool = false
    ) {
        self.init(name, type._attributeType, false, value, originalName, versionHashModifier, isPreservedOnDeletion)
    }

    /// Creates an element that may be nil.
    public init<Value: NativeAttributeValue>(
        _ name: String, _ type: Value?.Type, default value: Value? = nil, originalName: String? = nil,
        versionHashModifier: String? = nil,
        isPreservedOnDeletion: Bool = false
    ) {
        self.init(name, Value._attributeType, true, value, originalName, versionHashModifier, isPreservedOnDeletion)
    }

    /// Creates an element with the raw values of a type.
    public init<Value: RawRepresentable>(_ name: String, _ type: Value.Type)
    where Value.RawValue: NativeAttributeValue {
        self.init(name, Value.RawValue._attributeType, false, nil as Int?, nil, nil, false)
    }

    /// Creates an element with the raw values of a type, which may be nil.
    public init<Value: RawRepresentable>(_ name: String, _ type: Value?.Type)
    where Value.RawValue: NativeAttributeValue {
        self.init(name, Value.RawValue._attributeType, true, nil as Int?, nil, nil, false)
    }

    /// Creates a nested composite element.
    public init<Value: CompositeValue>(_ name: String, _ type: Value.Type) {
        self.init(name) { type.compositeAttribute(isOptional: false) }
    }

    /// Creates a nested composite element that may be nil.
    public init<Value: CompositeValue>(_ name: String, _ type: Value?.Type) {
        self.init(name) { Value.compositeAttribute(isOptional: true) }
    }

    /// Creates a nested composite element for a type with raw values.
    public init<Value: CompositeEnumeration>(_ name: String, _ type: Value.Type) {
        self.init(name) { type.compositeAttribute(isOptional: false) }
    }

    /// Creates a nested composite element for a type with raw values, which may be nil.
    public init<Value: CompositeEnumeration>(_ name: String, _ type: Value?.Type) {
        self.init(name) { Value.compositeAttribute(isOptional: true) }
    }

    /// Creates a binary element that holds any other `Codable` type as JSON.
    @_disfavoredOverload
    public init<Value: Codable>(_ name: String, _ type: Value.Type) {
        self.init(name, .binaryDataAttributeType, false, nil as Int?, nil, nil, false, holdsJSON: true)
    }

    @_disfavoredOverload
    public init<Value: Codable>(_ name: String, _ type: Value?.Type) {
        self.init(name, .binaryDataAttributeType, true, nil as Int?, nil, nil, false, holdsJSON: true)
    }

    private init(_ name: String, make: @escaping @Sendable () -> NSAttributeDescription) {
        self.name = name
        self.make = make
    }

    private init<Value: Sendable>(
        _ name: String, _ type: NSAttributeType, _ isOptional: Bool, _ value: Value?, _ originalName: String?,
        _ modifier: String?,
        _ isPreserved: Bool, holdsJSON: Bool = false
    ) {
        self.init(name) {
            let attribute = NSAttributeDescription()
            attribute.attributeType = type
            attribute.isOptional = isOptional
            attribute.defaultValue = value
            attribute.preservesValueInHistoryOnDeletion = isPreserved
            attribute.versionHashModifier = modifier
            attribute.holdsJSON = holdsJSON
            if let originalName { attribute.renamingIdentifier = originalName }
            return attribute
        }
    }

    fileprivate func attribute() -> NSAttributeDescription {
        let attribute = make()
        attribute.name = name
        (attribute as? NSCompositeAttributeDescription)?.takeName()
        return attribute
    }
}

extension CompositeValue {
    /// Returns the attribute of a property, without its name yet.
    static func compositeAttribute(isOptional: Bool) -> NSCompositeAttributeDescription {
        let attribute = NSCompositeAttributeDescription()
        attribute.isOptional = isOptional
        attribute.elements = compositeElements.map { $0.attribute() }
        if isCompositeEnumeration {
            var userInfo: [AnyHashable: Any] = [NSCompositeAttributeDescription.enumerationMark: true]
            // The list of cases marks an enumeration without raw values.
            let cases = attribute.elements.map(\.name)
            if !cases.contains("") { userInfo[NSCompositeAttributeDescription.casesKey] = cases }
            attribute.userInfo = userInfo
        }
        return attribute
    }
}

extension NSCompositeAttributeDescription {
    /// Names the element without a name after the attribute.
    func takeName() {
        for element in elements where element.name.isEmpty { element.name = name }
    }

    /// Sets the values of a composite value as the defaults of the elements.
    func setDefaults(_ values: [String: Any]) {
        for element in elements {
            let value = values[element.name]
            if let inner = element as? NSCompositeAttributeDescription {
                inner.setDefaults(value as? [String: Any] ?? [:])
            } else {
                element.defaultValue = value
            }
        }
    }
}

/// The reason why the elements of a composite attribute do not form a value.
///
/// ```swift
/// init(_ elements: CompositeElements) throws {
///     start = try elements.required("start")
///     end = try elements.required("end")
///     if end < start { throw CompositeValueError("the end comes before the start") }
/// }
/// ```
public struct CompositeValueError: LocalizedError, CustomStringConvertible {
    public let description: String

    public var errorDescription: String? { description }

    public init(_ description: String) { self.description = description }
}
