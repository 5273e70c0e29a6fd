/// What takes new objects: a context.
protocol ObjectContext: AnyObject {
    /// Takes a new object, which gets its registry and its initial values.
    func insertNew(_ object: NSManagedObject)
}
