import CoreData
import TestSupport
import Testing

/// Migrations during which calls of the operating system fail, one by one or from one on: the
/// program is told so, and the store is the former one or the new one, whole.
@Suite(.enabled(if: CallTracer.reasonForNone == nil, "\(CallTracer.reasonForNone ?? "")"))
struct FailingCallTests {
    private static let kinds = [
        ("SQLite", "altered"), ("SQLite", "staged"), ("SQLite", "managed"), ("SQLite", "backedUp"),
        ("Binary", "mapped"),
    ]

    /// Calls, the error that they fail with, and whether all that follow fail, too.
    private static let failures: [(calls: String, error: String, isLasting: Bool)] = [
        ("pwrite64", "EIO", false), ("pwrite64,write,fallocate", "ENOSPC", true), ("write", "EIO", false),
        ("fsync,fdatasync", "EIO", false), ("openat", "EACCES", false), ("openat", "EMFILE", true),
        ("rename,renameat,renameat2", "EIO", false), ("mkdir,mkdirat", "EROFS", false),
        ("unlink,unlinkat,rmdir", "EIO", false), ("ftruncate", "EIO", false), ("pread64,read", "EIO", false),
        ("getdents64", "EIO", false), ("fcntl,flock", "EIO", false), ("fstat,newfstatat,stat,lstat", "EIO", false),
    ]

    @Test(arguments: LongTests.some(1, of: kinds)) func aFailingCallLeavesOneOfBothVersionsWhole(
        type: String, kind: String
    ) throws {
        let folder = try TemporaryFolder()
        let template = folder.file("template")
        try FileManager.default.createDirectory(at: template, withIntermediateDirectories: true)
        func program(_ mode: String, _ rest: String...) throws -> ProgramRun {
            try ProgramRun(OtherProgram.url, ["starved", mode, kind, type] + rest)
        }
        #expect(try program("fill", template.path).status == 0)
        let counted = folder.file("counted")
        try FileManager.default.copyItem(at: template, to: counted)
        let counts = try CallTracer.count(
            Self.failures.map(\.calls), OtherProgram.url, ["starved", "migrate", kind, type, counted.path])
        var made: [(name: String, letter: String)] = []
        for (failure, count) in zip(LongTests.some(4, of: Self.failures), LongTests.some(4, of: counts)) {
            let places = Array(count.before..<max(count.before, count.all)).map { $0 + 1 }
            for place in Self.spread(places, LongTests.areEnabled ? 3 : 1) {
                let name = "\(failure.calls) \(failure.error) \(place)\(failure.isLasting ? "+" : "")"
                let copy = folder.file(name)
                try FileManager.default.copyItem(at: template, to: copy)
                let injection =
                    "inject=\(failure.calls):error=\(failure.error):when=\(place)\(failure.isLasting ? "+" : "")"
                let run = try CallTracer.run(
                    failure.calls, injection, OtherProgram.url, ["starved", "migrate", kind, type, copy.path])
                let lines = run.output.split(separator: "\n").map(String.init)
                #expect(run.status == 0, "\(name): \(run.output)")
                // The output may be among what cannot be written.
                let isHeard = !(failure.calls.contains(",write") && failure.isLasting)
                if isHeard { #expect(lines.count == 2, "\(name): \(run.output)") }
                made.append((name, lines.last == "done" ? "d" : "r"))
            }
        }
        #expect(made.contains { $0.letter == "r" })
        let check = try ProgramRun(
            OtherProgram.url,
            ["starved", "check", kind, type, made.map(\.letter).joined()] + made.map { folder.file($0.name).path })
        #expect(check.output.split(separator: "\n") == [])
        #expect(check.status == 0)
    }

    /// Some of a list, its ends among them.
    private static func spread(_ list: [Int], _ count: Int) -> [Int] {
        if list.count <= count { return list }
        if count == 1 { return [list[list.count / 2]] }
        return (0..<count).map { list[$0 * (list.count - 1) / (count - 1)] }
    }
}

/// `strace`, which lets calls of a program fail.
enum CallTracer {
    private static let environment = URL(fileURLWithPath: "/usr/bin/env")

    /// Why there is none; nil where there is.
    static let reasonForNone: String? = {
        let echo = URL(fileURLWithPath: "/bin/echo")
        let made = try? run("getppid", "inject=getppid:error=EPERM", echo, ["traced"])
        return made?.output == "traced\n" ? nil : "strace is not there, or may not trace"
    }()

    static func run(
        _ calls: String, _ injection: String, _ program: URL, _ arguments: [String]
    ) throws -> ProgramRun {
        // What hangs is killed, and so noticed.
        let limit = ["timeout", "-s", "KILL", "60"]
        let tracer = [
            "strace", "-f", "-qq", "--seccomp-bpf", "-o", "/dev/null", "-e", "trace=" + calls, "-e", injection,
        ]
        return try ProgramRun(environment, limit + tracer + [program.path] + arguments)
    }

    /// Counts the calls of groups by the first thread: those before it writes "begin" or "done".
    /// Each thread has its own count for what is let fail.
    static func count(
        _ groups: [String], _ program: URL, _ arguments: [String]
    ) throws -> [(before: Int, all: Int)] {
        let folder = try TemporaryFolder()
        let log = folder.file("calls")
        let run = try ProgramRun(
            environment, ["strace", "-f", "-qq", "-o", log.path, program.path] + arguments)
        guard run.status == 0 else { return groups.map { _ in (0, 0) } }
        var lines = String(decoding: try Data(contentsOf: log), as: UTF8.self).split(separator: "\n")
        let thread = lines.first?.prefix { $0 != " " } ?? ""
        lines = lines.filter { $0.hasPrefix(thread + " ") }
        let begin = lines.firstIndex { $0.contains("write(1, \"begin") } ?? 0
        let end = lines.lastIndex { $0.contains("write(1, \"done") } ?? lines.endIndex
        func name(_ line: Substring) -> Substring? {
            line.drop { $0 != " " }.drop { $0 == " " }.split(separator: "(").first
        }
        let names = lines[..<end].map { name($0) ?? "" }
        return groups.map { group in
            let wanted = Set(group.split(separator: ","))
            func isWanted(_ name: Substring) -> Bool { wanted.contains(name) }
            return (names[...begin].count(where: isWanted), names.count(where: isWanted))
        }
    }
}
