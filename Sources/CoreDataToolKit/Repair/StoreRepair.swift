import Foundation

/// A repair of the faults that a check has found.
struct StoreRepair {
    /// The findings that are to be mended.
    let planned: [StoreFinding]
    /// The findings that stay: nothing can mend them, or others were chosen.
    let left: [StoreFinding]

    private let path: String
    private let kinds: Set<FindingKind>?

    /// - Parameter kinds: the kinds of faults to mend; nil for all.
    init(of check: StoreCheck, only kinds: Set<FindingKind>?) {
        path = check.path
        self.kinds = kinds
        planned = Self.planned(check, kinds)
        left = check.findings.filter { $0.mend == nil || kinds?.contains($0.kind) == false }
    }

    private static func planned(_ check: StoreCheck, _ kinds: Set<FindingKind>?) -> [StoreFinding] {
        check.findings.filter { $0.mend != nil && kinds?.contains($0.kind) != false }
    }

    struct Outcome {
        let backup: DatedBackup
        /// The findings of a check after the repair.
        let check: StoreCheck
        /// Mends that failed, with SQLite's reason.
        let failures: [String]
    }

    /// The greatest number of repairs in a row: mending a fault may show another one.
    private static let rounds = 3

    /// Makes a backup, mends the planned faults, and checks the store again.
    ///
    /// - Throws: `ToolError`; the store is then as it was.
    func run(checking: () throws -> StoreCheck) throws -> Outcome {
        let backup: DatedBackup
        do {
            if FileLocks.isInUse(storePath: path) {
                throw ToolError("'\(path)' is open in another program. Close the store there, and try again.")
            }
            let file = try StoreFile(path: path)
            defer { file.close() }
            backup = try DatedBackup(of: file)
        }
        var failures = try mend(planned, backup)
        var check = try checking()
        for _ in 1..<Self.rounds where failures.isEmpty {
            let next = Self.planned(check, kinds)
            if next.isEmpty { break }
            failures = try mend(next, backup)
            check = try checking()
        }
        return Outcome(backup: backup, check: check, failures: failures)
    }

    /// Mends faults in one transaction, and returns those mends that failed.
    private func mend(_ findings: [StoreFinding], _ backup: DatedBackup) throws -> [String] {
        var failures: [String] = []
        var files: [String] = []
        do {
            let writer = try SQLiteWriter(path: path)
            try writer.transaction {
                for finding in findings {
                    do {
                        try writer.savepoint {
                            for step in finding.mend?.steps ?? [] { try run(step, writer, &files) }
                        }
                    } catch let failure as SQLiteReader.Failure where !failure.isLocked {
                        failures.append("\(finding.kind.rawValue): \(failure.message)")
                    }
                }
            }
        } catch let failure as SQLiteReader.Failure {
            throw ToolError(
                "'\(path)' cannot be written: \(failure.message). Nothing was changed; the backup is "
                    + "'\(backup.folder.path)'.")
        }
        for name in files { move(name, backup) }
        return failures
    }

    private func run(_ step: Mend.Step, _ writer: SQLiteWriter, _ files: inout [String]) throws {
        switch step {
        case .statement(let sql, let values): try writer.run(sql, values)
        case .conversion(let conversion):
            let update = try writer.prepare(conversion.statement)
            for row in try writer.run(conversion.query) {
                if let value = conversion.converted(row[1]) { try update.run([value, row[0]]) }
            }
        case .moveFile(let name): files.append(name)
        }
    }

    /// Takes a file out of the store's folder; the backup has it already.
    private func move(_ name: String, _ backup: DatedBackup) {
        let copy = backup.externalDataFolder.appendingPathComponent(name)
        guard FileManager.default.fileExists(atPath: copy.path) else { return }
        let folder = StoreFile.externalDataFolder(of: URL(fileURLWithPath: path))
        try? FileManager.default.removeItem(at: folder.appendingPathComponent(name))
    }
}
