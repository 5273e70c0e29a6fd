import CoreData
import Synchronization
import TestSupport
import Testing

/// Files that several programs write, or that lie behind a link.
struct SharedFileStoreTests {
    private let folder: TemporaryFolder
    private let url: URL

    init() throws {
        folder = try TemporaryFolder()
        url = folder.file("store")
    }

    private func fill(_ type: FileStoreType) throws {
        let stack = try FileStoreStack(type, at: url)
        _ = stack.insert("Tag", ["label": "a"])
        try stack.context.save()
    }

    // MARK: - Other writers

    @Test(arguments: FileStoreType.allCases) func metadataThatAnotherProgramSetAreNotOverwritten(type: FileStoreType)
        throws
    {
        let stack = try FileStoreStack(type, at: url)
        try NSPersistentStoreCoordinator.setMetadata(
            ["by": "another"], forPersistentStoreOfType: type.rawValue, at: url)
        _ = stack.insert("Tag", ["label": "a"])
        let error = errorThrown { try stack.context.save() }
        #expect(error?.code == CocoaError.persistentStoreSave.rawValue)
        let read = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: type.rawValue, at: url)
        #expect(read["by"] as? String == "another")
    }

    @Test(arguments: FileStoreType.allCases) func metadataAreNotSetWhileTheFileIsWritten(type: FileStoreType) throws {
        try fill(type)
        let before = try Data(contentsOf: url)
        let writer = open(url.path, O_RDONLY)
        defer { close(writer) }
        #expect(flock(writer, LOCK_EX | LOCK_NB) == 0)
        let error = errorThrown {
            try NSPersistentStoreCoordinator.setMetadata(["a": 1], forPersistentStoreOfType: type.rawValue, at: url)
        }
        #expect(error?.code == CocoaError.persistentStoreSave.rawValue)
        #expect(try Data(contentsOf: url) == before)
    }

    /// Each has read the same file; the saves go on at once.
    @Test(arguments: FileStoreType.allCases) func ofWritersAtOnceOneSaves(type: FileStoreType) throws {
        try fill(type)
        let stacks = try (0..<4).map { _ in try FileStoreStack(type, at: url) }
        for (number, stack) in stacks.enumerated() { _ = stack.insert("Tag", ["label": "\(number)"]) }
        let contexts = stacks.map(\.context)
        let codes = Mutex<[Int]>([])
        DispatchQueue.concurrentPerform(iterations: contexts.count) { index in
            let error = contexts[index].performAndWait { errorThrown { try contexts[index].save() } }
            if let error { codes.withLock { $0.append(error.code) } }
        }
        #expect(codes.withLock { $0 } == Array(repeating: CocoaError.persistentStoreSave.rawValue, count: 3))
        #expect(try FileStoreStack(type, at: url).all("Tag").count == 2)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["store"])
    }

    // MARK: - Links

    @Test(arguments: FileStoreType.allCases) func aSaveThroughALinkKeepsTheLink(type: FileStoreType) throws {
        try fill(type)
        let link = folder.file("link")
        try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: "store")
        let stack = try FileStoreStack(type, at: link)
        for label in ["b", "c"] {
            _ = stack.insert("Tag", ["label": label])
            try stack.context.save()
        }
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link.path) == "store")
        let again = try FileStoreStack(type, at: url)
        #expect(try again.all("Tag", by: "label").map { $0.value(forKey: "label") as? String } == ["a", "b", "c"])
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted() == ["link", "store"])
    }
}
