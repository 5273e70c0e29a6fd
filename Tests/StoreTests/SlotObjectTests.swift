import TestSupport
import Testing

@testable import CoreData

/// The objects beside the values of an object's slots, compared with a dictionary after each step.
struct SlotObjectTests {
    private final class Thing {}

    @Test(arguments: 1...50) func theyAreWhatADictionaryIs(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var objects = SlotObjects<Thing>()
        var expected: [Int: Thing] = [:]
        for _ in 0..<60 {
            let slot = Int.random(in: 0..<4, using: &generator)
            if Bool.random(using: &generator) {
                let thing = Thing()
                objects.set(slot, thing)
                expected[slot] = thing
            } else {
                objects.remove(slot)
                expected[slot] = nil
            }
            #expect(objects.isEmpty == expected.isEmpty)
            for slot in 0..<4 { #expect(objects[slot] === expected[slot]) }
            var found: [Int: Thing] = [:]
            objects.forEach { slot, thing in
                #expect(found.updateValue(thing, forKey: slot) == nil)
            }
            #expect(found.mapValues(ObjectIdentifier.init) == expected.mapValues(ObjectIdentifier.init))
        }
    }

    @Test func whatWasTakenAwayIsLetGoOf() {
        weak var first: Thing?
        weak var second: Thing?
        var objects = SlotObjects<Thing>()
        do {
            let things = (Thing(), Thing())
            (first, second) = things
            objects.set(3, things.0)
            objects.set(1, things.1)
        }
        #expect(first != nil)
        #expect(second != nil)
        objects.remove(3)
        #expect(first == nil)
        #expect(objects[1] === second)
        objects.set(1, Thing())
        #expect(second == nil)
    }
}
