import SafeCoreData
import Synchronization
import TestSupport
import Testing

/// A document with a file of its own, which counts the saves that it was told of.
@Entity
final class RetriedDocument: NSManagedObject {
    @Attribute(.unique) var title: String
    var revision: Int = 0
    @Attribute(.externalStorage) var scan: Data?

    static let saves = Log()

    override func didSave() {
        super.didSave()
        if title.hasPrefix("Counted") { Self.saves.add(title) }
    }
}

/// A task that its own work cancels.
private final class RunningTask: Sendable {
    private let task = Mutex<Task<Void, any Error>?>(nil)

    func set(_ task: Task<Void, any Error>) { self.task.withLock { $0 = task } }
    func cancel() { task.withLock { $0?.cancel() } }
}

/// Writes that are repeated after conflicts.
struct StackRetryTests {
    private let folder: TemporaryFolder
    private let url: URL
    private let stack: DataStack

    init() throws {
        folder = try TemporaryFolder()
        url = folder.file("documents.sqlite")
        stack = DataStack(entities: RetriedDocument.self, store: .file(url))
    }

    private var file: SQLiteFile { SQLiteFile(url) }

    nonisolated(nonsending) private func insert(_ titles: String...) async throws -> [NSManagedObjectID] {
        try await stack.write { context in titles.map { RetriedDocument(context: context, title: $0).objectID } }
    }

