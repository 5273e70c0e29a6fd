import Predicates

/// The hashes by which stores recognise versions of entities (metadata "hashes version" 3).
///
/// The rules were found by comparing models with the hashes in stores written for them. Strings are
/// hashed as UTF-8 without length, integers little-endian. Several uniqueness constraints are
/// hashed in ascending order (shown by a store with two constraints an entity, given in descending
/// order). An entity's own modifier comes before them (shown by photo libraries).
///
/// One rule is this project's choice, because no known store shows Apple's: a composite attribute
/// within another one counts as any element does.
package enum VersionHash {
    /// Returns the hash of the values that all properties have: name, flags, modifier.
    static func propertyBase(of property: NSPropertyDescription) -> [UInt8] {
        var hash = SHA256()
        hash.update(property.name)
        hash.update([(property.isOptional ? 1 : 0) | (property.isTransient ? 2 : 0), 0])
        hash.update(property.versionHashModifier ?? "")
        return hash.finalize()
    }

    /// The hash of a derived attribute depends on its expression alone, that of a composite
    /// attribute on its elements alone.
    static func attribute(_ attribute: NSAttributeDescription) -> [UInt8] {
        var hash = SHA256()
        if let expression = (attribute as? NSDerivedAttributeDescription)?.derivationExpression {
            hash.update(DerivationExpression.text(of: expression))
            return hash.finalize()
        }
        if let composite = attribute as? NSCompositeAttributeDescription {
            for element in composite.elements.sorted(by: { ascending($0.name, $1.name) }) {
                hash.update(Array(element.versionHash))
            }
            return hash.finalize()
        }
        hash.update(propertyBase(of: attribute))
        hash.update(bytes(of: UInt32(attribute.attributeType.rawValue)))
        if attribute.preservesValueInHistoryOnDeletion { hash.update([1]) }
        if attribute.allowsExternalBinaryDataStorage { hash.update([1]) }
        return hash.finalize()
    }

    /// A relationship that is its own inverse counts as one without an inverse.
    static func relationship(_ relationship: NSRelationshipDescription) -> [UInt8] {
        var hash = SHA256()
        hash.update(propertyBase(of: relationship))
        hash.update(relationship.destinationEntity?.name ?? "")
        if let inverse = relationship.inverseRelationship, inverse !== relationship { hash.update(inverse.name) }
        hash.update(bytes(of: UInt32(truncatingIfNeeded: relationship.maxCount)))
        hash.update(bytes(of: UInt32(truncatingIfNeeded: relationship.minCount)))
        if relationship.isOrdered { hash.update([1, 0]) }
        return hash.finalize()
    }

    /// Returns the hash of a composite attribute in stores that have composite attributes archived.
    private static func archived(_ composite: NSCompositeAttributeDescription) -> [UInt8] {
        var hash = SHA256()
        hash.update(propertyBase(of: composite))
        hash.update(bytes(of: UInt32(composite.attributeType.rawValue)))
        if composite.preservesValueInHistoryOnDeletion { hash.update([1]) }
        if composite.allowsExternalBinaryDataStorage { hash.update([1]) }
        for element in composite.elements.sorted(by: { ascending($0.name, $1.name) }) {
            hash.update((element as? NSCompositeAttributeDescription).map(archived) ?? Array(element.versionHash))
        }
        return hash.finalize()
    }

    /// - Parameter archivesComposites: Whether to return the hash of stores that have composite
    ///   attributes archived.
    package static func entity(_ entity: NSEntityDescription, archivesComposites: Bool = false) -> [UInt8] {
        var hash = SHA256()
        hash.update(entity.name ?? "")
        hash.update([entity.isAbstract ? 1 : 0])
        if let superentity = entity.superentity {
            hash.update(
                archivesComposites ? Self.entity(superentity, archivesComposites: true) : Array(superentity.versionHash)
            )
        }
        let stored = entity.properties.filter { !$0.isTransient && !($0 is NSFetchedPropertyDescription) }
        for property in stored.sorted(by: { ascending($0.name, $1.name) }) {
            if archivesComposites, let composite = property as? NSCompositeAttributeDescription {
                hash.update(archived(composite))
            } else {
                hash.update(Array(property.versionHash))
            }
        }
        hash.update(entity.versionHashModifier ?? "")
        for constraint in entity.uniquenessConstraintNames.map({ $0.joined(separator: ".") }).sorted(by: ascending) {
            hash.update(constraint)
        }
        return hash.finalize()
    }

    /// Returns the checksum of a model: base64 of the SHA-256 of the hashes in order of name.
    package static func checksum(ofEntityHashes hashes: [String: Data]) -> String {
        var hash = SHA256()
        for (_, value) in hashes.sorted(by: { ascending($0.key, $1.key) }) { hash.update(Array(value)) }
        return Data(hash.finalize()).base64EncodedString()
    }

    /// Returns the digest in a store's metadata: base64 of the SHA-512 of names and hashes in order
    /// of name.
    package static func digest(ofEntityHashes hashes: [String: Data]) -> String {
        var hash = SHA512()
        for (name, value) in hashes.sorted(by: { ascending($0.key, $1.key) }) {
            hash.update(name)
            hash.update(Array(value))
        }
        return Data(hash.finalize()).base64EncodedString()
    }

    /// Compares by UTF-16 code units, as Foundation compares strings literally.
    static func ascending(_ first: String, _ second: String) -> Bool {
        first.utf16.lexicographicallyPrecedes(second.utf16)
    }

    private static func bytes(of value: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }
}
