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

/// A stack with a history.
struct RecordedShop {
    let stack: DataStack
    private let location: StoreLocation
    private let folder: TemporaryFolder

    init(_ kind: StoreKind = .sqlite, _ change: (inout DataStackOptions) -> Void = { _ in }) throws {
        folder = try TemporaryFolder()
        location = kind.location(folder.file("assets.sqlite"))
        stack = Self.stack(location, change)
    }

    private static func stack(_ location: StoreLocation, _ change: (inout DataStackOptions) -> Void) -> DataStack {
        var options = DataStackOptions()
        options.tracksHistory = true
        change(&options)
        return DataStack(entities: Asset.self, Movie.self, Album.self, store: location, options: options)
    }

    /// Another stack on the store.
    func other(_ change: (inout DataStackOptions) -> Void = { _ in }) -> DataStack { Self.stack(location, change) }
}

extension DataStack {
    @discardableResult
    nonisolated(nonsending) func insertAsset(_ title: String) async throws -> NSManagedObjectID {
        try await write { Asset(context: $0, title: title).objectID }
    }
}
