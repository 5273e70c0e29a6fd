/// A long list of objects in blocks, so that an insertion or removal moves a few hundred objects
/// and not all objects behind it.
///
/// Cost of a change, of access by index and of finding an object's index: O(block size + number of
/// blocks). Membership is O(1).
final class ObjectBlocks {
    private final class Block {
        var objects: ContiguousArray<NSManagedObject>

        init(_ objects: ContiguousArray<NSManagedObject>) { self.objects = objects }
    }

    private var blocks: ContiguousArray<Block> = []
    /// The blocks' counts, stored together: the search for an index reads little memory.
    private var counts: ContiguousArray<Int> = []
    /// The block of each object. `blocks` keeps them alive.
    private var blockOfObject: [ObjectIdentifier: Unretained<Block>]
    /// All objects in order, once requested since the last change.
    private var joined: ContiguousArray<NSManagedObject>?

    /// The size at which a block is split: about the square root of a million.
    private static let limit = 2048

    init(_ objects: ContiguousArray<NSManagedObject>) {
        blockOfObject = Dictionary(minimumCapacity: objects.count)
        for start in stride(from: 0, to: objects.count, by: Self.limit / 2) {
            addBlock(ContiguousArray(objects[start..<min(start + Self.limit / 2, objects.count)]), at: blocks.count)
        }
    }

    var count: Int { blockOfObject.count }

    var objects: ContiguousArray<NSManagedObject> {
        if let joined { return joined }
        var all: ContiguousArray<NSManagedObject> = []
        all.reserveCapacity(count)
        for block in blocks { all += block.objects }
        joined = all
        return all
    }

    func contains(_ object: NSManagedObject) -> Bool { blockOfObject[ObjectIdentifier(object)] != nil }

    func position(of object: NSManagedObject) -> Int? {
        guard let (number, place) = find(object) else { return nil }
        return counts[..<number].reduce(place, +)
    }

    subscript(index: Int) -> NSManagedObject {
        let (number, place) = find(index)
        return blocks[number].objects[place]
    }

    func insert(_ object: NSManagedObject, at index: Int) {
        joined = nil
        if blocks.isEmpty { addBlock([], at: 0) }
        let (number, place) = index == count ? (blocks.count - 1, counts[blocks.count - 1]) : find(index)
        let block = blocks[number]
        block.objects.insert(object, at: place)
        counts[number] += 1
        blockOfObject[ObjectIdentifier(object)] = Unretained(block)
        if counts[number] == Self.limit { split(number) }
    }

    /// - Returns: whether the object was there.
    func remove(_ object: NSManagedObject) -> Bool {
        guard let (number, place) = find(object) else { return false }
        joined = nil
        blockOfObject[ObjectIdentifier(object)] = nil
        counts[number] -= 1
        blocks[number].objects.remove(at: place)
        if counts[number] == 0 {
            blocks.remove(at: number)
            counts.remove(at: number)
        }
        return true
    }

    // MARK: Blocks

    private func addBlock(_ objects: ContiguousArray<NSManagedObject>, at number: Int) {
        let block = Block(objects)
        blocks.insert(block, at: number)
        counts.insert(objects.count, at: number)
        objects.forEachUnretained { blockOfObject[ObjectIdentifier($0)] = Unretained(block) }
    }

    private func split(_ number: Int) {
        let all = blocks[number].objects
        blocks[number].objects = ContiguousArray(all[..<(Self.limit / 2)])
        counts[number] = Self.limit / 2
        addBlock(ContiguousArray(all[(Self.limit / 2)...]), at: number + 1)
    }

    private func find(_ index: Int) -> (number: Int, place: Int) {
        var place = index
        for number in counts.indices {
            if place < counts[number] { return (number, place) }
            place -= counts[number]
        }
        preconditionFailure("Index \(index) is out of bounds of \(count) objects.")
    }

    private func find(_ object: NSManagedObject) -> (number: Int, place: Int)? {
        guard let block = blockOfObject[ObjectIdentifier(object)]?.object,
            let number = blocks.firstIndex(where: { $0 === block }),
            let place = block.objects.firstIndex(where: { $0 === object })
        else { return nil }
        return (number, place)
    }
}
