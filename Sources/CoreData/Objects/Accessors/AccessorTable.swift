import Synchronization

/// A table that maps the addresses of property name literals to slots.
///
/// A look-up takes a few instructions, which are compiled into the modules that declare the
/// properties.
///
/// An accessor's literal has one address for the life of the program. Entries are single atomic
/// words, and writing one twice gives the same word. The owner, an `EntityLayout`, frees the table;
/// objects copy the pointer.
@usableFromInline
struct AccessorTable: @unchecked Sendable {
    // Sendable: the mask never changes, and entries are atomic.

    /// The literal's address in the upper 48 bits, the slot in 11 bits, the kind in 5; 0 for none.
    @usableFromInline
    struct Entry {
        @usableFromInline let bits: UInt64

        @inlinable @inline(__always)
        init(bits: UInt64) { self.bits = bits }

        init(_ literal: StaticString, slot: Int, kind: ValueKind) {
            bits = AccessorTable.address(literal) << 16 | UInt64(slot) << 5 | UInt64(kind.rawValue)
        }

        @inline(__always) var isFound: Bool { bits != 0 }
        @inlinable @inline(__always) var slot: Int { Int(truncatingIfNeeded: bits >> 5) & 0x7ff }
        // The low five bits were written from a ValueKind's raw value.
        @inline(__always) var kind: ValueKind {
            unsafeBitCast(UInt8(truncatingIfNeeded: bits & 31), to: ValueKind.self)
        }

        /// Whether the word in the slot is an integer: the kinds 0 to 3. False for no entry.
        @inlinable @inline(__always) var isInteger: Bool { bits != 0 && bits & 31 <= 3 }
        /// Whether the word in the slot is a double: the kinds 4 to 6. False for no entry.
        @inlinable @inline(__always) var isFloatingPoint: Bool { bits & 31 &- 4 <= 2 }
        /// Whether the slot refers to text: the kinds 8 and 11.
        @inlinable @inline(__always) var isText: Bool { bits & 31 == 8 || bits & 31 == 11 }
    }

    /// The mask and, in the upper half, the hooks; the layout's address; the entries.
    @usableFromInline let words: UnsafeMutablePointer<Atomic<UInt64>>
    @usableFromInline static var headerCount: Int { 2 }

    /// The methods that must be called for an object with this table.
    @inline(__always) var hooks: ObjectHooks {
        ObjectHooks(rawValue: UInt8(truncatingIfNeeded: words[0].load(ordering: .relaxed) >> 32))
    }

    init(expectedCount: Int, hooks: ObjectHooks) {
        var capacity = 16
        while capacity < expectedCount * 8 { capacity *= 2 }
        words = .allocate(capacity: capacity + Self.headerCount)
        words.initialize(to: Atomic(UInt64(capacity - 1) | UInt64(hooks.rawValue) << 32))
        for position in 1..<capacity + Self.headerCount { (words + position).initialize(to: Atomic(0)) }
    }

    /// Sets the layout that owns the table. Called before the table is shared.
    func setOwner(_ layout: EntityLayout) {
        words[1].store(UInt64(UInt(bitPattern: ObjectIdentifier(layout))), ordering: .relaxed)
    }

    /// The layout that owns the table.
    @inline(__always)
    var owner: Unretained<EntityLayout> {
        // A layout writes its own address here when it is made.
        let address = UInt(words[1].load(ordering: .relaxed))
        return Unretained(pointer: UnsafeRawPointer(bitPattern: address).unsafelyUnwrapped)
    }

    func deallocate() {
        words.deinitialize(count: mask + 1 + Self.headerCount)
        words.deallocate()
    }

    /// The greatest position; the table is far smaller than 2^32 entries.
    @inlinable @inline(__always)
    var mask: Int { Int(UInt32(truncatingIfNeeded: words[0].load(ordering: .relaxed))) }

    @inlinable @inline(__always)
    static func address(_ literal: StaticString) -> UInt64 {
        // A one-character literal may be a scalar: it is resolved by name each time.
        literal.hasPointerRepresentation ? UInt64(UInt(bitPattern: literal.utf8Start)) : 0
    }

    /// The position at which the search for an address begins.
    @inlinable @inline(__always)
    static func home(_ address: UInt64, mask: Int) -> Int {
        Int(truncatingIfNeeded: (address &* 0x9E37_79B9_7F4A_7C15) >> 40) & mask
    }

    /// The entry of a literal if it is at its first position, as nearly all are.
    @inlinable @inline(__always)
    func first(_ literal: StaticString) -> Entry {
        let address = Self.address(literal)
        let bits = words[Self.home(address, mask: mask) + Self.headerCount].load(ordering: .relaxed)
        return Entry(bits: bits >> 16 == address ? bits : 0)
    }

    @inline(__always)
    func find(_ literal: StaticString) -> Entry {
        let address = Self.address(literal)
        let mask = mask
        var position = Self.home(address, mask: mask)
        var probes = 0
        while probes < 4 {
            let bits = words[position + Self.headerCount].load(ordering: .relaxed)
            if bits >> 16 == address { return Entry(bits: bits) }
            position = (position + 1) & mask
            probes += 1
        }
        return Entry(bits: 0)
    }

    func insert(_ entry: Entry) {
        let address = entry.bits >> 16
        // With an empty table every accessor takes the path that checks the queue.
        guard address != 0, entry.slot < 0x7ff, !ConcurrencyDebug.isOn else { return }
        let mask = mask
        var position = Self.home(address, mask: mask)
        for _ in 0..<3 where words[position + Self.headerCount].load(ordering: .relaxed) != 0 {
            position = (position + 1) & mask
        }
        words[position + Self.headerCount].store(entry.bits, ordering: .relaxed)
    }
}
