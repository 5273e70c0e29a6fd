import CoreData
import Foundation

/// A store in the form in which Apple's framework writes it, made of SQL that was written by hand
/// from the rules of the file format: no line of it comes from the engine.
///
/// The texts lie in `Texts`, one for each store, named after it and the framework whose stores it
/// is like.
public struct OwnStore: Sendable, CustomStringConvertible {
    public let name: String
    public let framework: Int
    /// Whether tables are as a migration left them, and not as those of a new store.
    public let isMigrated: Bool
    /// The files beside the store: the content of each, by name.
    private let externalFiles: [String: Data]
    private let makeModel: @Sendable () -> NSManagedObjectModel

    public var description: String { name }

    init(
        _ name: String, framework: Int, isMigrated: Bool = false, externalFiles: [String: Data] = [:],
        _ makeModel: @escaping @Sendable () -> NSManagedObjectModel
    ) {
        self.name = name
        self.framework = framework
        self.isMigrated = isMigrated
        self.externalFiles = externalFiles
        self.makeModel = makeModel
    }

    /// The model of the store, as a program has it in its own files.
    public func model() -> NSManagedObjectModel { makeModel() }

    /// Whether the store keeps a copy of its model.
    public var hasModel: Bool { framework > 519 }

    /// Makes the store in a folder.
    ///
    /// - Throws: when a statement fails, or a file cannot be written.
    public func make(in folder: TemporaryFolder) throws -> URL {
        let url = folder.file(name + ".sqlite")
        let file = SQLiteFile(url)
        try file.run("PRAGMA auto_vacuum = 2; PRAGMA journal_mode = WAL")
        // What the triggers of derived attributes tell the framework.
        for function in ["Updated", "InsertUpdated"] {
            file.defineFunction("NSCoreDataDATrigger\(function)AffectedObjectValue", arguments: 5)
        }
        try file.run(text())
        let list = try PropertyListSerialization.propertyList(
            from: Data((file.value("SELECT Z_PLIST FROM Z_METADATA") ?? "").utf8), options: [], format: nil)
        try file.run(
            "UPDATE Z_METADATA SET Z_PLIST = ?",
            bytes: PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0))
        if hasModel { try file.run("UPDATE Z_MODELCACHE SET Z_CONTENT = ?", bytes: ArchivedModel.compressed(model())) }
        let external = folder.file(".\(name)_SUPPORT/_EXTERNAL_DATA")
        for (name, content) in externalFiles {
            try FileManager.default.createDirectory(at: external, withIntermediateDirectories: true)
            try content.write(to: external.appendingPathComponent(name))
        }
        return url
    }

    /// The statements that make the store.
    private func text() throws -> String {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Texts")
        return try String(contentsOf: folder.appendingPathComponent(name + ".sql"), encoding: .utf8)
    }
}

extension OwnStore {
    public static let orchard = OwnStore("Orchard519", framework: 519) { orchardModel() }
    public static let playlists = OwnStore("Playlists640", framework: 640) { playlistsModel() }
    public static let migratedPlaylists = OwnStore("Playlists640Migrated", framework: 640, isMigrated: true) {
        playlistsModel()
    }
    public static let museum = OwnStore("Museum849", framework: 849, externalFiles: [scanFile: scan]) { museumModel() }
    public static let harvest = OwnStore("Harvest1345", framework: 1345) { harvestModel() }
    public static let voyage = OwnStore("Voyage1526", framework: 1526) { voyageModel() }

    public static let all = [orchard, playlists, migratedPlaylists, museum, harvest, voyage]

    /// The one file beside the museum's store.
    public static let scanFile = "3F2504E0-4F89-41D3-9A0C-0305E82C3301"
    public static let scan = Data((0..<150_000).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) })
}
