import Foundation

extension [NSMappingModel] {
    /// Returns the mapping model that was made for the entities of two versions: of several, the
    /// one with the most mappings, then the first.
    func best(from source: [String: Data], to destination: [String: Data]) -> NSMappingModel? {
        let fitting = filter { $0.fits(source, destination) }
        // `max` would take the last of several.
        let most = fitting.map(\.entityMappings.count).max()
        return fitting.first { $0.entityMappings.count == most }
    }
}

extension NSMappingModel {
    /// Whether all entity mappings were made for entities with these version hashes.
    fileprivate func fits(_ source: [String: Data], _ destination: [String: Data]) -> Bool {
        func fits(_ name: String?, _ hash: Data?, _ hashes: [String: Data]) -> Bool {
            name.map { hash != nil && hashes[$0] == hash } ?? true
        }
        return !entityMappings.isEmpty
            && entityMappings.allSatisfy {
                fits($0.sourceEntityName, $0.sourceEntityVersionHash, source)
                    && fits($0.destinationEntityName, $0.destinationEntityVersionHash, destination)
            }
    }
}
