import CSwiftRuntime

/// An ordered list of objects without duplicates; it tests membership by hashing once there are
/// more than a few.
///
/// Changes at the end are O(1), and so are unordered removals. Other changes are O(√n): the first
/// one splits a long list into blocks.
struct ObjectList {
    /// The objects, and below, the known positions of a list that is not in blocks.
    private var flat: ContiguousArray<NSManagedObject> = []
    private var positions: [ObjectIdentifier: Int]?
    private var blocks: ObjectBlocks?
    /// The objects as a set, once requested.
    private var madeSet: MemberSet?

    /// All objects in order. O(n) after a change of a list in blocks, otherwise O(1).
    var objects: ContiguousArray<NSManagedObject> { blocks?.objects ?? flat }
    var count: Int { blocks?.count ?? flat.count }
    var isEmpty: Bool { count == 0 }

    private static let scanLimit = 12

    subscript(index: Int) -> NSManagedObject { blocks?[index] ?? flat[index] }

    mutating func position(of object: NSManagedObject) -> Int? {
        if let blocks { return blocks.position(of: object) }
        if flat.count <= Self.scanLimit { return flat.firstIndex { $0 === object } }
        if positions == nil {
            var built: [ObjectIdentifier: Int] = [:]
            built.reserveCapacity(flat.count)
            for (index, object) in flat.enumerated() { built[ObjectIdentifier(object)] = index }
            positions = built
        }
        return positions?[ObjectIdentifier(object)]
    }

    mutating func contains(_ object: NSManagedObject) -> Bool {
        blocks?.contains(object) ?? (position(of: object) != nil)
    }

    /// Appends without a search for a duplicate: the caller knows that there is none.
    mutating func appendNew(_ object: NSManagedObject) {
        if madeSet != nil { madeSet = nil }
        if blocks != nil { return changeBlocks { $0.insert(object, at: $0.count) } }
        if positions != nil { positions?[ObjectIdentifier(object)] = flat.count }
        flat.append(object)
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

    /// Removes an object in constant time; the last object takes its place.
    @discardableResult
    mutating func removeUnordered(_ object: NSManagedObject) -> Bool {
        if blocks != nil { return removeOrdered(object) }
        guard let index = position(of: object) else { return false }
        let last = flat.count - 1
        madeSet = nil
        if index != last {
            flat[index] = flat[last]
            positions?[ObjectIdentifier(flat[index])] = index
        }
        flat.removeLast()
        positions?[ObjectIdentifier(object)] = nil
        return true
    }

    @discardableResult
    mutating func removeOrdered(_ object: NSManagedObject) -> Bool {
        if blocks == nil {
            guard let index = position(of: object) else { return false }
            if flat.count <= Self.scanLimit || index == flat.count - 1 {
                madeSet = nil
                if index < flat.count - 1 { positions = nil } else { positions?[ObjectIdentifier(object)] = nil }
                flat.remove(at: index)
                return true
            }
        }
        madeSet = nil
        return changeBlocks { $0.remove(object) }
    }

    /// Inserts an object that is not there yet.
    mutating func insert(_ object: NSManagedObject, at index: Int) {
        if index == count { return appendNew(object) }
        madeSet = nil
        if blocks == nil, flat.count < Self.scanLimit {
            positions = nil
            flat.insert(object, at: index)
        } else {
            changeBlocks { $0.insert(object, at: index) }
        }
    }

    mutating func replaceAll(_ new: some Sequence<NSManagedObject>) {
        self = ObjectList()
        flat = ContiguousArray(new)
    }

    mutating func removeAll() { self = ObjectList() }

    /// Changes the blocks, made if there are none, copied if shared.
    private mutating func changeBlocks<Result>(_ change: (ObjectBlocks) -> Result) -> Result {
        if !isKnownUniquelyReferenced(&blocks) {
            blocks = ObjectBlocks(objects)
            (flat, positions) = ([], nil)
        }
        guard let blocks else { preconditionFailure("A list has no blocks.") }
        return change(blocks)
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
            // Sets are iterated in no order: prefetching hides the cache misses.
            if let row = object.committedRow { opencoredata_prefetch(row) }
            // `insert` would also return the member that it found.
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
