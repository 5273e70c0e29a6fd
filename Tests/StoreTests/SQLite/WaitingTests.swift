import TestSupport
import Testing

@testable import CoreData

/// How long a store waits for others: as long as was asked for, and not at all where nothing
/// depends on it.
struct WaitingTests {
    private let folder: TemporaryFolder
    private let url: URL

    init() throws {
        folder = try TemporaryFolder()
        url = folder.file("company.sqlite")
    }

    @Test(arguments: [Double.infinity, .greatestFiniteMagnitude, 1e10, .nan, -.infinity])
    func anySecondsAreATimeout(seconds: Double) async throws {
        // Not every number has a form that goes to the other process.
        await #expect(processExitsWith: .success) { [bits = seconds.bitPattern as UInt64] in
            let folder = try TemporaryFolder()
            let description = NSPersistentStoreDescription(url: folder.file("company.sqlite"))
            description.timeout = Double(bitPattern: bits)
            let open = try OpenStore(
                model: TestModel.company(), url: folder.file("company.sqlite"), options: description.options)
            try open.insert("Tag", ["name": .string("red")])
            try #require(try open.strings("Tag") == ["red"])
        }
    }

    /// PostgreSQL's settings are milliseconds in 32 bits, as SQLite's are.
    @Test(arguments: [Double.infinity, 1e300]) func aTimeoutHasRoomInMilliseconds(seconds: Double) throws {
        let timeout = try #require(NSPersistentStore.timeout([NSPersistentStoreTimeoutOption: seconds]))
        #expect(Int32(exactly: (timeout * 1000).rounded()) != nil)
        #expect(timeout > 2_000_000)
    }

    enum LastStep: CaseIterable { case removal, release, newMetadata, destruction }

    /// Were the reader waited for, this would take longer than the test may, which has time enough
    /// on a busy machine.
    @Test(.timeLimit(.minutes(10)), arguments: LastStep.allCases) func whoClosesAStoreDoesNotWaitForOneWhoReadsIt(
        step: LastStep
    ) throws {
        let options: [AnyHashable: Any] = [NSPersistentStoreTimeoutOption: 1000]
        let reader = SQLiteFile(url)
        func read() {
            reader.execute("BEGIN")
            #expect(reader.value("SELECT count(*) FROM ZTAG") == "0")
        }
        do {
            let open = try OpenStore(model: TestModel.company(), url: url, options: options)
            read()
            try open.insert("Tag", ["name": .string("red")])
            if step != .release { try open.close() }
        }
        switch step {
        case .removal, .release: break
        case .newMetadata:
            try NSPersistentStoreCoordinator.setMetadata(["city": "Rome"], type: .sqlite, at: url, options: options)
            #expect(
                try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: url)["city"] as? String
                    == "Rome")
        case .destruction:
            try NSPersistentStoreCoordinator(managedObjectModel: TestModel.company())
                .destroyPersistentStore(at: url, type: .sqlite, options: options)
        }
        #expect(reader.value("SELECT count(*) FROM ZTAG") == "0")
        reader.execute("COMMIT")
        #expect(
            reader.column("SELECT ZNAME FROM ZTAG") == (step == .destruction ? ["error: no such table: ZTAG"] : ["red"])
        )
    }
}
