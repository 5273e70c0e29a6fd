import CoreData

/// The rules for what a store says of itself: its model, version hashes, tables.
struct MetadataRules {
    let store: CheckedStore

    func findings() -> [StoreFinding] { structure + [modelCache, versionHashes].compactMap { $0 } }

    // MARK: Tables

    private var structure: [StoreFinding] {
        let unusable = store.survey.tables.filter { table in
            store.contents.tables[store.contents.present(table.name) ?? ""] != nil
                && !store.tables.contains { $0.name == table.name }
        }.map {
            "The table \($0.name) has no key Z_PK, Z_ENT or Z_OPT as Core Data makes it: its rows are not checked."
        }
        let problems = store.contents.problems.filter { !$0.contains("Z_MODELCACHE") }
        let warnings = store.model.warnings.filter { !$0.hasPrefix("The model in the store cannot be read;") }
        return (warnings + problems + store.contents.historyProblems + store.survey.problems + unusable).map {
            StoreFinding(kind: .structure, table: nil, count: 1, examples: [], sentence: $0)
        }
    }

    // MARK: Model

    /// The store's own model as it is, with the attributes' own types; nil if it cannot be read.
    private var cachedModel: NSManagedObjectModel? {
        store.contents.modelCache.flatMap { $0.isEmpty ? nil : try? StoreInspection.model(modelCache: $0) }
    }

    private var modelCache: StoreFinding? {
        let damage = store.contents.problems.first { $0.contains("Z_MODELCACHE") }
        let isUnreadable = store.contents.modelCache.map { !$0.isEmpty } == true && cachedModel == nil
        guard damage != nil || isUnreadable else { return nil }
        let sentence =
            damage
            ?? "The model in the store (Z_MODELCACHE) cannot be read; a program that has its own does not need it."
        return StoreFinding(
            kind: .modelCache, table: "Z_MODELCACHE", count: 1, examples: [], sentence: sentence,
            mend: replacement ?? Mend("removes it", sql: "DELETE FROM Z_MODELCACHE"))
    }

    /// Returns the mend with the model that the person named.
    private var replacement: Mend? {
        guard case .file(let path) = store.model.origin,
            let model = try? ModelFileChoice.model(at: path, for: store.contents.metadata),
            let cache = try? model.encodedModelCache()
        else { return nil }
        return Mend(
            "replaces it by the model \(path)",
            [
                .statement("DELETE FROM Z_MODELCACHE"),
                .statement("INSERT INTO Z_MODELCACHE (Z_CONTENT) VALUES (?)", [.blob(cache)]),
            ])
    }

    // MARK: Version hashes

    private static let keys = [
        NSStoreModelVersionHashesKey, NSPersistentStoreModelVersionChecksumKey, "NSStoreModelVersionHashesDigest",
        "NSStoreModelVersionHashesVersion",
    ]

    /// Compares the version hashes in the metadata with those of the model in the store.
    private var versionHashes: StoreFinding? {
        guard store.contents.hasMetadata, let model = cachedModel else { return nil }
        let held = Set(store.model.entities.compactMap(\.name))
        let wanted = model.entityVersionHashesByName.filter { held.contains($0.key) }
        let given = store.contents.metadata[NSStoreModelVersionHashesKey] as? [String: Data]
        guard let given else { return nil }
        let names = Set(wanted.keys).union(given.keys).filter { wanted[$0] != given[$0] }.sorted()
        if names.isEmpty { return nil }
        let examples = Array(names.prefix(StoreFinding.exampleCount))
        let list = examples.joined(separator: ", ") + (names.count > examples.count ? ", …" : "")
        return StoreFinding(
            kind: .versionHashes, table: "Z_METADATA", count: Int64(names.count), examples: examples,
            sentence: "The version \(names.count == 1 ? "hash" : "hashes") of \(list) in the metadata "
                + "\(names.count == 1 ? "is" : "are") not of the model in the store: its program would refuse it.",
            mend: rewriting(model, held))
    }

    /// Returns the mend that writes the model's hashes; nil unless the tables show that the model
    /// is the store's.
    private func rewriting(_ model: NSManagedObjectModel, _ held: Set<String>) -> Mend? {
        guard store.survey.mends.isEmpty, store.tables.count == store.survey.tables.count else { return nil }
        let entities = model.entities.filter { held.contains($0.name ?? "") }
        let made = StoreMetadata.make(for: entities, of: model)
        var metadata = store.contents.metadata
        metadata[NSStoreUUIDKey] = nil
        for key in Self.keys where metadata[key] != nil || key == NSStoreModelVersionHashesKey {
            metadata[key] = made[key]
        }
        guard
            let list = try? PropertyListSerialization.data(fromPropertyList: metadata, format: .binary, options: 0)
        else { return nil }
        return Mend(
            "writes the hashes of the model in the store",
            [
                .statement(
                    "UPDATE Z_METADATA SET Z_PLIST = ? WHERE Z_VERSION = (SELECT min(Z_VERSION) FROM Z_METADATA)",
                    [.blob(list)])
            ])
    }
}
