import Foundation

/// An attribute of an entity: a property that holds a value.
///
/// (developer.apple.com/documentation/coredata/nsattributedescription)
///
/// ```swift
/// let name = NSAttributeDescription()
/// name.name = "name"
/// name.attributeType = .stringAttributeType
/// name.isOptional = false
/// ```
open class NSAttributeDescription: NSPropertyDescription, @unchecked Sendable {
    /// The kind of value, `undefinedAttributeType` unless set. The same value as `type`.
    open var attributeType: NSAttributeType = .undefinedAttributeType { willSet { requireEditable() } }

    /// The kind of value, `undefined` unless set.
    open var type: AttributeType {
        get { AttributeType(rawValue: attributeType) }
        set { attributeType = newValue.rawValue }
    }

    private var explicitValueClassName: String?

    /// The name of the class of the values.
    ///
    /// It follows from the type (`NSString` for a string) unless set; only transformable attributes
    /// need to set it.
    open var attributeValueClassName: String? {
        get { explicitValueClassName ?? attributeType.valueClassName }
        set {
            requireEditable()
            explicitValueClassName = newValue
        }
    }

    private var givenDefaultValue: Any?

    /// The value of a new object's attribute; nil unless set. Not part of the version hash.
    ///
    /// It is retained, not copied. Numbers read back as `NSNumber`, those of a decimal attribute as
    /// `NSDecimalNumber`; text, dates, data, identifiers and addresses as `String`, `Date`, `Data`,
    /// `UUID` and `URL`.
    ///
    /// ```swift
    /// stockCount.defaultValue = 0
    /// created.defaultValue = Date(timeIntervalSinceReferenceDate: 0)
    /// ```
    open var defaultValue: Any? {
        get { givenDefaultValue.map { AttributeValue.normalized($0, for: attributeType) } }
        set {
            requireEditable()
            givenDefaultValue = newValue
        }
    }

    /// Returns the value that a migration writes into existing rows when the attribute is new to
    /// them.
    ///
    /// It serves where the declaring class knows a value that no model can hold: the result of an
    /// expression. Comes after `defaultValue`.
    ///
    /// Neither stored with the model nor part of the version hash.
    package final var valueForExistingRows: (@Sendable () -> Any?)? { willSet { requireEditable() } }

    /// The registered name of the transformer between a transformable attribute's value and its
    /// stored data.
    ///
    /// ```swift
    /// colour.attributeType = .transformableAttributeType
    /// colour.valueTransformerName =
    ///     NSValueTransformerName.secureUnarchiveFromDataTransformerName.rawValue
    /// ```
    open var valueTransformerName: String? { willSet { requireEditable() } }

    /// Whether large binary values may be stored in files beside the store. Part of the version
    /// hash.
    ///
    /// Cost: a fetch of objects reads the files that their rows name, unless it fetches in batches
    /// or fetches IDs alone. Give large values an entity of their own, which is reached through a
    /// relationship.
    ///
    /// ```swift
    /// photo.attributeType = .binaryDataAttributeType
    /// photo.allowsExternalBinaryDataStorage = true
    /// ```
    open var allowsExternalBinaryDataStorage: Bool = false { willSet { requireEditable() } }

    /// Whether the value of a deleted object stays in the history as its tombstone. Part of the
    /// version hash.
    open var preservesValueInHistoryOnDeletion: Bool = false { willSet { requireEditable() } }

    /// Whether values should be encrypted in CloudKit; has no effect here.
    ///
    /// Stored with the model, but not read from models that Xcode compiled.
    open var allowsCloudEncryption: Bool = false { willSet { requireEditable() } }

    /// Whether the bytes of a binary attribute are JSON, for which databases have types of their
    /// own. Set where the attribute's class has a `Codable` value. Neither stored in files nor part
    /// of the version hash.
    package final var holdsJSON: Bool = false { willSet { requireEditable() } }

    /// The hash by which a store recognises this attribute's version: 32 bytes.
    open override var versionHash: Data {
        Data(VersionHash.attribute(self))
    }

    override func takeState(of other: NSPropertyDescription) {
        super.takeState(of: other)
        guard let other = other as? NSAttributeDescription else { return }
        attributeType = other.attributeType
        explicitValueClassName = other.explicitValueClassName
        givenDefaultValue = other.givenDefaultValue
        valueForExistingRows = other.valueForExistingRows
        valueTransformerName = other.valueTransformerName
        allowsExternalBinaryDataStorage = other.allowsExternalBinaryDataStorage
        preservesValueInHistoryOnDeletion = other.preservesValueInHistoryOnDeletion
        allowsCloudEncryption = other.allowsCloudEncryption
        holdsJSON = other.holdsJSON
    }

    override var kindName: String { "attribute" }
}
