import Foundation

/// A type that knows the keys of its Swift key paths.
///
/// Swift can name the key path of a stored property of a struct or a final class. A type with
/// computed properties, such as a managed object, adopts this protocol.
///
/// ```swift
/// extension Part: KeyPathNaming {
///     static func keyName(for keyPath: AnyKeyPath) -> String? {
///         keyPath == \Part.price ? "price" : nil
///     }
/// }
/// ```
public protocol KeyPathNaming {
    /// The key path as text (`supplier.name`), or `nil` when the key path is not one of the type's.
    static func keyName(for keyPath: AnyKeyPath) -> String?
}

/// Finds the text of Swift key paths.
///
/// ```swift
/// let name = KeyPathNames.name(of: \Item.name)            // "name"
/// ```
public enum KeyPathNames {
    /// Returns the key path as text; `nil` when the text cannot be found.
    ///
    /// It asks ``KeyPathNaming`` first, then reads the key path's own description.
    public static func name(of keyPath: AnyKeyPath) -> String? {
        if let type = type(of: keyPath).rootType as? any KeyPathNaming.Type, let name = type.keyName(for: keyPath) {
            return name
        }
        let description = "\(keyPath)"
        guard description.hasPrefix("\\"), !description.contains("<") || !description.contains("0x") else { return nil }
        let root = "\\" + String(describing: type(of: keyPath).rootType)
        guard description.hasPrefix(root + ".") else { return description == root + ".self" ? "self" : nil }
        let path = description.dropFirst(root.count + 1).filter { $0 != "?" && $0 != "!" }
        guard path.allSatisfy({ $0 == "." || $0 == "_" || $0.isLetter || $0.isNumber }) else { return nil }
        return String(path)
    }
}
