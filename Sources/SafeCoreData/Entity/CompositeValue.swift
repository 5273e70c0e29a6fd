/// A type whose values are kept as a composite attribute: each element in a column of its own, so that predicates, sort
/// descriptors and indexes reach it (`address.city`). SwiftData keeps structures and enumerations in this way.
///
/// ```swift
/// struct Address: CompositeValue, Hashable {
///     var city: String
///     var zip: Int?
///
///     static let compositeElements: [CompositeElement] = [.init("city", String.self), .init("zip", Int?.self)]
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
/// A property of such a type is one of the entity: `var address: Address?`. A `Codable` type without this conformance is kept
/// as JSON in one binary attribute.
public protocol CompositeValue: Codable, PredicateComposite, SendableMetatype {
    /// The elements, in the order of their columns.
    static var compositeElements: [CompositeElement] { get }

    /// Makes a value of what its elements hold. Throws where they make none.
    init(_ elements: CompositeElements) throws

    /// Gives the elements what the value holds; elements that it does not name are nil.
    func write(to elements: inout CompositeElements)

    /// Whether the model marks the attribute as an enumeration, as SwiftData does.
    static var isCompositeEnumeration: Bool { get }
}

extension CompositeValue {
    public static var isCompositeEnumeration: Bool { false }

    public static var _predicateElementNames: [String] { compositeElements.map(\.name) }

    public var _predicateElements: [String: Any] { CompositeElements.dictionary(of: self, property: "") }
}

/// A type with raw values that is kept as SwiftData keeps enumerations that have them: as a composite attribute with one element,
/// which holds the raw value and has the property's name (`status.status` in predicates).
///
/// ```swift
/// enum Status: String, CompositeEnumeration { case open, closed }
/// request.predicate = NSPredicate(format: "status.status == 'open'")
/// ```
public protocol CompositeEnumeration: CompositeValue, RawRepresentable where RawValue: NativeAttributeValue {}

extension CompositeEnumeration {
    public static var isCompositeEnumeration: Bool { true }

    /// One element, which takes the property's name. It is optional also where the property is not: that one must have a value.
    public static var compositeElements: [CompositeElement] { [CompositeElement("", RawValue?.self)] }

    public init(_ elements: CompositeElements) throws {
        let raw: RawValue = try elements.required("")
        guard let value = Self(rawValue: raw) else { throw CompositeValueError("\(raw) stands for no \(Self.self)") }
        self = value
    }

    public func write(to elements: inout CompositeElements) { elements.set("", rawValue) }
}

/// An enumeration without raw values or associated ones, kept as SwiftData keeps it: as a composite attribute with a text for
/// each case, of which the chosen one holds its name.
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

/// One attribute within a composite one.
///
/// ```swift
/// static let compositeElements: [CompositeElement] = [.init("city", String.self, default: "Graz"), .init("zip", Int?.self)]
/// ```
public struct CompositeElement: Sendable {
    let name: String
    private let make: @Sendable () -> NSAttributeDescription

    /// An element of a type that attributes have, required in a value that is there.
    ///
    /// - Parameters:
    ///   - name: the element's name.
    ///   - type: the type of its values.
    ///   - value: what the element of a new object is, unless the property has an initial value.
    ///   - originalName: the name in the first version of the model that had it, for migrations.
    ///   - versionHashModifier: a text that makes the version hash differ.
    ///   - isPreservedOnDeletion: whether the history keeps the values of deleted objects.
    public init<Value: NativeAttributeValue>(
        _ name: String, _ type: Value.Type, default value: Value? = nil, originalName: String? = nil, versionHashModifier: String? = nil,
        isPreservedOnDeletion: Bool = false
    ) {
        self.init(name, type._attributeType, false, value, originalName, versionHashModifier, isPreservedOnDeletion)
    }

    /// An element that may be nil.
    public init<Value: NativeAttributeValue>(
        _ name: String, _ type: Value?.Type, default value: Value? = nil, originalName: String? = nil, versionHashModifier: String? = nil,
        isPreservedOnDeletion: Bool = false
    ) {
        self.init(name, Value._attributeType, true, value, originalName, versionHashModifier, isPreservedOnDeletion)
    }

    /// An element with the raw values of a type.
    public init<Value: RawRepresentable>(_ name: String, _ type: Value.Type) where Value.RawValue: NativeAttributeValue {
        self.init(name, Value.RawValue._attributeType, false, nil as Int?, nil, nil, false)
    }

    /// An element with the raw values of a type, which may be nil.
    public init<Value: RawRepresentable>(_ name: String, _ type: Value?.Type) where Value.RawValue: NativeAttributeValue {
        self.init(name, Value.RawValue._attributeType, true, nil as Int?, nil, nil, false)
    }

    /// A composite attribute within this one.
    public init<Value: CompositeValue>(_ name: String, _ type: Value.Type) {
        self.name = name
        make = { type.compositeAttribute(isOptional: false) }
    }

    /// A composite attribute within this one, which may be nil.
    public init<Value: CompositeValue>(_ name: String, _ type: Value?.Type) {
        self.name = name
        make = { Value.compositeAttribute(isOptional: true) }
    }

    /// A type with raw values as a composite attribute within this one.
    public init<Value: CompositeEnumeration>(_ name: String, _ type: Value.Type) {
        self.name = name
        make = { type.compositeAttribute(isOptional: false) }
    }

    /// A type with raw values as a composite attribute within this one, which may be nil.
    public init<Value: CompositeEnumeration>(_ name: String, _ type: Value?.Type) {
        self.name = name
        make = { Value.compositeAttribute(isOptional: true) }
    }

    /// Any other `Codable` type, as JSON in a binary element.
    @_disfavoredOverload
    public init<Value: Codable>(_ name: String, _ type: Value.Type) {
        self.init(name, .binaryDataAttributeType, false, nil as Int?, nil, nil, false, holdsJSON: true)
    }

    @_disfavoredOverload
    public init<Value: Codable>(_ name: String, _ type: Value?.Type) {
        self.init(name, .binaryDataAttributeType, true, nil as Int?, nil, nil, false, holdsJSON: true)
    }

    private init<Value: Sendable>(
        _ name: String, _ type: NSAttributeType, _ isOptional: Bool, _ value: Value?, _ originalName: String?, _ modifier: String?,
        _ isPreserved: Bool, holdsJSON: Bool = false
    ) {
        self.name = name
        make = {
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
    /// The attribute of a property, still without its name.
    static func compositeAttribute(isOptional: Bool) -> NSCompositeAttributeDescription {
        let attribute = NSCompositeAttributeDescription()
        attribute.isOptional = isOptional
        attribute.elements = compositeElements.map { $0.attribute() }
        if isCompositeEnumeration {
            var userInfo: [AnyHashable: Any] = [NSCompositeAttributeDescription.enumerationMark: true]
            // The list tells cases from raw values.
            let cases = attribute.elements.map(\.name)
            if !cases.contains("") { userInfo[NSCompositeAttributeDescription.casesKey] = cases }
            attribute.userInfo = userInfo
        }
        return attribute
    }
}

extension NSCompositeAttributeDescription {
    /// Gives the element that is named after the attribute its name.
    func takeName() {
        for element in elements where element.name.isEmpty { element.name = name }
    }

    /// Gives the elements the values of a composite one as their defaults.
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

/// Why the elements of a composite attribute make no value.
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
