/// A set of slots: one word for entities of up to 64 properties.
package struct SlotMask: Hashable, Sendable {
    @usableFromInline var low: UInt64 = 0
    /// The words after the first one; nil, not empty, where there are none, so that a mask costs no
    /// reference counting.
    private var high: [UInt64]?

    package init(count: Int) {
        high = count > 64 ? Array(repeating: 0, count: (count - 1) / 64) : nil
    }

    @inlinable @inline(__always)
    package func contains(_ slot: Int) -> Bool {
        if slot < 64 { return low & (1 << UInt64(slot)) != 0 }
        return highWord(slot) & (1 << UInt64(slot & 63)) != 0
    }

    @usableFromInline @inline(never)
    func highWord(_ slot: Int) -> UInt64 { high.map { $0[(slot >> 6) - 1] } ?? 0 }

    @inline(__always)
    package mutating func insert(_ slot: Int) {
        if slot < 64 { low |= 1 << UInt64(slot) } else { insertHigh(slot) }
    }

    @inline(never)
    private mutating func insertHigh(_ slot: Int) { high?[(slot >> 6) - 1] |= 1 << UInt64(slot & 63) }

    mutating func remove(_ slot: Int) {
        if slot < 64 { low &= ~(1 << UInt64(slot)) } else { high?[(slot >> 6) - 1] &= ~(1 << UInt64(slot & 63)) }
    }

    @inline(__always)
    mutating func removeAll() {
        low = 0
        if high != nil { removeHigh() }
    }

    @inline(never)
    private mutating func removeHigh() { high = high.map { Array(repeating: 0, count: $0.count) } }

    var isEmpty: Bool { low == 0 && (high?.allSatisfy { $0 == 0 } ?? true) }

    /// Calls the block with each slot of the set, in order.
    @inline(__always)
    func forEach(below count: Int, _ body: (Int) -> Void) {
        var word = low
        while word != 0 {
            body(word.trailingZeroBitCount)
            word &= word - 1
        }
        if high != nil {
            for slot in 64..<max(count, 64) where contains(slot) { body(slot) }
        }
    }

    /// Whether a condition holds for at least one slot of the set.
    @inline(__always)
    func contains(below count: Int, where condition: (Int) -> Bool) -> Bool {
        var word = low
        while word != 0 {
            if condition(word.trailingZeroBitCount) { return true }
            word &= word - 1
        }
        if high == nil { return false }
        return (64..<max(count, 64)).contains { contains($0) && condition($0) }
    }
}
