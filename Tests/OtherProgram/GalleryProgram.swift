import CoreData
import Synchronization
import TestSupport

/// Works on a gallery's store until it is killed, is told to stop, or is done.
enum GalleryProgram {
    private static func say(_ text: String) { FileHandle.standardOutput.write(Data((text + "\n").utf8)) }

    /// Kills the process while it works, after a number of turns of another thread.
    private static func end(after turns: Int) {
        Thread.detachNewThread {
            let spent = Atomic<Int>(0)
            while spent.wrappingAdd(1, ordering: .relaxed).newValue < turns {}
            kill(getpid(), SIGKILL)
        }
    }

    /// Migrates the store to a version of its model, unless the work for that takes longer than so
    /// many turns of another thread.
    static func migrate(_ url: URL, to version: GalleryVersion?, killedAfter turns: Int) throws {
        guard let version else { exit(2) }
        let hasBegun = Atomic(false)
        tell {
            let coordinator = try version.open(url) { _ in
                if !hasBegun.exchange(true, ordering: .relaxed) { end(after: turns) }
            }
            say("migrated")
            for store in coordinator.persistentStores { try coordinator.remove(store) }
        }
    }

    /// Makes a store, and migrates it to a new one in the same folder.
    static func migrateByHand(_ url: URL) {
        tell {
            try Gallery.create(url)
            let (former, new) = (Gallery.model(), GalleryVersion.second.model)
            let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: former, destinationModel: new)
            try NSMigrationManager(sourceModel: former, destinationModel: new).migrateStore(
                from: url, type: .sqlite, mapping: mapping,
                to: url.deletingLastPathComponent().appendingPathComponent("new.sqlite"), type: .sqlite)
        }
    }

    /// Saves and tells each save that is over, until another thread kills the process after a
    /// random amount of work.
    static func saveUntilKilled(_ url: URL, seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let turns = Int.random(in: 0..<30_000_000, using: &generator)
        func endSoon() { end(after: turns) }
        // Some are killed while they open the store, most while they save.
        let isKilledEarly = Int.random(in: 0..<5, using: &generator) == 0
        if isKilledEarly { endSoon() }
        let coordinator = try Gallery.open(url, options: [NSPersistentHistoryTrackingKey: true])
        let context = coordinator.newContext()
        var saves = 0
        while true {
            let (name, number) = try Gallery.step(in: context, &generator)
            say("\(name),\(number)")
            if !isKilledEarly, saves == 0 { endSoon() }
            saves += 1
        }
    }

    /// Looks at all photos again and again, until the standard input ends, and tells what was
    /// wrong.
    static func read(_ url: URL) throws {
        let coordinator = try Gallery.open(url, options: [NSReadOnlyPersistentStoreOption: true])
        let flag = Flag()
        Thread.detachNewThread {
            while readLine() != nil {}
            flag.raise()
        }
        say("ready")
        var looks = 0
        while !flag.isRaised || looks == 0 {
            let wrong = try Gallery.wrongPhotos(coordinator.newContext())
            if !wrong.isEmpty { say("wrong: " + wrong.joined(separator: "; ")) }
            looks += 1
        }
        say("looks: \(looks)")
    }

    private final class Flag: Sendable {
        private let raised = Atomic<Bool>(false)
        var isRaised: Bool { raised.load(ordering: .relaxed) }
        func raise() { raised.store(true, ordering: .relaxed) }
    }

    /// Saves so many times, again where another process was faster.
    static func save(_ url: URL, seed: UInt64, times: Int) throws {
        var generator = SeededGenerator(seed: seed)
        let coordinator = try Gallery.open(url)
        let context = coordinator.newContext()
        context.stalenessInterval = 0
        var saved = 0
        while saved < times {
            do {
                _ = try Gallery.step(in: context, &generator)
                saved += 1
            } catch let error as CocoaError
                where error.code == .managedObjectMerge || error.code == .managedObjectReferentialIntegrity
            {
                context.reset()
            }
        }
        say("saved \(saved)")
    }

    // MARK: Limits

    private static func tell(_ work: () throws -> Void) {
        do {
            try work()
            say("done")
        } catch {
            let error = error as NSError
            say("error \(error.code): \(error.localizedDescription) \(error.localizedRecoverySuggestion ?? "")")
        }
    }

    /// Opens a store, and saves to it, while files may not become larger than so many bytes; then
    /// without the limit.
    static func withSmallFiles(_ url: URL, bytes: Int) throws {
        ProcessLimits.limitFiles(toBytes: bytes)
        var generator = SeededGenerator(seed: 7)
        var coordinator: NSPersistentStoreCoordinator?
        tell { coordinator = try Gallery.open(url) }
        if let context = coordinator?.newContext() {
            tell { for _ in 0..<200 { _ = try Gallery.step(in: context, &generator) } }
            ProcessLimits.limitFiles(toBytes: nil)
            tell { try context.save() }
        }
    }

    /// Opens a store, and then works on queues, saves and fetches while the process may open no
    /// more files.
    static func workWithoutDescriptors(_ url: URL) throws {
        let coordinator = try Gallery.open(url)
        ProcessLimits.limitNewDescriptors(to: 0)
        let isDone = DispatchSemaphore(value: 0)
        let context = coordinator.newContext()
        context.perform {
            tell {
                // Without a photo, which would need a descriptor.
                NSEntityDescription.insertNewObject(forEntityName: "Person", into: context).setValue(
                    "new", forKey: "name")
                try context.save()
            }
            isDone.signal()
        }
        isDone.wait()
        tell {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
            request.predicate = NSPredicate(format: "name == 'new'")
            say("new: \(try coordinator.newContext().count(for: request))")
        }
        ProcessLimits.limitNewDescriptors(to: nil)
    }

    /// Opens a store, or looks at an open one, while the process may open no more files.
    static func withoutDescriptors(_ url: URL, isOpen: Bool) throws {
        let opened = isOpen ? try Gallery.open(url, options: [NSPersistentStoreConnectionPoolMaxSizeKey: 1]) : nil
        ProcessLimits.limitNewDescriptors(to: 0)
        tell {
            if let opened {
                let wrong = try Gallery.wrongPhotos(opened.newContext())
                say("wrong: \(wrong.count)")
            } else {
                _ = try Gallery.open(url)
            }
        }
        ProcessLimits.limitNewDescriptors(to: nil)
    }
}
