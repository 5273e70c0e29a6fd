import SafeCoreData
import TestSupport

// Entities whose deletions preserve values of every kind.

enum Rank: Int16, CaseIterable { case low, high }

@Entity
class Asset: NSManagedObject {
    @Attribute(.preservedOnDeletion) var title: String
    @Attribute(.preservedOnDeletion) var size: Int = 0
    @Attribute(.preservedOnDeletion) var made: Date?
    @Attribute(.preservedOnDeletion) var price: Decimal?
    @Attribute(.preservedOnDeletion) var rank: Rank = .low
    @Attribute(.preservedOnDeletion) var box: Dimensions?
    @Attribute(.preservedOnDeletion) var bytes: Data?
    @Attribute(.preservedOnDeletion) var identifier: UUID?
    var note: String?
    @Relationship(inverse: \Album.assets) var album: Album?
}

@Entity
final class Movie: Asset {
    @Attribute(.preservedOnDeletion) var seconds: Double = 0
    var codec: String?
}

@Entity(isAbstract: true)
class KeptMedium: NSManagedObject {
    @Attribute(.preservedOnDeletion) var title: String
}

@Entity
final class KeptBook: KeptMedium {
    @Attribute(.preservedOnDeletion) var pages: Int = 1
}

@Entity
final class Album: NSManagedObject {
    var name: String
    var assets: Set<Asset>
}

/// Where a stack with a history has its store.
enum RecordedPlace: String, CaseIterable, Sendable {
    case file, memory
}

/// A stack with a history.
struct RecordedShop {
    let stack: DataStack
    let url: URL
    private let folder: TemporaryFolder

    init(_ place: RecordedPlace = .file, _ change: (inout DataStackOptions) -> Void = { _ in }) throws {
        folder = try TemporaryFolder()
        url = folder.file("assets.sqlite")
        stack = Self.stack(place == .file ? .file(url) : .inMemory, change)
    }

    private static func stack(_ location: StoreLocation, _ change: (inout DataStackOptions) -> Void) -> DataStack {
        var options = DataStackOptions()
        options.tracksHistory = true
        change(&options)
        return DataStack(entities: Asset.self, Movie.self, Album.self, store: location, options: options)
    }

    /// Another stack on the file.
    func other(_ change: (inout DataStackOptions) -> Void = { _ in }) -> DataStack { Self.stack(.file(url), change) }
}

extension DataStack {
    @discardableResult
    nonisolated(nonsending) func insertAsset(_ title: String) async throws -> NSManagedObjectID {
        try await write { Asset(context: $0, title: title).objectID }
    }
}
