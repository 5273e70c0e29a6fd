import Foundation

/// A program made of sources that use SafeCoreData, compiled and run beside the tests.
public struct CompiledProgram {
    /// The output of the program; empty when it was not built.
    public let output: String
    /// The output of the compiler; empty when it accepted everything without a word.
    public let complaints: String

    /// - Parameters:
    ///   - files: the Swift files of the program besides its main file.
    ///   - main: the text of the main file.
    public init(_ files: [URL], main: String) throws {
        let folder = try TemporaryFolder()
        let mainFile = folder.file("main.swift")
        try Data(main.utf8).write(to: mainFile)
        let program = folder.file("program")
        let arguments =
            ["-wmo", "-swift-version", "6", "-module-name", "Program", "-o", program.path] + CompilerRun.moduleArguments
            + (files + [mainFile]).map(\.path) + (try Self.objects()) + ["-lsqlite3", "-lz"]
        complaints = try ProgramRun.swiftc(arguments).output
        output = FileManager.default.isExecutableFile(atPath: program.path) ? try ProgramRun(program, []).output : ""
    }

    /// The object files of the modules that the tests were built with.
    private static func objects() throws -> [String] {
        try ["CSwiftRuntime", "Predicates", "OpenCoreDataModel", "CoreData", "SafeCoreData"].flatMap {
            module -> [String] in
            for suffix in [".build", "-tool.build"] {
                let folder = CompilerRun.productsFolder.appendingPathComponent(module + suffix)
                let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
                // A build folder keeps the objects of files that are gone.
                let sources = sourceNames(of: module)
                let objects = files.filter { $0.hasSuffix(".o") && sources.contains(String($0.dropLast(2))) }.sorted()
                if !objects.isEmpty { return objects.map { folder.appendingPathComponent($0).path } }
            }
            throw CocoaError(.fileNoSuchFile)
        }
    }

    /// The names of a module's source files.
    private static func sourceNames(of module: String) -> Set<String> {
        let folder = CompilerRun.testsFolder.deletingLastPathComponent().appendingPathComponent("Sources/\(module)")
        let files = FileManager.default.enumerator(atPath: folder.path)
        return Set((files?.compactMap { $0 as? String } ?? []).map { URL(fileURLWithPath: $0).lastPathComponent })
    }
}
