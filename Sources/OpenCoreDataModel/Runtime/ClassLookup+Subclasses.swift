extension ClassLookup {
    /// Returns the class with a name among a class and its subclasses.
    ///
    /// nil where there is none or no single one.
    ///
    /// - Parameter name: As for `find(_:inheritingFrom:)`, which also gives the cost.
    package static func subclass(named name: String, of base: AnyClass) -> AnyClass? {
        guard case .found(let found) = find(name, inheritingFrom: base) else { return nil }
        return found
    }

    /// Returns the loaded classes that inherit from a class, in the order of their names.
    ///
    /// Cost: O(number of classes in the program); all of them are made ready for use.
    package static func subclasses(of base: AnyClass) -> [AnyClass] {
        allClasses.filter { $0 != base && inherits($0, from: base) }.sorted { name(of: $0) < name(of: $1) }
    }
}
