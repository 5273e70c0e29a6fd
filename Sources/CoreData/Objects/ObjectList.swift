import CSwiftRuntime

/// Objects in order without duplicates; membership is tested by hashing once there are more than a few.
struct ObjectList {
    private(set) var objects: ContiguousArray<NSManagedObject> = []
    private var positions: [ObjectIdentifier: Int]?
    /// The objects as a set, once somebody has asked for it.
    private var madeSet: MemberSet?

    var count: Int { objects.count }
    var isEmpty: Bool { objects.isEmpty }

    private static let scanLimit = 12

    mutating func position(of object: NSManagedObject) -> Int? {
        if objects.count <= Self.scanLimit { return objects.firstIndex { $0 === object } }
        if positions == nil {
            var built: [ObjectIdentifier: Int] = [:]
            built.reserveCapacity(objects.count)
            for (index, object) in objects.enumerated() { built[ObjectIdentifier(object)] = index }
            positions = built
        }
        return positions?[ObjectIdentifier(object)]
    }

    mutating func contains(_ object: NSManagedObject) -> Bool { position(of: object) != nil }

    /// Appends without looking for a duplicate: the caller knows that there is none.
    mutating func appendNew(_ object: NSManagedObject) {
        if positions != nil { positions?[ObjectIdentifier(object)] = objects.count }
        if madeSet != nil { madeSet = nil }
        objects.append(object)
    }

    /// The objects as a set. O(1) until the list changes.
    mutating func set() -> MemberSet {
        if let madeSet { return madeSet }
        let made = MemberSet(objects)
        madeSet = made
        return made
    }

    /// - Returns: whether the object was not there yet.
    @discardableResult
    mutating func append(_ object: NSManagedObject) -> Bool {
        if contains(object) { return false }
        appendNew(object)
        return true
    }

    /// Removes in constant time; the last object takes the place.
    @discardableResult
    mutating func removeUnordered(_ object: NSManagedObject) -> Bool {
        guard let index = position(of: object) else { return false }
        let last = objects.count - 1
        madeSet = nil
        if index != last {
            objects[index] = objects[last]
            positions?[ObjectIdentifier(objects[index])] = index
        }
        objects.removeLast()
        positions?[ObjectIdentifier(object)] = nil
        return true
    }

    @discardableResult
    mutating func removeOrdered(_ object: NSManagedObject) -> Bool {
        guard let index = position(of: object) else { return false }
        objects.remove(at: index)
        positions = nil
        madeSet = nil
        return true
    }

    mutating func insert(_ object: NSManagedObject, at index: Int) {
        objects.insert(object, at: index)
        positions = nil
        madeSet = nil
    }

    mutating func replaceAll(_ new: some Sequence<NSManagedObject>) {
        objects = ContiguousArray(new)
        positions = nil
        madeSet = nil
    }

    mutating func removeAll() {
        objects.removeAll()
        positions = nil
        madeSet = nil
    }
}

/// The members of a relationship as a set.
struct MemberSet {
    let set: Set<NSManagedObject>
    /// The class of all members; nil when they are of several classes.
    private let commonClass: NSManagedObject.Type?

    init(_ objects: ContiguousArray<NSManagedObject>) {
        var set = Set<NSManagedObject>(minimumCapacity: objects.count)
        let firstClass: NSManagedObject.Type = objects.first.map { type(of: $0) } ?? NSManagedObject.self
        var isUniform = true
        objects.forEachUnretained { object in
            if type(of: object) != firstClass { isUniform = false }
            // Sets are walked in no order: the rows are on their way to the processor then.
            if let row = object.committedRow { opencoredata_prefetch(row) }
            // `insert` would also give back what it found.
            _ = set.update(with: object)
        }
        self.set = set
        commonClass = isUniform ? firstClass : nil
    }

    /// Whether all members are known to be instances of a class.
    func isInstances(of wanted: NSManagedObject.Type) -> Bool {
        if set.isEmpty { return true }
        guard let commonClass else { return wanted == NSManagedObject.self }
        return commonClass == wanted || commonClass.isSubclass(of: wanted)
    }
}
