import Foundation

/// An attribute that is a structure of named attributes.
///
/// Its value is a dictionary of its elements' values.
///
/// (developer.apple.com/documentation/coredata/nscompositeattributedescription)
///
/// ```swift
/// let address = NSCompositeAttributeDescription()
/// address.name = "address"
/// address.elements = [city, street]
/// // Later: object.setValue(["city": "Graz"], forKey: "address"),
/// // and in predicates: address.city == "Graz"
/// ```
open class NSCompositeAttributeDescription: NSAttributeDescription, @unchecked Sendable {
    /// Creates a composite attribute without elements.
    public required init() {
        super.init()
        attributeType = .compositeAttributeType
    }

    /// The attributes that make up the value; may be composite themselves.
    ///
    /// - Precondition: no element is of undefined or object ID type or allows external storage.
    open var elements: [NSAttributeDescription] = [] {
        willSet {
            requireEditable()
            for element in newValue {
                if let problem = element.problemAsCompositeElement { preconditionFailure(problem) }
            }
        }
    }

    /// Whether the attribute was made from a Swift enumeration.
    package var isEnumeration: Bool {
        switch userInfo?[Self.enumerationMark] {
        case let flag as Bool: flag
        case let text as String: ["1", "true", "yes"].contains(text.lowercased())
        case nil: false
        default: true
        }
    }

    /// The cases of an enumeration without raw values; nil for any other attribute. Each case is an
    /// element.
    package var enumerationCases: [String]? { isEnumeration ? userInfo?[Self.casesKey] as? [String] : nil }

    /// The user info key for the cases of an enumeration without raw values.
    package static let casesKey = "enum"

    /// The user info key that marks enumerations.
    package static let enumerationMark = "EnumType"

    override func takeState(of other: NSPropertyDescription) {
        super.takeState(of: other)
        guard let other = other as? NSCompositeAttributeDescription else { return }
        elements = other.elements.compactMap { $0.copy() as? NSAttributeDescription }
    }

    override func freeze() {
        super.freeze()
        for element in elements { element.freeze() }
    }

    override var kindName: String { "composite attribute" }
}

extension NSAttributeDescription {
    /// The reason why this attribute cannot be an element of a composite attribute; nil when it
    /// can.
    var problemAsCompositeElement: String? {
        switch attributeType {
        case .undefinedAttributeType:
            "\(diagnosticName) has no type and so cannot be an element of a composite attribute; give it one first"
        case .objectIDAttributeType:
            "\(diagnosticName) holds an object ID and so cannot be an element of a composite attribute"
        default:
            allowsExternalBinaryDataStorage
                ? "\(diagnosticName) allows external storage and so cannot be an element of a composite attribute" : nil
        }
    }
}
