extension NSManagedObjectContext {
    /// The permanent ID of a new object, where the context hands them out; nil elsewhere, and when the store cannot give one.
    final func permanentID(ofNew object: NSManagedObject) -> NSManagedObjectID? {
        guard handsOutPermanentIDs, object.flags.contains(.inserted) else { return nil }
        // Who asks one new object for its ID will ask others too, and each request for keys is a transaction.
        let neighbours = changes.inserted.last { $0.storeNumber < 0 }
        do {
            try obtainPermanentIDs(for: neighbours.contains { $0 === object } ? neighbours : [object])
        } catch {
            // The save will say what is wrong with the store.
            return nil
        }
        return object.extras?.objectID
    }
}
