import CoreData
import TestSupport

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Migrates stores while something is lacking, and prints what is wrong with them then.
struct StarvedProgram {
    /// What is lacking.
    enum Shortage: String {
        /// The space of the file system, from the beginning.
        case full
        /// The space of the file system, from a point of the migration on.
        case filling
        /// The size that files may have.
        case size
        /// File descriptors.
        case descriptors
    }

    let store: StarvedStore

    /// Not by a `FileHandle`, which ends the program when it cannot be written.
    static func say(_ text: String) {
        let bytes = Array((text + "\n").utf8)
        _ = write(STDOUT_FILENO, bytes, bytes.count)
    }

    init?(_ kind: String, _ type: String, _ folder: String) {
        guard let kind = StarvedStore.Kind(rawValue: kind) else { return nil }
        store = StarvedStore(kind: kind, type: type, folder: URL(fileURLWithPath: folder))
    }

    // MARK: One step at a time

    /// Migrates the store and prints "begin", then "done" or "refused", and what is wrong with the
    /// error.
    func migrate() throws {
        let new = try store.destination()
        // Foundation ends the program if it cannot look at the program's own folder.
        _ = Bundle.main
        Self.say("begin")
        let (isDone, complaints) = attempt(new)
        for complaint in complaints { Self.say(complaint) }
        Self.say(isDone ? "done" : "refused")
    }

    /// - Returns: whether the migration went through, and what is wrong with its error.
    private func attempt(_ new: NSManagedObjectModel, lacks shortage: Shortage? = nil) -> (
        isDone: Bool, complaints: [String]
    ) {
        do {
            try StarvedMigration.run(store, to: new)
            return (true, [])
        } catch {
            let error = error as NSError
            let (text, advice) = (error.localizedDescription, error.localizedRecoverySuggestion ?? "")
            var complaints: [String] = []
            if error.domain != NSCocoaErrorDomain { complaints.append("the domain is \(error.domain)") }
            let names = [store.url, store.result].map(\.path)
            if !names.contains(where: text.contains) { complaints.append("the store is not named") }
            // Some errors say in one text what is wrong and what to do.
            if shortage != nil, advice.isEmpty, !text.contains("again") { complaints.append("there is no advice") }
            let lacksSpace = shortage == .full || shortage == .filling
            if lacksSpace, !(text + advice).contains("space") { complaints.append("it does not speak of space") }
            return (false, complaints.map { "\($0): \(error.code) \(text) // \(advice)" })
        }
    }

    /// Looks at a store after an attempt, then migrates it if it is not, and looks again.
    ///
    /// - Parameter isStrict: Whether nothing may lie beside the store before the second attempt.
    func check(afterDone isDone: Bool, isStrict: Bool) -> [String] {
        var problems: [String] = []
        do {
            if isStrict { problems += store.leftovers.map { "left: \($0)" } }
            let isNew = try store.isNew()
            if isDone, !isNew { problems.append("the migration is lost") }
            problems += store.problems(isNew: isNew)
            if !isNew {
                try StarvedMigration.run(store, to: store.destination())
                problems += store.problems(isNew: true).map { "afterwards, " + $0 }
            }
            problems += store.leftovers.map { "left in the end: \($0)" }
        } catch {
            problems.append("\(error.localizedDescription)")
        }
        return problems
    }

    // MARK: Series

    /// Fills the store, and migrates it with more and more of what is lacking, until it goes
    /// through; anew after each attempt.
    func run(_ shortage: Shortage, step: Int) throws {
        try FileManager.default.createDirectory(at: store.folder, withIntermediateDirectories: true)
        try store.fill()
        let template = store.folder.deletingLastPathComponent().appendingPathComponent("template")
        try FileManager.default.copyItem(at: store.folder, to: template)
        var (refusals, amount, isOver) = (0, 0, false)
        while !isOver {
            var point = 0
            repeat {
                let made = try starve(shortage, amount, point, store.destination())
                if !made.isDone { refusals += 1 }
                let problems = made.complaints + check(afterDone: made.isDone, isStrict: true)
                for problem in problems { Self.say("\(shortage) \(amount) at \(point): \(problem)") }
                isOver = made.isOver
                try FileManager.default.removeItem(at: store.folder)
                try FileManager.default.copyItem(at: template, to: store.folder)
                point += 1
            } while shortage == .filling && !isOver
            if shortage == .filling { isOver = amount >= step }
            amount += step
        }
        Self.say("refused \(refusals)")
    }

    private func starve(
        _ shortage: Shortage, _ amount: Int, _ point: Int, _ new: NSManagedObjectModel
    ) -> (isDone: Bool, isOver: Bool, complaints: [String]) {
        let ballast = store.folder.deletingLastPathComponent().appendingPathComponent("ballast")
        var wasPassed = true
        switch shortage {
        case .full: Self.fill(ballast, leaving: amount)
        case .filling: StarvedMigration.at(point: point) { Self.fill(ballast, leaving: amount) }
        case .size: ProcessLimits.limitFiles(toBytes: amount)
        case .descriptors: ProcessLimits.limitNewDescriptors(to: amount)
        }
        let (isDone, complaints) = attempt(new, lacks: shortage)
        switch shortage {
        case .full: unlink(ballast.path)
        case .filling:
            wasPassed = StarvedMigration.forgetPoint()
            unlink(ballast.path)
        case .size: ProcessLimits.limitFiles(toBytes: nil)
        case .descriptors: ProcessLimits.limitNewDescriptors(to: nil)
        }
        return (isDone, shortage == .filling ? !wasPassed : isDone, complaints)
    }

    /// Takes the free space of the file system but for so many bytes.
    private static func fill(_ ballast: URL, leaving free: Int) {
        var information = statvfs()
        let file = open(ballast.path, O_CREAT | O_WRONLY, 0o600)
        guard file >= 0, statvfs(ballast.path, &information) == 0 else { return }
        defer { close(file) }
        let available = Int(information.f_bavail) * Int(information.f_frsize)
        if available > free { posix_fallocate(file, 0, off_t(available - free)) }
    }
}
