extension IdentityMap {
    /// A hash table with open addressing; keys stand beside the objects for probing.
    struct Table: ~Copyable {
        struct Entry {
            var key: Int64
            var object: Unretained<NSManagedObject>?
        }

        private var entries: UnsafeMutablePointer<Entry>
        private var mask: Int
        private var entryCount = 0
        /// Registered objects that are no entries yet; nil for those released meanwhile.
        private var waiting: ContiguousArray<Unretained<NSManagedObject>?> = []
        private var waitingCount = 0
        /// The number of registrations so far, which shows whether objects were added since.
        private(set) var registrationCount = 0
        /// The bounds of all keys that were ever registered.
        private var lowestKey = Int64.max
        private var highestKey = Int64.min

        var count: Int { entryCount + waitingCount }

        init(capacity: Int) {
            entries = .allocate(capacity: capacity)
            entries.initialize(repeating: Entry(key: 0, object: nil), count: capacity)
            mask = capacity - 1
        }

        deinit { entries.deallocate() }

        @inline(__always)
        private func start(_ key: Int64) -> Int {
            KeyHash.slot(key) & mask
        }

        /// Whether an object may be registered under a key within these bounds.
        func mayHold(keysFrom lowest: Int64, to highest: Int64) -> Bool { lowest <= highestKey && highest >= lowestKey }

        @inline(__always)
        private mutating func note(_ key: Int64) {
            lowestKey = min(lowestKey, key)
            highestKey = max(highestKey, key)
        }

        @inline(__always)
        mutating func find(_ key: Int64) -> Unretained<NSManagedObject>? {
            if !waiting.isEmpty { takeInWaiting() }
            var index = start(key)
            while let object = entries[index].object {
                if entries[index].key == key { return object }
                index = (index + 1) & mask
            }
            return nil
        }

        /// Finds the object with a key, first at a position in the waiting list.
        @inline(__always)
        mutating func find(_ key: Int64, waitingAt place: Int) -> Unretained<NSManagedObject>? {
            if place >= 0, place < waiting.count, let object = waiting[place],
                object.withObject({ $0.key }) == key
            {
                return object
            }
            return find(key)
        }

        /// Registers an object; it replaces one that has the same key.
        mutating func insert(_ object: Unretained<NSManagedObject>, key: Int64) {
            if !waiting.isEmpty { takeInWaiting() }
            registrationCount += 1
            note(key)
            put(object, key: key)
        }

        /// Registers objects whose keys are not in the table.
        mutating func insertNew(_ objects: UnsafeBufferPointer<NSManagedObject>) {
            if waiting.count > 64, waiting.count > waitingCount * 4 { closeGaps() }
            if waiting.isEmpty { waiting.reserveCapacity(objects.count) }
            guard let first = objects.baseAddress else { return }
            // Plain references: no retain and release for each object.
            let references = UnsafeRawPointer(first).assumingMemoryBound(to: Unretained<NSManagedObject>.self)
            for index in 0..<objects.count {
                let place = Int32(truncatingIfNeeded: waiting.count)
                references[index].withObject {
                    $0.registryPlace = place
                    note($0.key)
                }
                waiting.append(references[index])
            }
            waitingCount += objects.count
            registrationCount += objects.count
        }

        private mutating func closeGaps() {
            waiting.removeAll { $0 == nil }
            for place in waiting.indices {
                waiting[place]?.withObject { $0.registryPlace = Int32(truncatingIfNeeded: place) }
            }
        }

        /// Moves waiting objects to the entries.
        ///
        /// - Returns: whether objects are still waiting.
        @inline(never)
        @discardableResult
        mutating func takeInWaiting(atMost limit: Int = .max) -> Bool {
            reserve(entryCount + waitingCount)
            // The last ones: the positions of the other objects do not change.
            let start = max(0, waiting.count - limit)
            for case let object? in waiting[start...] {
                // An object in its deinit on another thread waits for the lock: its fields exist.
                put(object, key: object.withObject { $0.key })
                object.withObject { $0.registryPlace = -1 }
                waitingCount -= 1
            }
            if start == 0 { waiting = [] } else { waiting.removeSubrange(start...) }
            return start > 0
        }

        @inline(__always)
        private mutating func put(_ object: Unretained<NSManagedObject>, key: Int64) {
            if (entryCount + 1) * 3 > (mask + 1) * 2 { reserve(entryCount + 1) }
            var index = start(key)
            while entries[index].object != nil {
                if entries[index].key == key {
                    entries[index].object = object
                    return
                }
                index = (index + 1) & mask
            }
            entries[index] = Entry(key: key, object: object)
            entryCount += 1
        }

        /// Makes room for a number of objects.
        mutating func reserve(_ wanted: Int) {
            var capacity = mask + 1
            while capacity * 2 < wanted * 3 { capacity *= 2 }
            guard capacity > mask + 1 else { return }
            let (oldEntries, oldMask) = (entries, mask)
            entries = .allocate(capacity: capacity)
            entries.initialize(repeating: Entry(key: 0, object: nil), count: capacity)
            mask = capacity - 1
            entryCount = 0
            for index in 0...oldMask {
                if let object = oldEntries[index].object { put(object, key: oldEntries[index].key) }
            }
            oldEntries.deallocate()
        }

        /// - Returns: whether the object was there.
        @discardableResult
        mutating func remove(_ object: NSManagedObject) -> Bool {
            let place = Int(object.registryPlace)
            // Verified: it may be of another table, if the object's entity changed hierarchy.
            if place >= 0, place < waiting.count,
                waiting[place]?.pointer == Unretained(object).pointer
            {
                waiting[place] = nil
                object.registryPlace = -1
                waitingCount -= 1
                if waitingCount == 0 { waiting.removeAll(keepingCapacity: waiting.count <= 1024) }
                return true
            }
            let address = Unretained(object).pointer
            var index = start(object.key)
            while let entry = entries[index].object, entry.pointer != address {
                index = (index + 1) & mask
            }
            guard entries[index].object != nil else { return false }
            entryCount -= 1
            var gap = index
            var next = (gap + 1) & mask
            while entries[next].object != nil {
                let home = start(entries[next].key)
                // Move an entry back when its home does not lie cyclically in (gap, next].
                if (next &- home) & mask >= (next &- gap) & mask {
                    entries[gap] = entries[next]
                    gap = next
                }
                next = (next + 1) & mask
            }
            entries[gap] = Entry(key: 0, object: nil)
            return true
        }

        /// All objects that can still be retained.
        func appendObjects(to result: inout [NSManagedObject]) {
            for index in 0...mask {
                if let entry = entries[index].object, let object = entry.retained { result.append(object) }
            }
            for case let entry? in waiting {
                if let object = entry.retained { result.append(object) }
            }
        }

        /// Marks all waiting objects as no longer waiting.
        func forgetPlaces() {
            for case let entry? in waiting { entry.withObject { $0.registryPlace = -1 } }
        }
    }
}
