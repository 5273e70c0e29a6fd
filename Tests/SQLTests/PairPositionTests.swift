import CoreData
import TestSupport
import Testing

/// The statements of a save before it writes pairs with positions.
struct PairPositionTests {
    /// Looking for the last position at each pair made the save quadratic.
    @Test func theLastPositionsAreAskedForOnceWhateverTheNumberOfPairs() throws {
        for fromTheSecondSide in [false, true] {
            let few = try questions(addingPairs: 3, fromTheSecondSide)
            #expect(few.count == 2, "\(few)")
            #expect(try questions(addingPairs: 60, fromTheSecondSide).count == few.count)
        }
    }

    /// The statements that read the join table in a save.
    private func questions(addingPairs count: Int, _ fromTheSecondSide: Bool) throws -> [String] {
        let a = NSEntityDescription("A", class: "NSManagedObject", [NSPropertyDescription]())
        let b = NSEntityDescription("B", class: "NSManagedObject", [NSPropertyDescription]())
        relate(a, "bs", toMany: true, ordered: true, b, inverse: "as", inverseToMany: true, inverseOrdered: true)
        let folder = try TemporaryFolder()
        let url = folder.file("pairs.sqlite")
        let recorder = StatementRecorder(url)
        let stack = try TestStack(NSManagedObjectModel([a, b]), url: url)
        let owner = NSEntityDescription.insertNewObject(forEntityName: "B", into: stack.context)
        let members = (0..<count).map { _ in
            NSEntityDescription.insertNewObject(forEntityName: "A", into: stack.context)
        }
        try stack.context.save()
        recorder.clear()
        if fromTheSecondSide {
            owner.mutableOrderedSetValue(forKey: "as").addObjects(from: members)
        } else {
            for member in members { member.mutableOrderedSetValue(forKey: "bs").add(owner) }
        }
        try stack.context.save()
        let statements = recorder.text.split(separator: "\n").map(String.init)
        #expect(statements.filter { $0.hasPrefix("INSERT OR IGNORE INTO Z_1BS") }.count == count)
        return statements.filter { $0.hasPrefix("SELECT") && $0.contains("MAX(") && $0.contains("FROM Z_1BS") }
    }
}
