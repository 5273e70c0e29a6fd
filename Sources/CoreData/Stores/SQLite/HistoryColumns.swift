import Foundation

/// Which bit of `ZCOLUMNS` stands for which property of an entity, and which values a deletion leaves in the history.
///
/// The bits of an entity are, inherited properties included: its to-one relationships by name, each followed by a bit for the
/// destination's entity where that can vary; its attributes by name; its to-many relationships by name. They are counted
/// from the highest bit of the first byte. The order is that of rows which Apple's framework wrote; none of them was of an
/// entity that inherits, for which the order is this project's choice.
struct HistoryColumns {
    /// The bits of each slot; none for what a store does not keep. The elements of a composite attribute share its bit.
    let bits: [Range<Int>]
    /// How many bits there are.
    let count: Int
    let byteCount: Int
    /// The slots of the attributes whose values are preserved, by name, with the elements of a composite attribute in its place.
    /// Values in files of their own go with their files.
    let preservedSlots: [Int]

    init(_ layout: EntityLayout) {
        var bits = Array(repeating: 0..<0, count: layout.slots.count)
        var count = 0
        let slots = layout.propertySlots.sorted { $0.name < $1.name }.filter { !$0.isTransient }
        func add(_ slot: PropertySlot, _ width: Int = 1) {
            bits[slot.index] = count..<count + width
            for element in slot.composite?.slots ?? [] { bits[element] = bits[slot.index] }
            count += width
        }
        for slot in slots where slot.kind == .toOne { add(slot, slot.entityWord >= 0 ? 2 : 1) }
        for slot in slots where slot.attribute != nil && (slot.isStored || slot.composite != nil) { add(slot) }
        for slot in slots where slot.kind.isToMany { add(slot) }
        self.bits = bits
        self.count = count
        byteCount = (count + 7) / 8
        preservedSlots = slots.flatMap { slot -> [PropertySlot] in
            guard let composite = slot.composite else { return Self.isPreserved(slot) ? [slot] : [] }
            let elements = composite.slots.map { layout.slots[$0] }
            return slot.attribute?.preservesValueInHistoryOnDeletion == true ? elements : elements.filter(Self.isPreserved)
        }.filter { $0.isStored && $0.attribute?.allowsExternalBinaryDataStorage != true }.map(\.index)
    }

    private static func isPreserved(_ slot: PropertySlot) -> Bool { slot.attribute?.preservesValueInHistoryOnDeletion == true }

    /// The bit set of some changed properties; NULL for none.
    func changes(_ slots: some Sequence<Int>) -> StoredValue {
        set(slots.lazy.flatMap { bits[$0] }).map(StoredValue.data) ?? .null
    }

    /// A bit set as long as all of the entity's properties need; nil without a bit.
    func set(_ bits: some Sequence<Int>) -> Data? {
        var bytes = Data(count: byteCount)
        var isEmpty = true
        for bit in bits where bit < byteCount * 8 {
            bytes[bit / 8] |= 0x80 >> UInt8(bit % 8)
            isEmpty = false
        }
        return isEmpty ? nil : bytes
    }

    /// The bits that are set, lowest first.
    static func bits(in bytes: Data) -> [Int] {
        bytes.enumerated().flatMap { index, byte in
            (0..<8).filter { byte & (0x80 >> UInt8($0)) != 0 }.map { index * 8 + $0 }
        }
    }
}
