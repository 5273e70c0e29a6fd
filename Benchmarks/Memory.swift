import CSQLite
import CoreData
import Foundation
import TestSupport

/// A raw row kept as a class instance, for the comparison of memory.
private final class RawWide {
    let a, b, c, d, e, f, g, h, i, j: Int64

    init(_ statement: OpaquePointer) {
        a = sqlite3_column_int64(statement, 0)
        b = sqlite3_column_int64(statement, 1)
        c = sqlite3_column_int64(statement, 2)
        d = sqlite3_column_int64(statement, 3)
        e = sqlite3_column_int64(statement, 4)
        f = sqlite3_column_int64(statement, 5)
        g = sqlite3_column_int64(statement, 6)
        h = sqlite3_column_int64(statement, 7)
        i = sqlite3_column_int64(statement, 8)
        j = sqlite3_column_int64(statement, 9)
    }
}

extension Harness {
    /// Compares how much a process grows by holding 200,000 objects, each side in a process of its
    /// own.
    func memory() throws {
        guard wants("memory") else { return }
        let (url, _) = try wideStore(200_000)
        let engine = try Self.childGrowth("engine", url.path)
        let raw = try Self.childGrowth("raw", url.path)
        record(
            "Memory of W1, growth of the resident set", ratio: engine / raw, bound: 2.5,
            detail: String(format: "%.1f MB / %.1f MB", engine / 1e6, raw / 1e6))
        let batched = try Self.childGrowth("batched", url.path)
        record(
            "Memory of W1 in batches of 100, against all at once", ratio: batched / engine, bound: 0.75,
            detail: String(format: "%.1f MB / %.1f MB", batched / 1e6, engine / 1e6))
    }

    /// - Parameter place: where the child finds the rows: a path, or a URL.
    static func childGrowth(_ side: String, _ place: String) throws -> Double {
        let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        let run = try ProgramRun(program, ["--memory", side, place], hearsErrors: false)
        guard let bytes = Double(run.output.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw RawDatabase.Failure(message: "The process that measures memory printed no number.")
        }
        return bytes
    }

    /// The child's side: holds everything, then prints the growth of its peak resident set in
    /// bytes.
    func runMemoryChild(_ side: String, _ path: String) throws {
        if path.hasPrefix("postgresql:") { return try runPostgreSQLMemoryChild(side, path) }
        let url = URL(fileURLWithPath: path)
        if side == "policy" {
            let (before, target) = (Self.peakResidentBytes(), newURL())
            try Self.migrateByPolicy(url, to: target)
            print(Self.peakResidentBytes() - before)
        } else if side == "engine" || side == "batched" {
            let context = context(try coordinator(url))
            let before = Self.peakResidentBytes()
            let objects = try context.fetch(Self.wideRequest(batchSize: side == "batched" ? 100 : 0))
            for object in objects { Self.sink &+= object.a &+ object.j }
            print(Self.peakResidentBytes() - before)
            withExtendedLifetime(objects) {}
        } else {
            let raw = try RawDatabase(path)
            let before = Self.peakResidentBytes()
            var objects: [RawWide] = []
            let statement = try raw.prepare("SELECT ZA, ZB, ZC, ZD, ZE, ZF, ZG, ZH, ZI, ZJ FROM ZWIDE")
            while sqlite3_step(statement) == SQLITE_ROW { objects.append(RawWide(statement)) }
            sqlite3_finalize(statement)
            for object in objects { Self.sink &+= object.a &+ object.j }
            print(Self.peakResidentBytes() - before)
            withExtendedLifetime(objects) {}
        }
    }

    static func peakResidentBytes() -> Int {
        guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else { return 0 }
        for line in status.split(separator: "\n") where line.hasPrefix("VmHWM:") {
            return (Int(line.split(separator: " ").dropLast().last ?? "0") ?? 0) * 1024
        }
        return 0
    }
}
