import Foundation

/// Lists of constants for IN.
enum SQLList {
    /// The elements of an array, set or ordered set; nil for any other value.
    static func elements(of value: Any?) -> [Any]? {
        switch value {
        case let array as [Any]: return array
        case let set as Set<AnyHashable>: return set.map { $0.base }
        case let set as NSSet: return set.allObjects
        case let set as NSOrderedSet: return set.array
        default: return nil
        }
    }
}
