import Foundation

/// The result of a fetched property's request, and the version of the `userInfo` it was made with.
private struct FetchedObjects {
    let objects: NSArray
    let userInfoVersion: Int
}

extension NSManagedObject {
    /// The objects that a fetched property's request gives for this object, in order. They are kept
    /// until the object is a fault again or is refreshed, or the property's `userInfo`, which the
    /// request may refer to, is set.
    ///
    /// The array is empty if the store cannot be read, or if no store can execute the request. The
    /// next save then throws the reason, as for a fault.
    final func fetchedPropertyValue(_ slot: Int, in context: NSManagedObjectContext) -> Any? {
        guard let description = layout.slots[slot].property as? NSFetchedPropertyDescription,
            let template = description.fetchRequestTemplate
        else { return nil }
        fireFaultIfNeeded()
        if flags.contains(.fault) { return NSArray() }
        let version = description.userInfoVersion
        if let known = extras?.decoded(slot) as? FetchedObjects, known.userInfoVersion == version {
            return known.objects
        }
        let request = template.substituting(["FETCH_SOURCE": self, "FETCHED_PROPERTY": description]).makeFetchRequest()
        do {
            let found = NSArray(array: try context.fetch(request))
            makeExtras().setDecoded(slot, FetchedObjects(objects: found, userInfoVersion: version))
            return found
        } catch {
            context.readFailure = CoreDataErrors.unreadable(description.name, of: layout.name, error)
            return NSArray()
        }
    }
}
