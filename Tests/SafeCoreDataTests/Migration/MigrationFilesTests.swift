import SafeCoreData
import TestSupport
import Testing

private enum AlbumV1: VersionedSchema {
    static let entities: [any EntityObject.Type] = [StoredPhoto.self]

    @Entity final class StoredPhoto: NSManagedObject {
        var name: String
        @Attribute(.externalStorage) var scan: Data
    }
}

private enum AlbumV2: VersionedSchema {
    static let entities: [any EntityObject.Type] = [StoredPhoto.self]

    @Entity final class StoredPhoto: NSManagedObject {
        var name: String
        @Attribute(.externalStorage) var scan: Data
        var note: String = "none".uppercased()
    }
}

private enum AlbumV3: VersionedSchema {
    static let entities: [any EntityObject.Type] = [StoredPhoto.self]

    @Entity final class StoredPhoto: NSManagedObject {
        var name: String
        @Attribute(.externalStorage) var scan: Data
        var note: String = ""
        var size: Int
    }
}

/// What lies beside the rows of a store: external files and history.
struct MigrationFilesTests {
    private let folder: TemporaryFolder
    private let url: URL
    private let scan = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0) })

    init() throws {
        folder = try TemporaryFolder()
        url = folder.file("album.sqlite")
    }

    private let plan = MigrationPlan(from: AlbumV1.self).inferred(to: AlbumV2.self).step(to: AlbumV3.self) { step in
        step.map(AlbumV2.StoredPhoto.self, to: AlbumV3.StoredPhoto.self) { old, new in new.size = old.scan.count }
    }

    nonisolated(nonsending) private func fill() async throws {
        var options = DataStackOptions()
        options.tracksHistory = true
        let stack = DataStack(migration: MigrationPlan(from: AlbumV1.self), store: .file(url), options: options)
        let scan = scan
        try await stack.write { _ = AlbumV1.StoredPhoto(context: $0, name: "A", scan: scan) }
        try await stack.close()
    }

    @Test func externalFilesMoveAlong() async throws {
        try await fill()
        let stack = DataStack(migration: plan, store: .file(url))
        let scans = try await stack.read { try $0.fetch(AlbumV3.StoredPhoto.self).map(\.scan) }
        #expect(scans == [scan])
        try await stack.close()
        #expect(SQLiteFile(url).column("SELECT ZSIZE || ZNOTE FROM ZSTOREDPHOTO") == ["300000NONE"])
    }

    @Test func oneExternalFileIsLeft() async throws {
        try await fill()
        let stack = DataStack(migration: plan, store: .file(url))
        try await stack.opened()
        try await stack.close()
        let files = FileManager.default.enumerator(atPath: folder.url.path)?.compactMap { $0 as? String } ?? []
        #expect(files.filter { $0.contains("_EXTERNAL_DATA/") }.count == 1)
        #expect(!files.contains { $0.contains(".migration") })
    }

    @Test func stepsKeepTheHistoryAndTheIDs() async throws {
        try await fill()
        let identifier = SQLiteFile(url).value("SELECT Z_UUID FROM Z_METADATA")
        let key = SQLiteFile(url).value("SELECT Z_PK FROM ZSTOREDPHOTO")
        func expectTheSame<Newest>(after plan: MigrationPlan<Newest>) async throws {
            let stack = DataStack(migration: plan, store: .file(url))
            #expect(try await stack.history(after: nil).count == 1)
            try await stack.close()
            #expect(SQLiteFile(url).value("SELECT Z_UUID FROM Z_METADATA") == identifier)
            #expect(SQLiteFile(url).value("SELECT Z_PK FROM ZSTOREDPHOTO") == key)
        }
        try await expectTheSame(after: MigrationPlan(from: AlbumV1.self).inferred(to: AlbumV2.self))
        try await expectTheSame(after: plan)
    }

    @Test func anExpressionGivesExistingObjectsTheirValueInAStepWithClosures() async throws {
        try await fill()
        let plan = MigrationPlan(from: AlbumV1.self).step(to: AlbumV2.self) { _ in }
        let stack = DataStack(migration: plan, store: .file(url))
        try await stack.opened()
        try await stack.close()
        #expect(SQLiteFile(url).column("SELECT ZNAME || ZNOTE FROM ZSTOREDPHOTO") == ["ANONE"])
    }
}
