import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Stores tell values apart by their bytes, which Foundation's archiver writes in one order or
/// another.
struct ArchiveOrderTests {
    @Test func equalValuesHaveTheSameBytes() throws {
        let values: [Any] = [
            ["x"], ["x": ["y": [Date(timeIntervalSinceReferenceDate: 1.5), Data([1, 2])]]],
            URL(fileURLWithPath: "/tmp/a"), UUID(), 7,
            "text",
            [1.5, 2, true, -3, Float(0.5)] as [Any], Data(repeating: 3, count: 100_000),
        ]
        for value in values {
            let first = try #require(TransformableArchive.data(from: value))
            #expect(try PropertyListReader.inOrder(first) == first)
            for _ in 0..<(LongTests.areEnabled ? 50 : 10) {
                #expect(TransformableArchive.data(from: value) == first)
            }
            let read = try #require(TransformableArchive.value(from: first) as? NSObject)
            #expect(read.isEqual(value), "\(read)")
        }
    }
}
