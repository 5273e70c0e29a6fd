import CoreData
import TestSupport

@testable import CoreDataToolKit

/// Models for tests of diagrams.
enum DiagramModels {
    /// A pair of relationships, to many objects from the first entity and to one from the second.
    static func link(_ first: NSEntityDescription, _ name: String, _ second: NSEntityDescription, _ back: String) {
        let (forward, backward) = (NSRelationshipDescription(), NSRelationshipDescription())
        forward.name = name
        forward.destinationEntity = second
        backward.name = back
        backward.destinationEntity = first
        backward.maxCount = 1
        forward.inverseRelationship = backward
        backward.inverseRelationship = forward
        first.properties.append(forward)
        second.properties.append(backward)
    }

    /// Sixty entities: a network of fifty, a hierarchy, and some that nothing connects.
    static func sixty() -> NSManagedObjectModel {
        var numbers = SeededNumbers(seed: 41)
        let entities = (0..<60).map { index in
            let count = Int.random(in: 1...9, using: &numbers)
            return NSEntityDescription(
                "Entity\(index)", (0..<count).map { NSAttributeDescription("attribute\($0)", .stringAttributeType) })
        }
        for index in 1..<50 {
            let other = Int.random(in: max(0, index - 8)..<index, using: &numbers)
            link(entities[other], "children\(index)", entities[index], "parent\(index)")
        }
        for index in 0..<18 {
            let (first, second) = (Int.random(in: 0..<50, using: &numbers), Int.random(in: 0..<50, using: &numbers))
            link(entities[first], "links\(index)", entities[second], "linkedBy\(index)")
        }
        entities[50].subentities = [entities[51], entities[52]]
        entities[52].subentities = [entities[53]]
        return NSManagedObjectModel(entities)
    }

    static let hostileNames = [
        "<script>alert(1)</script>", "a\"b'c", "two\nlines", "\u{1b}[2J", "漢字 😀", "end", "graph", "PK", "pk",
        "]]> & --",
        "x;y#z", "back\\slash`{}[]|%%", "\u{202e}txt", "\u{ffff}", String(repeating: "long", count: 60), "",
    ]

    /// Entities with names that could end a text or steer a program, in a ring of relationships.
    static func hostile() -> NSManagedObjectModel {
        let entities = hostileNames.enumerated().map { index, name in
            NSEntityDescription(name, [NSAttributeDescription(name.isEmpty ? "x" : name, .stringAttributeType)])
        }
        for (index, entity) in entities.enumerated() {
            link(entity, "to \(index) \"\n", entities[(index + 1) % entities.count], "from \(index) <")
        }
        return NSManagedObjectModel(entities)
    }
}

/// The same numbers in every run.
struct SeededNumbers: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        // Source: <https://prng.di.unimi.it/splitmix64.c>
        state &+= 0x9e37_79b9_7f4a_7c15
        var value = state
        value = (value ^ (value >> 30)) &* 0xbf58_476d_1ce4_e5b9
        value = (value ^ (value >> 27)) &* 0x94d0_49bb_1331_11eb
        return value ^ (value >> 31)
    }
}
