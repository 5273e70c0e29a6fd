import CoreData

/// The stores on servers that a person named by URLs, copied to private files that commands read.
///
/// A copy is made when its URL is first used, and removed with this value. Its objects have the
/// store's identities. Making it takes time and room in proportion to the store.
final class ServerStores {
    /// The part of a store that a command reads.
    enum Part {
        case model
        case rows
        /// Nothing: the command passes the URL on to others.
        case url
    }

    private var copies: [String: URL] = [:]
    /// The folders of the copies.
    private var folders: [PrivateFolder] = []

    /// Returns arguments with the path of a copy in the place of each URL of a store on a server.
    ///
    /// - Throws: `ToolError` for a server whose driver is not in this program, or which refuses,
    ///   and for operands of the command that must be files.
    func read(_ given: CommandSyntax.Arguments, of syntax: CommandSyntax) throws -> CommandSyntax.Arguments {
        var arguments = given
        for (index, operand) in given.operands.enumerated() {
            guard let scheme = Self.scheme(of: operand) else { continue }
            guard let part = syntax.operand(at: index)?.server else {
                throw ToolError(
                    "'coredata \(syntax.name)' takes a file here, not a \(scheme) URL. Change a store on a server with "
                        + "a program, or with SQL.")
            }
            if part == .url { continue }
            arguments.operands[index] = try path(of: operand, part, modelPath: given.values["model"])
        }
        return arguments
    }

    /// Returns the scheme of an operand that is the URL of neither a file nor an object; nil for
    /// others.
    private static func scheme(of operand: String) -> String? {
        guard let end = operand.range(of: "://") else { return nil }
        let scheme = operand[..<end.lowerBound].lowercased()
        let isScheme = scheme.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
        return isScheme && !["", "file", "x-coredata"].contains(scheme) ? scheme : nil
    }

    // MARK: Copying

    /// Returns the path of a copy of a part of a store on a server; the operand itself if it is a
    /// path.
    ///
    /// - Throws: `ToolError`, or an error of the store.
    func path(of operand: String, _ part: Part, modelPath: String?) throws -> String {
        guard let scheme = Self.scheme(of: operand) else { return operand }
        let name = "\(part) \(operand)"
        if let copy = copies[name] { return copy.path }
        let url = URL(string: operand)
        let type = url.map { NSPersistentStoreDescription(url: $0).type } ?? NSSQLiteStoreType
        guard let url, type != NSSQLiteStoreType else {
            throw ToolError(
                "This program cannot read stores at \(scheme) URLs. The product 'coredata-postgresql' is the same "
                    + "command with the driver of PostgreSQL.")
        }
        let folder = try PrivateFolder()
        let database = url.lastPathComponent
        let file = folder.file((database.isEmpty || database == "/" ? "store" : database) + ".sqlite")
        try Self.copy(part, of: url, NSPersistentStore.StoreType(rawValue: type), to: file, modelPath: modelPath)
        folders.append(folder)
        copies[name] = file
        return file.path
    }

    private static func copy(
        _ part: Part, of url: URL, _ type: NSPersistentStore.StoreType, to file: URL, modelPath: String?
    ) throws {
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: type, at: url)
        let model =
            try modelPath.map { try ModelFileChoice.model(at: $0, for: metadata) }
            ?? NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: url)
        // Without one that fits, the store says how the model differs.
        let configuration = ModelFileChoice.configuration(of: model, for: metadata) ?? nil
        let coordinator = try NSPersistentStoreCoordinator(validating: model)
        if part == .rows {
            let store = try coordinator.addPersistentStore(
                type: type, configuration: configuration, at: url, options: [NSReadOnlyPersistentStoreOption: true])
            try coordinator.migratePersistentStore(store, to: file, type: .sqlite)
        } else {
            try coordinator.addPersistentStore(type: .sqlite, configuration: configuration, at: file)
        }
        for store in coordinator.persistentStores { try coordinator.remove(store) }
        var own = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: file)
        own[NSStoreUUIDKey] = metadata[NSStoreUUIDKey]
        try NSPersistentStoreCoordinator.setMetadata(own, type: .sqlite, at: file)
    }
}
