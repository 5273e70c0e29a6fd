import CoreData
import TestSupport
import Testing

@testable import CoreDataToolKit

/// The prompt for one store.
struct ShellTests {
    let workplace: Workplace
    let store: String

    init() throws {
        workplace = try Workplace()
        store = try workplace.shop()
    }

    // MARK: Without a terminal

    @Test func commandsComeFromTheInputWithoutTheStore() {
        let run = ToolRun(
            ["shell", store], answers: ["query Product --columns name,stock --where 'stock > 15'", "exit", "info"])
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.contains("漢字 screw     20"))
        #expect(!run.output.contains("Framework version"))
    }

    @Test func theStatusIsThatOfTheLastFailure() {
        #expect(ToolRun(["shell", store], answers: ["query Prodct", "info"]).status == 1)
        #expect(ToolRun(["shell", store], answers: ["frob"]).status == 64)
        #expect(ToolRun(["shell", store], answers: ["query 'Product"]).errors.contains("The quote ' has no end."))
        #expect(ToolRun(["shell", store], answers: ["", "# a remark"]).status == 0)
    }

    @Test func otherCommandsWorkAsTheyAre() {
        #expect(ToolRun(["shell", store], answers: ["help query"]).output.hasPrefix("Usage: coredata query"))
        #expect(ToolRun(["shell", store], answers: ["coredata export --entity Maker"]).lines.count == 1)
        #expect(ToolRun(["shell", store], answers: ["diff \(store)"]).status == 0)
    }

    @Test(
        arguments: [
            ("a b", ["a", "b"]), ("  a  ", ["a"]), ("'a b' c", ["a b", "c"]), (#"a\ b "c\"d""#, ["a b", "c\"d"]),
            ("--x='y z'", ["--x=y z"]), ("''", [""]), ("", []),
        ] as [(String, [String])])
    func linesAreSplitAsInSh(_ line: String, _ words: [String]) { #expect(ShellWords(line).texts == words) }

    // MARK: Completion

    @Test(
        arguments: [
            ("qu", ["query"]), ("model ex", ["export"]), ("query Pro", ["Product"]),
            ("query Product --li", ["--limit"]),
            ("query Product --sort pri", ["price"]), ("query Product --where 'stock > 5 AND na", ["name"]),
            ("query Product --where 'name BEG", ["BEGINSWITH"]), ("query Maker --columns name,prod", ["products"]),
            ("completion z", ["zsh"]), ("ex", ["export", "exit"]), ("nothing ", []), ("export --format nd", ["ndjson"]),
        ] as [(String, [String])])
    func wordsAreCompleted(_ line: String, _ expected: [String]) throws {
        let completion = ShellCompletion(
            try ReadableStore(path: store, modelPath: nil).model, commands: CommandLineTool.commands.map(\.syntax))
        #expect(completion.candidates(for: line).texts == expected)
    }

    // MARK: On a pseudo-terminal

    /// Types keys into an editor, and returns the line and what the terminal showed.
    private func type(_ keys: String, history: [String] = []) throws -> (line: String?, screen: String) {
        let terminal = try PseudoTerminal()
        let completion = ShellCompletion(
            try ReadableStore(path: store, modelPath: nil).model, commands: CommandLineTool.commands.map(\.syntax))
        terminal.type(keys)
        var screen: [UInt8] = []
        let editor = LineEditor(
            input: terminal.follower, output: OutputWriter { screen.append(contentsOf: $0) }, history: history,
            columns: { 40 }, complete: completion.candidates)
        let line = try editor.readLine(prompt: "> ")
        return (line, String(decoding: screen, as: UTF8.self))
    }

    @Test(arguments: [
        ("abc\r", "abc"), ("abd\u{7f}c\r", "abc"), ("bc\u{1}a\r", "abc"), ("ac\u{1b}[Db\r", "abc"),
        ("abc def\u{17}x\r", "abc x"), ("abc\u{15}d\r", "d"), ("abc\u{1}\u{6}\u{b}\r", "a"), ("Søren 漢字\r", "Søren 漢字"),
        ("e\u{301}x\u{7f}\u{7f}y\r", "y"), ("qu\tPro\t\r", "query Product "), ("ab\u{1b}[H\u{1b}[3~\r", "b"),
        ("old\u{3}", ""), ("\u{1b}[Zx\u{0}\r", "x"),
    ])
    func keysEditTheLine(_ keys: String, _ line: String) throws { #expect(try type(keys).line == line) }

    @Test func arrowsGoThroughTheHistory() throws {
        let history = ["first", "second"]
        #expect(try type("\u{1b}[A\r", history: history).line == "second")
        #expect(try type("\u{1b}[A\u{1b}[A\r", history: history).line == "first")
        #expect(try type("new\u{1b}[A\u{1b}[B\r", history: history).line == "new")
        #expect(try type("\u{10}\u{10}\u{10}\u{e}\r", history: history).line == "second")
    }

    @Test func controlDEndsTheShell() throws {
        #expect(try type("\u{4}").line == nil)
        #expect(try type("ab\u{1}\u{4}\r").line == "b")
    }

    @Test func severalCandidatesAreShown() throws {
        let run = try type("ex\t\r")
        #expect(run.screen.contains("export  exit"), "\(run.screen)")
    }

    @Test func aLongLineIsShownAroundTheCursor() throws {
        let long = String(repeating: "x", count: 100)
        let run = try type(long + "\r")
        #expect(run.line == long)
        let drawn = run.screen.split(separator: "\r").map { $0.replacingOccurrences(of: "\u{1b}[K", with: "") }
        #expect(drawn.allSatisfy { $0.count <= 40 })
    }

    @Test func theHistoryIsInAFileOfThePersonAlone() throws {
        let path = workplace.folder.appendingPathComponent("history").path
        let history = ShellHistory(environment: ["COREDATA_HISTORY": path])
        #expect(history.read() == [])
        history.write(["a", "b c"])
        #expect(history.read() == ["a", "b c"])
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber
        #expect(mode?.intValue == 0o600)
        ShellHistory(environment: ["COREDATA_HISTORY": "", "HOME": "/nowhere"]).write(["x"])
    }
}

/// A pair of a terminal's two sides.
final class PseudoTerminal {
    private let leader: Int32
    /// The side on which a program reads.
    let follower: Int32

    init() throws {
        leader = open("/dev/ptmx", O_RDWR | O_NOCTTY)
        try #require(leader >= 0)
        // TIOCSPTLCK and TIOCGPTN of Linux: unlock the other side, and get its number.
        var lock: Int32 = 0
        try #require(ioctl(leader, 0x4004_5431, &lock) == 0)
        var number: Int32 = 0
        try #require(ioctl(leader, 0x8004_5430, &number) == 0)
        follower = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY)
        try #require(follower >= 0)
        // Keys that are typed before the program reads are not edited by the system.
        var mode = termios()
        try #require(tcgetattr(follower, &mode) == 0)
        cfmakeraw(&mode)
        try #require(tcsetattr(follower, TCSANOW, &mode) == 0)
    }

    deinit {
        close(follower)
        close(leader)
    }

    func type(_ keys: String) {
        let bytes = Array(keys.utf8)
        _ = write(leader, bytes, bytes.count)
    }
}
