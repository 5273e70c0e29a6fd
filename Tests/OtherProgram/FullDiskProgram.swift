import CoreData
import TestSupport

/// Works on a gallery's store in a file system that is filled and emptied again and again. Prints
/// what is wrong, and in the end what was done.
final class FullDiskProgram {
    private let url: URL
    private var generator: SeededGenerator
    /// A file that takes up the free space.
    private let ballast: URL
    /// The numbers of the persons after the last save that was over.
    private var acknowledged = Dictionary(uniqueKeysWithValues: Gallery.names.map { ($0, Int64(1)) })
    private var saves = 0
    private var refusals = 0

    init(_ folder: URL, seed: UInt64) {
        url = folder.appendingPathComponent("gallery.sqlite")
        ballast = folder.appendingPathComponent("ballast")
        generator = SeededGenerator(seed: seed)
    }

    private func say(_ text: String) { FileHandle.standardOutput.write(Data((text + "\n").utf8)) }

    private static var options: [AnyHashable: Any] { [NSPersistentHistoryTrackingKey: true] }
    private static var migrating: [AnyHashable: Any] {
        options.merging([
            NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
        ]) { $1 }
    }

    // MARK: Space

    /// Leaves so many bytes free.
    private func fill(leaving free: Int) throws {
        try Data().write(to: ballast)
        let file = try FileHandle(forWritingTo: ballast)
        defer { try? file.close() }
        let step = 4096
        var size = 0
        while (try? file.write(contentsOf: Data(count: step))) != nil { size += step }
        try file.truncate(atOffset: UInt64(max(0, size - free)))
    }

    private func empty() throws { try FileManager.default.removeItem(at: ballast) }

    // MARK: Checks

    /// - Returns: whether `work` went through; otherwise it must have said that there is no space.
    private func attempt(_ what: String, _ work: () throws -> Void) -> Bool {
        do {
            try work()
            return true
        } catch {
            let error = error as NSError
            let text = error.localizedDescription + " " + (error.localizedRecoverySuggestion ?? "")
            if error.domain != NSCocoaErrorDomain || error.code != CocoaError.fileWriteOutOfSpace.rawValue
                || !text.contains("space")
            {
                say("\(what): \(error.domain) \(error.code) \(text)")
            }
            refusals += 1
            return false
        }
    }

    private func check(_ when: String, _ context: NSManagedObjectContext) throws {
        let wrong = try Gallery.wrongPhotos(context)
        if !wrong.isEmpty { say("\(when): wrong photos: \(wrong.joined(separator: "; "))") }
        let numbers = try Gallery.numbers(context)
        if numbers != acknowledged { say("\(when): \(numbers) in place of \(acknowledged)") }
        let file = SQLiteFile(url)
        if let answer = file.value("PRAGMA integrity_check"), answer != "ok" { say("\(when): \(answer)") }
        let transactions = file.value("SELECT count(*) FROM ATRANSACTION")
        if transactions != String(saves) { say("\(when): \(transactions ?? "nil") transactions for \(saves) saves") }
    }

    // MARK: Work

    func run(rounds: Int) throws {
        try Gallery.create(url, options: Self.options)
        saves = 1
        for round in 1...rounds { try run(round) }
        try migrate()
        let problems = try Gallery.problems(url)
        if !problems.isEmpty { say("in the end: \(problems.joined(separator: "; "))") }
        say(refusals > 0 && saves > 1 ? "sound" : "\(saves) saves, \(refusals) refusals")
    }

    private func run(_ round: Int) throws {
        let coordinator = try Gallery.open(url, options: Self.options)
        let context = coordinator.newContext()
        try fill(leaving: Int.random(in: 0..<500_000, using: &generator))
        // Two of three steps write a file and another one rows alone.
        while attempt(
            "round \(round)",
            {
                let (name, number) = try Gallery.step(in: context, &generator)
                acknowledged[name] = number
            })
        { saves += 1 }
        try check("round \(round), full", coordinator.newContext())
        if Bool.random(using: &generator) {
            // Once more, with as little space.
            if attempt("round \(round), again", { try context.save() }) {
                saves += 1
                acknowledged = try Gallery.numbers(context)
            }
            try check("round \(round), again", coordinator.newContext())
        }
        try empty()
        if context.hasChanges {
            try context.save()
            saves += 1
        }
        acknowledged = try Gallery.numbers(context)
        try check("round \(round), freed", coordinator.newContext())
        for store in coordinator.persistentStores {
            try fill(leaving: 0)
            try coordinator.remove(store)
        }
        // A store that nobody has open, on a disk without space.
        var opened: NSPersistentStoreCoordinator?
        if attempt("round \(round), opening", { opened = try Gallery.open(url, options: Self.options) }), let opened {
            try check("round \(round), opened", opened.newContext())
            for store in opened.persistentStores { try opened.remove(store) }
        }
        try empty()
    }

    /// Migrates with too little space until there is enough.
    private func migrate() throws {
        // So many rows that a copy of them needs space.
        let rows =
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4000) INSERT INTO ZNOTE "
            + "(Z_ENT, Z_OPT, ZTEXT) "
            + "SELECT (SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Note'), 1, 'a note of some length ' || i || ' "
            + "0' FROM n"
        if !SQLiteFile(url).execute(rows) { say("no rows to migrate") }
        if !SQLiteFile(url).execute("UPDATE ZNOTE SET ZSCAN = NULL; UPDATE Z_PRIMARYKEY SET Z_MAX = 100000") {
            say("no keys")
        }
        let model = Gallery.model()
        model.entitiesByName["Note"]?.properties.append(NSAttributeDescription("stars", .integer16AttributeType))
        var free = 0
        var isDone = false
        while !isDone {
            try fill(leaving: free)
            var migrated: NSPersistentStoreCoordinator?
            isDone = attempt("migrating", { migrated = try Gallery.open(url, model: model, options: Self.migrating) })
            try empty()
            if let migrated {
                let count = try migrated.newContext().count(for: NSFetchRequest<NSManagedObject>(entityName: "Note"))
                if count < 4000 { say("only \(count) notes were migrated") }
                for store in migrated.persistentStores { try migrated.remove(store) }
            } else {
                let former = try Gallery.open(url, options: Self.options)
                if try Gallery.numbers(former.newContext()) != acknowledged {
                    say("a migration without space changed the store")
                }
                for store in former.persistentStores { try former.remove(store) }
            }
            free += 60_000
        }
        // Back, for the last look.
        let back = try Gallery.open(url, options: Self.migrating)
        for store in back.persistentStores { try back.remove(store) }
        if !SQLiteFile(url).execute("DELETE FROM ZNOTE WHERE ZSCAN IS NULL") { say("the rows stay") }
    }
}
