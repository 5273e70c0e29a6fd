import Foundation

/// The mapping of bits of `ZCOLUMNS` to properties of an entity.
///
/// The bits of an entity are, in this order:
///
/// - its to-one relationships, each followed by a bit for the destination's entity where that can
///   vary;
/// - the positions in ordered relationships beside these keys, in the order of the table;
/// - its attributes;
/// - its to-many relationships.
///
/// Within each kind, the properties that the root declares come first, then those of each further
/// entity down to this one, by name. Bits are counted from the highest bit of the first byte.
/// Apple's framework wrote rows in this form.
struct HistoryColumns {
    /// The bits of each slot; empty for a slot that a store does not keep. The elements of a
    /// composite attribute share its bit.
    let bits: [Range<Int>]
    /// The bit of the position column beside a to-one relationship's key, by slot.
    let positionBits: [Int: Int]
    /// The number of bits.
    let count: Int
    let byteCount: Int
    /// The slot of the property that each bit belongs to.
    private let slotByBit: [Int]

    init(_ entity: SQLEntity) {
        let layout = entity.layout
        var bits = Array(repeating: 0..<0, count: layout.slots.count)
        var count = 0
        var slotByBit: [Int] = []
        let ancestors = Array(sequence(first: layout.entity, next: \.superentity)).reversed()
        // A property that a subentity redeclares keeps the place of its first declaration.
        var levels: [String: Int] = [:]
        for (level, ancestor) in ancestors.enumerated() {
            levels.merge(ancestor.propertiesByName.mapValues { _ in level }) { first, _ in first }
        }
        func place(_ slot: PropertySlot) -> (Int, String) { (levels[slot.name] ?? 0, slot.name) }
        let slots = layout.propertySlots.filter { !$0.isTransient }.sorted { place($0) < place($1) }
        func add(_ slot: PropertySlot, _ width: Int = 1) {
            bits[slot.index] = count..<count + width
            for element in slot.composite?.slots ?? [] { bits[element] = bits[slot.index] }
            count += width
            slotByBit += Array(repeating: slot.index, count: width)
        }
        var keys: [ObjectIdentifier: Int] = [:]
        for slot in slots where slot.kind == .toOne {
            add(slot, slot.entityWord >= 0 ? 2 : 1)
            if let column = entity.columns[slot.index] { keys[ObjectIdentifier(column)] = slot.index }
        }
        var positionBits: [Int: Int] = [:]
        for declaration in entity.table.declarations where declaration.role == .position {
            guard let slot = keys[ObjectIdentifier(declaration.column)] else { continue }
            positionBits[slot] = count
            count += 1
            slotByBit.append(slot)
        }
        for slot in slots where slot.attribute != nil && (slot.isStored || slot.composite != nil) { add(slot) }
        for slot in slots where slot.kind.isToMany { add(slot) }
        self.bits = bits
        self.positionBits = positionBits
        self.count = count
        byteCount = (count + 7) / 8
        self.slotByBit = slotByBit
    }

    /// The bit set of some changed properties; NULL for none.
    ///
    /// A changed key also sets the bit of the position beside it.
    func changes(_ slots: some Sequence<Int>) -> StoredValue {
        set(slots.lazy.flatMap { slot in Array(bits[slot]) + (positionBits[slot].map { [$0] } ?? []) }).map(
            StoredValue.data) ?? .null
    }

    /// A bit set with a length for all of the entity's properties; nil without a bit.
    func set(_ bits: some Sequence<Int>) -> Data? {
        var bytes = Data(count: byteCount)
        var isEmpty = true
        for bit in bits where bit < byteCount * 8 {
            bytes[bit / 8] |= 0x80 >> UInt8(bit % 8)
            isEmpty = false
        }
        return isEmpty ? nil : bytes
    }

    /// Returns the slots of the properties whose bits are set. Bits that belong to no property are
    /// left out.
    func slots(in bytes: Data) -> [Int] {
        var slots: [Int] = []
        for bit in Self.bits(in: bytes) where bit < slotByBit.count && slots.last != slotByBit[bit] {
            slots.append(slotByBit[bit])
        }
        return slots
    }

    /// The bits that are set, lowest first.
    static func bits(in bytes: Data) -> [Int] {
        bytes.enumerated().flatMap { index, byte in
            (0..<8).filter { byte & (0x80 >> UInt8($0)) != 0 }.map { index * 8 + $0 }
        }
    }
}
