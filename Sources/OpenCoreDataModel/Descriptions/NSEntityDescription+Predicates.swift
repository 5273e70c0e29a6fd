extension NSEntityDescription: PredicateComparable, KeyValueCoding {
    /// In predicates, an entity equals the entity with the same name in another copy of the model.
    public func isEqualInPredicate(to other: Any) -> Bool { (other as? NSEntityDescription).map { $0.name == name } ?? false }

    /// Returns `name` or `managedObjectClassName`, for predicates such as `entity.name == "Novel"`.
    ///
    /// nil for any other key.
    public func value(forKey key: String) -> Any? {
        switch key {
        case "name": name
        case "managedObjectClassName": managedObjectClassName
        default: nil
        }
    }

    /// Does nothing: entities are not written by name.
    public func setValue(_ value: Any?, forKey key: String) {}
}
