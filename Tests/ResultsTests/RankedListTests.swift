import TestSupport
import Testing

@testable import CoreData

/// The list that knows the place of each of its objects.
struct RankedListTests {
    private final class Item {
        let number: Int
        var leaf: RankedNode<Item>?
        init(_ number: Int) { self.number = number }
    }

    @Test(arguments: [0, 1, 47, 48, 49, 5000]) func aListDoesWhatAnArrayDoes(_ size: Int) {
        var generator = SeededGenerator(seed: UInt64(size))
        var array = (0..<size).map(Item.init)
        let list = RankedList(array[...], placed: { $0.leaf = $1 })
        list.forEachLeaf { leaf in for item in leaf.elements { item.leaf = leaf } }
        // Grows, shrinks to nothing, and grows again.
        for phase in 0..<3 {
            let steps = phase == 1 ? array.count : 1500
            for step in 0..<steps {
                let removes = phase == 1 || (!array.isEmpty && Int.random(in: 0..<3, using: &generator) == 0)
                if removes {
                    let place = Int.random(in: 0..<array.count, using: &generator)
                    #expect(list.remove(at: place) === array.remove(at: place))
                } else {
                    let item = Item(step)
                    let place = Int.random(in: 0...array.count, using: &generator)
                    array.insert(item, at: place)
                    list.insert(item, at: place)
                }
                if array.isEmpty { continue }
                let place = Int.random(in: 0..<array.count, using: &generator)
                #expect(list[place] === array[place])
                if let leaf = array[place].leaf {
                    #expect(RankedList.place(of: array[place], in: leaf) == place)
                    #expect(RankedList.list(of: leaf) === list)
                }
            }
            #expect(list.count == array.count)
            #expect(list.array.map(ObjectIdentifier.init) == array.map(ObjectIdentifier.init))
        }
    }

    @Test func aPlaceIsFoundByBisection() {
        let items = (0..<1000).map { Item($0 / 3) }
        let list = RankedList(items[...], placed: { _, _ in })
        for number in [-1, 0, 100, 332, 333, 400] {
            #expect(list.firstPlace { $0.number >= number } == items.firstIndex { $0.number >= number } ?? items.count)
        }
    }
}
