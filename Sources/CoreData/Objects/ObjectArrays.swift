// Arrays of objects: access without counting references to each object.

extension ContiguousArray where Element == NSManagedObject {
    /// Calls the block with each object, without counting references.
    @inline(__always)
    func forEachUnretained(in range: Range<Int>? = nil, _ body: (NSManagedObject) throws -> Void) rethrows {
        try withUnsafeBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return }
            // A reference and its unmanaged form are the same word.
            let references = UnsafeRawPointer(base).assumingMemoryBound(to: Unretained<NSManagedObject>.self)
            for index in range ?? 0..<buffer.count { try references[index].withObject(body) }
        }
    }

    /// Appends objects; an empty array adopts them without copying.
    mutating func appendOrAdopt(_ objects: ContiguousArray<NSManagedObject>) {
        if isEmpty { self = objects } else { append(contentsOf: objects) }
    }

    /// The same objects in an order, those that it lacks at the end.
    func ordered(as order: some Sequence<NSManagedObject>) -> Self {
        let own = Set(self)
        let placed = Self(order.filter(own.contains))
        let known = Set(placed)
        return placed + filter { !known.contains($0) }
    }
}
