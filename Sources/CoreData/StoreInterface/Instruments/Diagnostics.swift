import Foundation
import Synchronization

/// Finds uses of the framework that look like mistakes, in a program that was started with
/// `OPENCOREDATA_DIAGNOSTICS=1`. Each is printed once to standard error.
final class Diagnostics: Sendable {
    static let ofProgram: Diagnostics? =
        ProcessInfo.processInfo.environment["OPENCOREDATA_DIAGNOSTICS"] == "1"
        ? Diagnostics { ProgramPlace.current } : nil

    /// The number of reads for faults of one kind within one second.
    static let readsInLoop = 50
    static let scannedRows = 10_000
    static let fetchedObjects = 10_000
    static let heldObjects = 100_000

    private let place: @Sendable () -> String?
    /// The reads for faults of each entity or relationship since a time.
    private let reads = Mutex<[String: (count: Int, since: Int64)]>([:])

    /// - Parameter place: Returns the line of the program that has led to an event.
    init(place: @escaping @Sendable () -> String?) { self.place = place }

    /// Returns a warning that an event is the reason for, and that was not given before.
    func warning(after event: CoreDataEvent) -> String? {
        switch event {
        case .fault(_, let entity, let relationship, _): faultsInLoop(entity, relationship)
        case .statement(let statement): fullScan(statement)
        case .fetch(let fetch): largeFetch(fetch)
        case .save(let save): largeContext(save)
        case .conflicts, .merge, .warning: nil
        }
    }

    private func warn(about subject: String, _ sentence: @autoclosure () -> String) -> String? {
        var warning: String?
        Warnings.sayOnce(about: "diagnostics \(subject)") {
            let place = place().map { " At \($0)." } ?? ""
            let text = sentence() + place
            warning = text
            return "warning: \(text)"
        }
        return warning
    }

    private func faultsInLoop(_ entity: String, _ relationship: String?) -> String? {
        let subject = "\(entity).\(relationship ?? "")"
        let now = Instruments.now
        let isLoop = reads.withLock { reads in
            var (count, since) = reads[subject] ?? (0, now)
            if now - since > 1_000_000_000 { (count, since) = (0, now) }
            reads[subject] = (count + 1, since)
            return count + 1 >= Self.readsInLoop
        }
        if !isLoop { return nil }
        let advice =
            relationship.map {
                "relationshipKeyPathsForPrefetching = [\"\($0)\"] in the fetch of \(entity) reads them at once"
            }
            ?? "returnsObjectsAsFaults = false in their fetch, or relationshipKeyPathsForPrefetching with the "
            + "relationship that leads to them, reads them at once"
        let what = relationship.map { "the objects of \(entity).\($0)" } ?? "objects of \(entity)"
        return warn(
            about: subject,
            "\(Self.readsInLoop) statements within a second read \(what) one after the other: \(advice).")
    }

    private func fullScan(_ statement: ExecutedStatement) -> String? {
        guard statement.scannedRows >= Self.scannedRows, statement.scannedRows / 10 >= statement.rows else {
            return nil
        }
        let columns = Self.comparedColumns(statement.sql)
        let advice =
            columns.isEmpty
            ? "no index serves its condition" : "an index of \(columns.joined(separator: ", ")) may serve it"
        return warn(
            about: statement.sql,
            "A statement read \(statement.scannedRows) rows to find \(statement.rows); \(advice) "
                + "(\(StatementLog.cut(statement.sql))).")
    }

    /// Returns the columns whose values a statement compares in a way that an index can serve.
    static func comparedColumns(_ sql: String) -> [String] {
        let conditions = sql.components(separatedBy: " WHERE ").dropFirst().joined(separator: " ")
        var columns: [String] = []
        for match in conditions.matches(of: /\bt\d+\.("?)(\w+)\1 *(?:=|<|>|IS |IN |BETWEEN )/) {
            let column = String(match.2)
            if column != "Z_PK", column != "Z_ENT", !columns.contains(column) { columns.append(column) }
        }
        return columns
    }

    private func largeFetch(_ fetch: ExecutedFetch) -> String? {
        guard fetch.count >= Self.fetchedObjects, fetch.limit == 0, fetch.batchSize == 0 else { return nil }
        return warn(
            about: "fetch of \(fetch.entity)",
            "A fetch without a limit returned \(fetch.count) results of \(fetch.entity): a fetchLimit, or a "
                + "fetchBatchSize, saves time and memory.")
    }

    private func largeContext(_ save: ExecutedSave) -> String? {
        guard save.held >= Self.heldObjects else { return nil }
        let name = save.context ?? "without a name"
        return warn(
            about: "context \(name)",
            "The context \(name) holds \(save.held) objects after a save: reset() it, or let go of objects that are "
                + "no longer used, between the parts of a long work.")
    }
}
