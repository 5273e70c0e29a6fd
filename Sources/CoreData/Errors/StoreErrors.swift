import Foundation

/// How messages name a store.
enum StoreName {
    /// The name that Core Data gives to the configuration of all entities.
    static let defaultConfiguration = "PF_DEFAULT_CONFIGURATION_NAME"

    static func text(type: String, url: URL?, configuration: String? = nil) -> String {
        var text = "\(path(url)) (type \(type)"
        if let configuration, configuration != defaultConfiguration {
            text += ", configuration '\(configuration)'"
        }
        return text + ")"
    }

    static func path(_ url: URL?) -> String {
        guard let url else { return "without a URL" }
        return url.isFileURL ? url.path : url.absoluteString
    }
}

/// The entries that errors about a store have in common.
enum StoreOpeningErrors {
    static func userInfo(type: String?, url: URL?) -> [String: Any] {
        var entries: [String: Any] = [:]
        if let type { entries[NSStoreTypeKey] = type }
        if let url {
            if url.isFileURL { entries[NSFilePathErrorKey] = url.path }
            entries[NSURLErrorKey] = url
        }
        return entries
    }
}
