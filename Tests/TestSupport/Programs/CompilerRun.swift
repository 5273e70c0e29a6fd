import Foundation

/// The compiler's verdict on texts that use the project's modules: what it refuses, line by line.
///
/// A text says itself what it expects: `// error: part of the message` at the end of a line. All
/// texts are checked in one run, as files of one module; names at file level must differ between
/// them.
public struct CompilerRun {
    public struct Problem: Hashable, CustomStringConvertible {
        public let file: String
        public let line: Int
        public let message: String
        public var description: String { "\(file):\(line): \(message)" }
    }

    /// Errors the compiler gave on lines where no text expects any, and expected ones that it did
    /// not give.
    public let unexpected: [Problem]
    public let missing: [Problem]
    /// How many errors the texts expect.
    public let expectedCount: Int
    /// All that the compiler printed.
    public let output: String

    /// A file of the folder `MustNotCompile` of the tests.
    public init(fileNamed name: String, languageMode: String = "6") throws {
        let file = Self.testsFolder.appendingPathComponent("MustNotCompile/\(name).swift")
        try self.init([name: String(contentsOf: file, encoding: .utf8)], languageMode: languageMode, analysesFlow: true)
    }

    /// - Parameters:
    ///   - texts: the texts by the name of their file, without its extension.
    ///   - analysesFlow: whether to go beyond type checking to the analysis that finds values which
    ///     cross tasks.
    ///   - options: further arguments of the compiler.
    public init(
        _ texts: [String: String], languageMode: String = "6", analysesFlow: Bool = false, options: [String] = []
    ) throws {
        let folder = try TemporaryFolder()
        var expected: [Problem] = []
        var files: [String] = []
        for (name, text) in texts.sorted(by: { $0.key < $1.key }) {
            let file = folder.file(name + ".swift")
            try Data(text.utf8).write(to: file)
            files.append(file.path)
            expected += Self.expectations(in: text, file: name)
        }
        // Flow analysis is not part of type checking: SIL is made and thrown away.
        let mode = analysesFlow ? ["-emit-sil", "-o", "/dev/null"] : ["-typecheck"]
        output = try Self.compile(mode + ["-swift-version", languageMode] + options + files)
        let found = Self.problems(in: output)
        expectedCount = expected.count
        unexpected = found.filter { problem in !expected.contains { $0.file == problem.file && $0.line == problem.line }
        }
        missing = expected.filter { expectation in !found.contains { $0.satisfies(expectation) } }
    }

    private static func expectations(in text: String, file: String) -> [Problem] {
        text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().flatMap { index, line in
            line.components(separatedBy: "// error: ").dropFirst().map { message in
                Problem(file: file, line: index + 1, message: message.trimmingCharacters(in: .whitespaces))
            }
        }
    }

    // MARK: The compiler

    private static func compile(_ arguments: [String]) throws -> String {
        try ProgramRun.swiftc(["-wmo", "-diagnostic-style=llvm"] + moduleArguments + arguments).output
    }

    /// The folder that the tests were built into, with the package's programs and modules.
    public static var productsFolder: URL {
        Bundle.main.executableURL?.resolvingSymlinksInPath().deletingLastPathComponent() ?? URL(fileURLWithPath: ".")
    }

    static var testsFolder: URL {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
    }

    /// Where the modules that the tests were built with are, and the plug-ins for their macros.
    static var moduleArguments: [String] {
        let products = productsFolder
        let sources = testsFolder.deletingLastPathComponent().appendingPathComponent("Sources")
        let folders =
            [products.appendingPathComponent("Modules")]
            + ["CSQLite", "CSwiftRuntime", "CZlib"].map { sources.appendingPathComponent($0) }
        let plugins = ["CoreDataMacros", "SafeCoreDataMacros"].flatMap { name in
            ["-load-plugin-executable", "\(products.appendingPathComponent(name + "-tool").path)#\(name)"]
        }
        return folders.flatMap { ["-I", $0.path] } + plugins
    }

    // MARK: Its output

    /// The errors, each at the line that a person wrote: one in the expansion of a macro belongs to
    /// where the macro stands.
    private static func problems(in output: String) -> [Problem] {
        var problems: [Problem] = []
        var waiting: [String] = []
        for line in output.split(separator: "\n") {
            guard let place = Place(line) else { continue }
            if place.kind == "error" {
                if place.file.hasPrefix("@") { waiting.append(place.message) } else { problems.append(place.problem) }
            } else if place.message.hasPrefix("in expansion of macro"), !place.file.hasPrefix("@") {
                problems += waiting.map { Problem(file: place.file, line: place.line, message: $0) }
                waiting = []
            }
        }
        return problems + waiting.map { Problem(file: "?", line: 0, message: $0) }
    }

    /// `path:line:column: kind: message`
    private struct Place {
        let file: String
        let line: Int
        let kind: String
        let message: String

        init?(_ text: Substring) {
            let parts = text.split(separator: ":", maxSplits: 4, omittingEmptySubsequences: false)
            guard parts.count == 5, let line = Int(parts[1]), Int(parts[2]) != nil else { return nil }
            file = URL(fileURLWithPath: String(parts[0])).deletingPathExtension().lastPathComponent
            self.line = line
            kind = parts[3].trimmingCharacters(in: .whitespaces)
            message = parts[4].trimmingCharacters(in: .whitespaces)
        }

        var problem: Problem { Problem(file: file, line: line, message: message) }
    }
}

extension CompilerRun.Problem {
    /// Whether this is the problem that a text expects: its message contains the expected part.
    fileprivate func satisfies(_ expectation: CompilerRun.Problem) -> Bool {
        file == expectation.file && line == expectation.line && message.contains(expectation.message)
    }
}