    /// Changes rows as another program would.
    private static func change(_ url: URL, _ assignments: String, where condition: String = "1") {
        #expect(
            SQLiteFile(url).execute("UPDATE ZRETRIEDDOCUMENT SET \(assignments), Z_OPT = Z_OPT + 1 WHERE \(condition)"))
    }

    @Test func aConflictRunsTheBlockAgainOnWhatOthersHaveWritten() async throws {
        let id = try await insert("Plan")[0]
        let attempts = Counter()
        let url = url
        let result = try await stack.write(retries: 3) { context in
            let document = try context.object(with: id, as: RetriedDocument.self)
            document.revision += 1
            if attempts.increase() < 3 { Self.change(url, "ZREVISION = ZREVISION + 10") }
            return document.revision
        }
        #expect(result == 21)
        #expect(attempts.value == 3)
        #expect(file.integer("SELECT ZREVISION FROM ZRETRIEDDOCUMENT") == 21)
    }

    @MainActor @Test func whatAViewHoldsIsReadAnewByTheNextAttempt() async throws {
        let ids = try await insert("Plan", "Price")
        let views = try await stack.read { context in
            try ids.map { try context.object(with: $0, as: RetriedDocument.self) }
        }
        #expect(views.map(\.revision) == [0, 0])
        let attempts = Counter()
        let url = url
        try await stack.write(to: views[0], retries: 1) { context, document in
            // Read, and not changed: no conflict of its own.
            document.revision = try context.object(with: ids[1], as: RetriedDocument.self).revision
            document.scan = nil
            document.title += "!"
            if attempts.increase() == 1 { Self.change(url, "ZREVISION = 7") }
        }
        #expect(attempts.value == 2)
        #expect(views[0].revision == 7)
        #expect(
            file.rows("SELECT ZTITLE, ZREVISION FROM ZRETRIEDDOCUMENT ORDER BY Z_PK") == [
                ["Plan!", "7"], ["Price", "7"],
            ])
    }

    @Test func aConflictIsThrownAfterTheLastRetry() async throws {
        let id = try await insert("Plan")[0]
        let attempts = Counter()
        let url = url
        let error = await #expect(throws: (any Error).self) {
            try await stack.write(retries: 2) { context in
                try context.object(with: id, as: RetriedDocument.self).title = "Lost"
                _ = RetriedDocument(context: context, title: "Lost, too")
                attempts.increase()
                Self.change(url, "ZREVISION = ZREVISION + 1")
            }
        }
        #expect((error as NSError?)?.code == NSManagedObjectMergeError)
        #expect(attempts.value == 3)
        #expect(file.rows("SELECT ZTITLE, ZREVISION FROM ZRETRIEDDOCUMENT") == [["Plan", "3"]])
        #expect(try await insert("Next").count == 1)
    }

    @Test func aRowThatOthersDeletedIsAConflictOnce() async throws {
        let id = try await insert("Plan")[0]
        let attempts = Counter()
        let url = url
        let error = await #expect(throws: (any Error).self) {
            try await stack.write(retries: 5) { context in
                attempts.increase()
                try context.object(with: id, as: RetriedDocument.self).revision = 1
                #expect(SQLiteFile(url).execute("DELETE FROM ZRETRIEDDOCUMENT"))
            }
        }
        // The second attempt finds no such object, which is no conflict.
        #expect((error as NSError?)?.code == NSManagedObjectReferentialIntegrityError)
        #expect(attempts.value == 2)
    }

    @Test func otherErrorsAreThrownAtOnce() async throws {
        struct Stop: Error {}
        _ = try await insert("Plan")
        let attempts = Counter()
        await #expect(throws: Stop.self) {
            try await stack.write(retries: 5) { _ in
                attempts.increase()
                throw Stop()
            }
        }
        let error = await #expect(throws: (any Error).self) {
            try await stack.write(retries: 5) { context in
                attempts.increase()
                _ = RetriedDocument(context: context, title: "Plan")
            }
        }
        #expect((error as NSError?)?.code == NSManagedObjectConstraintMergeError)
        #expect(attempts.value == 2)
        #expect(file.column("SELECT ZTITLE FROM ZRETRIEDDOCUMENT") == ["Plan"])
    }

    @Test func aUniqueValueTakenMeanwhileIsNoReasonToTryAgain() async throws {
        let id = try await insert("Plan", "Price")[0]
        let attempts = Counter()
        let url = url
        let error = await #expect(throws: (any Error).self) {
            try await stack.write(retries: 5) { context in
                try context.object(with: id, as: RetriedDocument.self).title = "Offer"
                if attempts.increase() == 1 { Self.change(url, "ZTITLE = 'Offer'", where: "ZTITLE = 'Price'") }
            }
        }
        #expect((error as NSError?)?.code == NSManagedObjectConstraintMergeError)
        #expect(attempts.value == 1)
    }

    @Test func theStacksMergePolicyComesFirst() async throws {
        var options = DataStackOptions()
        options.mergePolicy = .mergeByPropertyObjectTrump
        let stack = DataStack(entities: RetriedDocument.self, store: .file(url), options: options)
        let id = try await stack.write { RetriedDocument(context: $0, title: "Plan").objectID }
        let attempts = Counter()
        let url = url
        try await stack.write(retries: 3) { context in
            try context.object(with: id, as: RetriedDocument.self).title = "Offer"
            attempts.increase()
            Self.change(url, "ZREVISION = 4")
        }
        #expect(attempts.value == 1)
        #expect(file.rows("SELECT ZTITLE, ZREVISION FROM ZRETRIEDDOCUMENT") == [["Offer", "4"]])
    }

    @Test func onlyTheAttemptThatSucceedsLeavesFilesAndIsTold() async throws {
        let id = try await insert("Plan")[0]
        let attempts = Counter()
        let url = url
        let scan = Data(repeating: 7, count: 300_000)
        let added = try await stack.write(retries: 3) { context in
            try context.object(with: id, as: RetriedDocument.self).revision += 1
            let number = attempts.increase()
            let document = RetriedDocument(context: context, title: "Counted \(number)", scan: scan)
            if number < 3 { Self.change(url, "ZREVISION = ZREVISION + 10", where: "ZTITLE = 'Plan'") }
            return document.objectID
        }
        #expect(RetriedDocument.saves.all == ["Counted 3"])
        let files = try FileManager.default.contentsOfDirectory(
            atPath: folder.file(".documents_SUPPORT/_EXTERNAL_DATA").path)
        #expect(files.count == 1)
        let found = try await stack.write { try $0.object(with: added, as: RetriedDocument.self).scan }
        #expect(found == scan)
        #expect(file.column("SELECT ZTITLE FROM ZRETRIEDDOCUMENT ORDER BY Z_PK") == ["Plan", "Counted 3"])
    }

    @Test func cancellingBetweenAttemptsEndsTheWrite() async throws {
        let id = try await insert("Plan")[0]
        let stack = stack
        let attempts = Counter()
        let url = url
        let running = RunningTask()
        let isSet = DispatchSemaphore(value: 0)
        let task = Task {
            try await stack.write(retries: 100) { context in
                if attempts.increase() == 1 { isSet.wait() }
                try context.object(with: id, as: RetriedDocument.self).revision = 1
                Self.change(url, "ZREVISION = 5")
                // The save has begun, and meets its conflict after this.
                _ = NotificationCenter.default.addObserver(
                    forName: NSManagedObjectContext.willSaveObjectsNotification, object: context, queue: nil
                ) { _ in running.cancel() }
            }
        }
        running.set(task)
        isSet.signal()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(attempts.value == 1)
        #expect(file.integer("SELECT ZREVISION FROM ZRETRIEDDOCUMENT") == 5)
    }

    @Test func aBlockThatHasSavedAPartIsNotRepeated() async throws {
        let id = try await insert("Plan")[0]
        let attempts = Counter()
        let url = url
        for changesRows in [false, true] {
            let error = await #expect(throws: (any Error).self) {
                try await stack.write(retries: 5) { context in
                    let number = attempts.increase()
                    if changesRows {
                        try context.insertAll(RetriedDocument.self, [number]) {
                            RetriedDocument(context: $1, title: "\($0)")
                        }
                    } else {
                        _ = RetriedDocument(context: context, title: "\(number)")
                        try context.save()
                    }
                    try context.object(with: id, as: RetriedDocument.self).revision += 1
                    Self.change(url, "ZREVISION = 5", where: "ZTITLE = 'Plan'")
                }
            }
            #expect((error as NSError?)?.code == NSManagedObjectMergeError)
        }
        #expect(attempts.value == 2)
        #expect(file.column("SELECT ZTITLE FROM ZRETRIEDDOCUMENT ORDER BY Z_PK") == ["Plan", "1", "2"])
    }

    // MARK: Several stores

    /// Adds a second store to a context's coordinator, with one document.
    private static func addStore(_ url: URL, to context: WriteContext) throws -> (
        store: NSPersistentStore, document: NSManagedObjectID
    ) {
        let coordinator = try #require(context.persistentStoreCoordinator)
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: nil)
        let document = RetriedDocument(context: context, title: "Copy")
        context.assign(document, to: store)
        try context.save()
        return (store, document.objectID)
    }

    @Test func aConflictInTheFirstStoreLeavesNothingInTheSecond() async throws {
        let id = try await insert("Plan")[0]
        let other = folder.file("other.sqlite")
        let copy = try await stack.write { try Self.addStore(other, to: $0).document }
        let attempts = Counter()
        let url = url
        try await stack.write(retries: 2) { context in
            try context.object(with: id, as: RetriedDocument.self).revision += 1
            try context.object(with: copy, as: RetriedDocument.self).revision += 1
            if attempts.increase() == 1 { Self.change(url, "ZREVISION = 5") }
        }
        #expect(attempts.value == 2)
        #expect(file.integer("SELECT ZREVISION FROM ZRETRIEDDOCUMENT") == 6)
        #expect(SQLiteFile(other).integer("SELECT ZREVISION FROM ZRETRIEDDOCUMENT") == 1)
    }

    @Test func aConflictInTheOtherStoreIsRepeatedAsWell() async throws {
        let id = try await insert("Plan")[0]
        let other = folder.file("other.sqlite")
        let copy = try await stack.write { try Self.addStore(other, to: $0).document }
        let attempts = Counter()
        try await stack.write(retries: 5) { context in
            try context.object(with: id, as: RetriedDocument.self).revision += 1
            try context.object(with: copy, as: RetriedDocument.self).revision += 1
            if attempts.increase() == 1 { Self.change(other, "ZREVISION = 5") }
        }
        #expect(attempts.value == 2)
        #expect(file.integer("SELECT ZREVISION FROM ZRETRIEDDOCUMENT") == 1)
        #expect(SQLiteFile(other).integer("SELECT ZREVISION FROM ZRETRIEDDOCUMENT") == 6)
    }
}
