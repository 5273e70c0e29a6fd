extension NSEntityDescription: PredicateComparable, KeyValueCoding {
    /// An entity equals, in predicates, the entity of its name in another copy of the model.
    public func isEqualInPredicate(to other: Any) -> Bool { (other as? NSEntityDescription).map { $0.name == name } ?? false }

    /// `name` and `managedObjectClassName`, as predicates ask for them (`entity.name == "Novel"`); nil for any other key.
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
