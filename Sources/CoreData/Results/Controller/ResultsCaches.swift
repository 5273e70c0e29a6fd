import Foundation
import Synchronization

/// The names of caches that controllers use.
///
/// Caches contain nothing, in memory or in files: sections are found while rows are read, so there
/// is nothing to save and nothing that could be out of date. One rule of caches remains: the
/// request of a controller with a cache must not change until the cache is deleted.
enum ResultsCaches {
    /// The numbers of deletions: of all caches, and of each. The mutex guards them.
    private static let deletions = Mutex<(all: Int, byName: [String: Int])>((0, [:]))

    /// A number that changes when the cache is deleted.
    static func generation(of name: String) -> Int { deletions.withLock { $0.all + $0.byName[name, default: 0] } }

    static func delete(_ name: String?) {
        deletions.withLock { deletions in
            if let name { deletions.byName[name, default: 0] += 1 } else { deletions.all += 1 }
        }
    }
}

/// The settings of the request that a cache was made for.
struct CachedRequest: Equatable {
    private let entity: String?
    private let predicate: LiteralText?
    private let order: [String]
    private let generation: Int

    init(_ request: NSFetchRequest<any NSFetchRequestResult>, cache: String) {
        entity = request.entityName
        predicate = (request.predicate?.predicateFormat).map(LiteralText.init)
        order = (request.sortDescriptors ?? []).map { "\($0.key ?? "") \($0.ascending)" }
        generation = ResultsCaches.generation(of: cache)
    }

    /// - Throws: code 134060 if a fetch would use a cache that was made for another request.
    func check(against former: CachedRequest, cache: String) throws {
        guard self != former, generation == former.generation else { return }
        throw CoreDataErrors.cacheOfOtherRequest(cache, for: entity)
    }
}
