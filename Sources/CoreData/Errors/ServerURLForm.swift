import Foundation

/// The form of URLs of stores of one type on servers.
package struct ServerURLForm: Sendable {
    let type: String
    /// The schemes, in lower case.
    let schemes: Set<String>
    /// The parameters that may be shown. All other parameters are left out of shown URLs: an
    /// unknown one may be a password.
    let shownParameters: Set<String>

    package init(type: String, schemes: Set<String>, shownParameters: Set<String>) {
        self.type = type
        self.schemes = schemes
        self.shownParameters = shownParameters
    }

    package func covers(_ url: URL) -> Bool { url.scheme.map { schemes.contains($0.lowercased()) } ?? false }

    /// The form of a URL; nil for files, and if the program has no module for its scheme.
    static func of(_ url: URL) -> ServerURLForm? { url.isFileURL ? nil : all.first { $0.covers(url) } }

    private static let all = StoreModules.classes.compactMap { ($0 as? any ServerURLProvider.Type)?.serverURLs }
}

/// Declares the form of a module's URLs: the conformance of its class `StoreModule`.
package protocol ServerURLProvider: AnyObject, SendableMetatype {
    static var serverURLs: ServerURLForm { get }
}

/// The modules of the program that define types of stores.
///
/// Each has a class named `StoreModule`, which the Swift runtime finds: a program that links the
/// module has its stores without a call.
enum StoreModules {
    /// Found once: the set of linked modules does not change.
    static let classes = ClassLookup.classes(named: "StoreModule", inheritingFrom: NSObject.self)
}
