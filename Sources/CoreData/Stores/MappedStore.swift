/// A store that is migrated with objects, by a mapping model, also where the mapping is inferred.
protocol MappedStore: NSPersistentStore {}
