import Foundation

// Object IDs from their URIs.
extension NSPersistentStoreCoordinator {
    func objectID(for url: URL) -> NSManagedObjectID? {
        guard url.scheme?.lowercased() == "x-coredata" else { return nil }
        // Not `url.host`, which may have been made lower case: UUIDs in URIs are compared as they are written.
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
        return NSManagedObjectID(key: key, layout: layout, store: store)
    }

}
