import Foundation
import Synchronization

/// Maps the reference objects of a custom store to primary keys and back. A reference object is any
/// hashable value that identifies a record there.
///
/// Keys are unique within a root entity. A reference that is a positive whole number is its own key
/// if that is free.
final class ReferenceTable: Sendable {
    private struct Maps {
        /// By layout index of the root entity.
        var keys: [Int: [AnyHashable: Int64]] = [:]
        var references: [Int: [Int64: AnyHashable]] = [:]
        var byText: [Int: [LiteralText: AnyHashable]] = [:]
        var last: [Int: Int64] = [:]
    }

    // Guards the maps. Reference objects are immutable values of the store.
    private let maps = Mutex(Maps())

    /// The key of a reference object; a new one if the reference object is not known yet.
    func key(for reference: Any, of entity: EntityLayout) -> Int64 {
        let hashable = Unchecked(Self.hashable(reference))
        let root = entity.rootIndex
        return maps.withLock { maps in
            let reference = hashable.value
            if let key = maps.keys[root]?[reference] { return key }
            var key = Self.wholeNumber(reference) ?? 0
            // A huge number would leave no keys above it.
            if key <= 0 || key > Int64.max / 2 || maps.references[root]?[key] != nil {
                key = (maps.last[root] ?? 0) + 1
            }
            maps.last[root] = max(maps.last[root] ?? 0, key)
            maps.keys[root, default: [:]][reference] = key
            maps.references[root, default: [:]][key] = reference
            maps.byText[root, default: [:]][LiteralText(Self.text(of: reference))] = reference
            return key
        }
    }

    func reference(for key: Int64, of entity: EntityLayout) -> Any? {
        maps.withLock { maps in Unchecked(maps.references[entity.rootIndex]?[key]) }.value.map(Self.object)
    }

    /// The key of the reference object with a text in a URI; nil for a text of another form.
    func key(forURIText uriText: String, of entity: EntityLayout) -> Int64? {
        guard uriText.hasPrefix("p"), uriText.count > 1 else { return nil }
        let text = String(uriText.dropFirst())
        let known = maps.withLock { maps in Unchecked(maps.byText[entity.rootIndex]?[LiteralText(text)]) }.value
        if let known { return key(for: known, of: entity) }
        if let number = Int(text) { return key(for: number, of: entity) }
        return key(for: text, of: entity)
    }

    func uriText(for key: Int64, of entity: EntityLayout) -> String {
        maps.withLock { maps in
            "p" + (maps.references[entity.rootIndex]?[key].map(Self.text) ?? String(key))
        }
    }

    private static func hashable(_ reference: Any) -> AnyHashable {
        // Numbers count as one type, whatever their width.
        if let number = reference as? NSNumber {
            let isFraction = number is NSDecimalNumber || ["d", "f"].contains(String(cString: number.objCType))
            guard isFraction else { return AnyHashable(number.int64Value) }
            // Not the number itself: Foundation on Linux cannot hash an `NSDecimalNumber`.
            return Int64(number.stringValue).map { AnyHashable($0) } ?? AnyHashable(number.decimalValue)
        }
        if let number = reference as? any BinaryInteger { return AnyHashable(Int64(truncatingIfNeeded: number)) }
        if let string = reference as? String { return AnyHashable(LiteralText(string)) }
        return (reference as? AnyHashable) ?? AnyHashable(LiteralText(String(describing: reference)))
    }

    private static func wholeNumber(_ reference: AnyHashable) -> Int64? { reference.base as? Int64 }

    /// The reference object in the form in which the store passed it.
    private static func object(_ reference: AnyHashable) -> Any {
        (reference.base as? LiteralText)?.text ?? reference.base
    }

    private static func text(of reference: AnyHashable) -> String { String(describing: object(reference)) }
}
