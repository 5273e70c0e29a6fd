import CoreData

/// `coredata model export`: writes a model as a source for Xcode.
struct ModelExportCommand: Command {
    static let syntax = CommandSyntax(
        name: "model export", summary: "Writes the model of a store or a file as a .xcdatamodel.",
        operands: [.model],
        options: [
            .init(
                name: "output", value: "FOLDER",
                help: "The .xcdatamodel to write; without it the XML goes to the output."
            ),
            .version,
        ],
        notes: """
            The same model always gives the same text: everything is in order of name. What a .xcdatamodel
            has no place for is named on the standard error.

              coredata model export default.store --output Shop.xcdatamodel
            """)

    private let path: String
    private let output: String?
    private let version: String?

    init(_ arguments: CommandSyntax.Arguments) throws(UsageError) {
        path = arguments.operands[0]
        version = arguments.values["version"]
        output = arguments.values["output"]
        if let output { try ModelOutput.check(output, ending: "xcdatamodel") }
    }

    func run(_ console: Console) throws -> ExitStatus {
        let contents: XcdatamodelContents
        do {
            contents = try NamedModel(path: path, version: version).model.xcdatamodelContents()
        } catch let error as ModelReadingError {
            throw ToolError("The model '\(path)' cannot be written: \(ErrorText.line(error))")
        }
        for omission in contents.omissions { try console.errors.write(line: "warning: \(omission)") }
        if let output {
            try ModelOutput.write(to: output, console) { try contents.write(to: $0) }
        } else {
            try console.output.write(contents.text + "\n")
        }
        return .success
    }
}

/// `coredata model compile`: compiles a model's source as Xcode's compiler does.
struct ModelCompileCommand: Command {
    static let syntax = CommandSyntax(
        name: "model compile", summary: "Compiles the source of a model to a .momd.",
        operands: [.init(name: "SOURCE", help: "A .xcdatamodeld or .xcdatamodel.")],
        options: [
            .init(name: "output", value: "FOLDER", help: "The .momd to write."),
            .init(
                name: "module", value: "NAME",
                help: "The module of the classes whose module in the source is the current one."),
        ],
        notes: """
            A compiled model has all versions of a source and a VersionInfo.plist.

              coredata model compile Shop.xcdatamodeld --output Shop.momd --module Shop
            """)

    private let path: String
    private let output: String
    private let module: String?

    init(_ arguments: CommandSyntax.Arguments) throws(UsageError) {
        path = arguments.operands[0]
        module = arguments.values["module"]
        guard let output = arguments.values["output"] else {
            throw UsageError(message: "compile needs --output X.momd.")
        }
        try ModelOutput.check(output, ending: "momd")
        self.output = output
    }

    func run(_ console: Console) throws -> ExitStatus {
        let url = URL(fileURLWithPath: path)
        guard ["xcdatamodeld", "xcdatamodel"].contains(url.pathExtension) else {
            throw ToolError("'\(path)' is no source of a model. Name a .xcdatamodeld or .xcdatamodel.")
        }
        let compiled: CompiledModelFolder
        do {
            compiled = try CompiledModelFolder(compiling: url, module: module)
        } catch {
            throw ToolError("The model '\(path)' cannot be compiled: \(ErrorText.line(error))")
        }
        try ModelOutput.write(to: output, console) { try compiled.write(to: $0) }
        return .success
    }
}

/// The folder that a command writes a model to.
enum ModelOutput {
    static func check(_ output: String, ending: String) throws(UsageError) {
        if URL(fileURLWithPath: output).pathExtension != ending {
            throw UsageError(message: "'\(output)' does not end in .\(ending).")
        }
    }

    /// Writes a file if it differs, and returns whether it did.
    static func write(_ data: Data, to url: URL) throws -> Bool {
        if (try? Data(contentsOf: url)) == data { return false }
        try data.write(to: url, options: .atomic)
        return true
    }

    /// - Parameter body: writes to a URL, and returns whether anything was written.
    static func write(to output: String, _ console: Console, _ body: (URL) throws -> Bool) throws {
        let url = URL(fileURLWithPath: output)
        do {
            let isWritten = try body(url)
            try console.output.write(line: "\(isWritten ? "written" : "unchanged") \(url.lastPathComponent)")
        } catch {
            throw ToolError("'\(output)' cannot be written: \(ErrorText.line(error)) Choose another --output.")
        }
    }
}
