import Foundation

/// Reads the name of a Swift package's resource bundle: `Package_Target.resources`, or `.bundle`.
enum ResourceBundleName {
    /// Returns the modules that the bundle around a file may belong to, most likely first. Each
    /// underscore may divide package and target.
    static func modules(ofFileAt url: URL) -> [String] {
        let folder = url.standardizedFileURL.pathComponents.last {
            ($0.hasSuffix(".resources") || $0.hasSuffix(".bundle")) && $0.contains("_")
        }
        guard let name = folder?.split(separator: ".").dropLast().joined(separator: ".") else { return [] }
        return name.indices.filter { name[$0] == "_" }.map { String(name[name.index(after: $0)...]) }.filter {
            !$0.isEmpty
        }
        .map(moduleName)
    }

    /// Returns the module of a target: its name, with underscores for characters that identifiers
    /// cannot have.
    private static func moduleName(_ target: String) -> String {
        var name = String(target.map { $0.isLetter || $0.isNumber || $0 == "_" ? $0 : "_" })
        if name.first?.isNumber == true { name = "_" + name }
        return name
    }
}
