import Foundation
import Synchronization

/// Maps the reference objects of a custom store (any hashable value that names a row there) to primary keys and back.
///
/// Keys are unique within a root entity. A reference that is a positive whole number is its own key where that is free.
final class ReferenceTable: @unchecked Sendable {
    // Sendable: the maps lie behind the mutex; reference objects are immutable values of the store's.

    private struct Maps {
        /// By layout index of the root entity.
        var keys: [Int: [AnyHashable: Int64]] = [:]
        var references: [Int: [Int64: AnyHashable]] = [:]
        var byText: [Int: [LiteralText: AnyHashable]] = [:]
        var last: [Int: Int64] = [:]
    }

    private struct State: @unchecked Sendable {
        // Sendable: only reached through the mutex.
        var maps = Maps()
    }

    // Guards the maps.
    private let state = Mutex(State())

    /// The key for a reference object, new if it was never seen.
    func key(for reference: Any, of entity: EntityLayout) -> Int64 {
        let hashable = Unchecked(Self.hashable(reference))
        let root = entity.rootIndex
        return state.withLock { state in
            let reference = hashable.value
            if let key = state.maps.keys[root]?[reference] { return key }
            var key = Self.wholeNumber(reference) ?? 0
            // A huge one would leave no keys behind it.
            if key <= 0 || key > Int64.max / 2 || state.maps.references[root]?[key] != nil { key = (state.maps.last[root] ?? 0) + 1 }
            state.maps.last[root] = max(state.maps.last[root] ?? 0, key)
            state.maps.keys[root, default: [:]][reference] = key
            state.maps.references[root, default: [:]][key] = reference
            state.maps.byText[root, default: [:]][LiteralText(Self.text(of: reference))] = reference
            return key
        }
    }

    /// The reference object behind a key; nil when none was given that key.
    func reference(for key: Int64, of entity: EntityLayout) -> Any? {
        state.withLock { state in Unchecked(state.maps.references[entity.rootIndex]?[key]) }.value.map(Self.object)
    }

    /// The key for the text that stands for a reference object in a URI.
    func key(forText text: String, of entity: EntityLayout) -> Int64 {
        let known = state.withLock { state in Unchecked(state.maps.byText[entity.rootIndex]?[LiteralText(text)]) }.value
        if let known { return key(for: known, of: entity) }
        if let number = Int(text) { return key(for: number, of: entity) }
        return key(for: text, of: entity)
    }

    /// The text that stands for a reference object in a URI.
    func text(for key: Int64, of entity: EntityLayout) -> String {
        state.withLock { state in
            state.maps.references[entity.rootIndex]?[key].map(Self.text) ?? String(key)
        }
    }

    private static func hashable(_ reference: Any) -> AnyHashable {
        // Numbers count as one type, whatever the width they come in.
        if let number = reference as? NSNumber {
            let isFraction = number is NSDecimalNumber || ["d", "f"].contains(String(cString: number.objCType))
            guard isFraction else { return AnyHashable(number.int64Value) }
            // Not the number itself: Foundation on Linux cannot hash a decimal one.
            return Int64(number.stringValue).map { AnyHashable($0) } ?? AnyHashable(number.decimalValue)
        }
        if let number = reference as? any BinaryInteger { return AnyHashable(Int64(truncatingIfNeeded: number)) }
        if let string = reference as? String { return AnyHashable(LiteralText(string)) }
        return (reference as? AnyHashable) ?? AnyHashable(LiteralText(String(describing: reference)))
    }

    private static func wholeNumber(_ reference: AnyHashable) -> Int64? { reference.base as? Int64 }

    /// What the store gave.
    private static func object(_ reference: AnyHashable) -> Any { (reference.base as? LiteralText)?.text ?? reference.base }

    private static func text(of reference: AnyHashable) -> String { String(describing: object(reference)) }
}
