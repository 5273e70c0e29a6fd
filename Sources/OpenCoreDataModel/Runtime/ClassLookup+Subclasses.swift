extension ClassLookup {
    /// The class of a name among a class and those that inherit from it; nil where there is none or no single one.
    ///
    /// - Parameter name: as for `find(_:inheritingFrom:)`, which says what it costs.
    package static func subclass(named name: String, of base: AnyClass) -> AnyClass? {
        guard case .found(let found) = find(name, inheritingFrom: base) else { return nil }
        return found
    }

    /// The loaded classes that inherit from a class, in the order of their names.
    ///
    /// Cost: O(number of classes in the program); all of them are readied for use.
    package static func subclasses(of base: AnyClass) -> [AnyClass] {
        allClasses.filter { $0 != base && inherits($0, from: base) }.sorted { name(of: $0) < name(of: $1) }
    }
}
