import CoreData
import TestSupport
import Testing

/// Processes that change one file at the same time and follow each other by its history.
@Suite(.serialized) struct FollowedHistoryTests {
    @Test(arguments: LongTests.areEnabled ? [2, 4, 8] : [2, 4]) func processesEndWithTheSameObjects(count: Int) throws {
        let folder = try TemporaryFolder()
        let url = folder.file("followed.sqlite")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: [NSPersistentHistoryTrackingKey: true])
        let seconds = LongTests.areEnabled ? "60" : "1"
        let programs = try (1...count).map {
            try RunningProgram(OtherProgram.url, ["follow", url.path, String($0), seconds])
        }
        let starts = programs.map { $0.nextLine() }
        #expect(starts.allSatisfy { $0.hasPrefix("saved ") }, "\(starts)")
        let outputs = programs.map { $0.finish() }
        let context = coordinator.newContext()
        let expected = try context.authors().map { author in
            "\(author.objectID.uriRepresentation().lastPathComponent) \(author.name ?? "nil") \(author.born)"
        }.sorted().joined(separator: "\n")
        #expect(!expected.isEmpty)
        for output in outputs { #expect(output == expected + "\n") }
        try coordinator.remove(store)
    }
}
