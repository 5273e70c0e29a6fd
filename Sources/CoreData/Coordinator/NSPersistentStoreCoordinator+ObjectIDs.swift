import Foundation

// Object IDs from their URIs.
extension NSPersistentStoreCoordinator {
    func objectID(for url: URL) -> NSManagedObjectID? {
        guard url.scheme?.lowercased() == "x-coredata" else { return nil }
        // Not `url.host`, which may have been made lower case: UUIDs in URIs are compared as they
        // are written.
        let parts = url.absoluteString.dropFirst("x-coredata://".count).split(
            separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let entityName = parts[1].removingPercentEncoding,
            let reference = parts[2].removingPercentEncoding
        else { return nil }
        let identifier = parts[0]
        guard
            let store = addedStores.first(where: { added in
                added.store.identifier.map { $0.caseInsensitiveCompare(identifier) == .orderedSame } ?? false
            })?.store,
            let layout = modelLayout.layoutByName[entityName],
            let key = store.key(forReferenceText: reference, of: layout)
        else { return nil }
        return NSManagedObjectID(key: key, layout: self.layout(ofRow: key, named: layout, in: store), store: store)
    }

    /// The entity of a row, which may be another one of the hierarchy than the URI names.
    ///
    /// If the row cannot be read, it is the named entity.
    private func layout(ofRow key: Int64, named layout: EntityLayout, in store: NSPersistentStore) -> EntityLayout {
        let root = modelLayout.layouts[layout.rootIndex]
        // A store of a class that the program defines reads rows for contexts only.
        guard root.familyIndexes.count > 1, let rows = store.snapshotStore, !rows.needsObjects else { return layout }
        if let cached = rows.cachedRow(key, of: root) { return cached.layout }
        guard let read = try? rows.readRows([key], of: root) else { return layout }
        return withExtendedLifetime(read) { read.rows.first.map { modelLayout.layouts[$0.rowLayoutIndex] } ?? layout }
    }
}
