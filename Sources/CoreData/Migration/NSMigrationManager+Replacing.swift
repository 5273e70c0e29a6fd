import Foundation

// Automatic migration by a mapping model: the migrated store takes the place of the former one.
extension NSMigrationManager: MappingMigrator {
    static func mappingModel(
        from source: NSManagedObjectModel, to destination: NSManagedObjectModel
    ) -> NSMappingModel? {
        NSMappingModel(from: nil, forSourceModel: source, destinationModel: destination)
    }

    func migrate(storeAt place: StorePlace, by mapping: NSMappingModel, _ migration: StoreMigration) throws {
        progressHandler = migration.progress
        progressHandler.report(0)
        var source = place
        source.configuration = configuration(holding: migration.storedHashes)
        try migrate(mapping) { steps in
            try MigrationDestination(place).write(keepingContent: false) { work in
                let before = FileStates(of: place.url)
                let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
                    ofType: place.type, at: place.url, options: place.options)
                let name = StoreName.text(type: place.type, url: place.url)
                let userInfo = StoreOpeningErrors.userInfo(type: place.type, url: place.url)
                // Another program may have migrated it while this one waited for the lock.
                if try migration.wasDone(metadata, store: name, userInfo: userInfo) { return false }
                try self.run(steps, from: source, to: work)
                guard FileStates(of: place.url) == before else {
                    throw MigrationErrors.store(
                        .migrationManagerSourceStore, source,
                        "was changed by another program meanwhile; it is as that program left it")
                }
                return true
            }
        }
        progressHandler.report(1)
    }

    /// Returns the configuration of the source model whose entities a store holds; nil for all.
    private func configuration(holding hashes: [String: Data]) -> String? {
        func fits(_ name: String?) -> Bool {
            sourceModel.heldEntities(forConfigurationName: name)?.versions.fit(hashes) == true
        }
        return fits(nil) ? nil : sourceModel.configurations.sorted().first(where: fits)
    }
}

/// The sizes and times of a store's files, which differ after a write.
private struct FileStates: Equatable {
    private let states: [String]

    init(of url: URL) {
        states = [url.path, url.path + "-wal"].map { path in
            var information = stat()
            // An empty log counts like none.
            guard stat(path, &information) == 0, information.st_size > 0 else { return "" }
            return "\(information.st_size) \(information.st_mtim.tv_sec) \(information.st_mtim.tv_nsec)"
        }
    }
}
