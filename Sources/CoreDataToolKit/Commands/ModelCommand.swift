import CoreData

/// `coredata model export` and `coredata model compile`: write a model as an Xcode source, or as
/// Xcode's compiler makes it.
struct ModelCommand {
    static let syntax = CommandSyntax(
        name: "model",
        summary: "Writes the model of a store or a file as a .xcdatamodel, or a source compiled as a .momd.",
        operands: [
            .init(name: "export|compile", help: "What to do with the model."),
            .init(
                name: "STORE|MODEL",
                help: "A store that carries its model, or a model (.momd, .mom, .xcdatamodeld, .xcdatamodel)."),
        ],
        options: [
            .init(
                name: "output", value: "FOLDER",
                help: "The .xcdatamodel, or .momd, to write; without it an export's XML goes to the output."),
            .init(
                name: "version", value: "NAME",
                help: "The version to export of a model with several; the current one by default."),
            .init(
                name: "module", value: "NAME",
                help: "The module of the classes whose module in the source is the current one."),
        ],
        notes: """
            The same model always gives the same text: everything is in order of name. What a .xcdatamodel has no \
            place for is
            named on the standard error.

            A compiled model has all versions of a source (.xcdatamodeld, .xcdatamodel) and a VersionInfo.plist.

              coredata model export default.store --output Shop.xcdatamodel
              coredata model compile Shop.xcdatamodeld --output Shop.momd --module Shop
            """)

    private enum Action: String {
        case export, compile
    }

    private let action: Action
    private let path: String
    private let output: String?
    private let version: String?
    private let module: String?

    /// - Throws: `UsageError` for values that are invalid for any model.
    init(_ arguments: CommandSyntax.Arguments) throws(UsageError) {
        guard let action = Action(rawValue: arguments.operands[0]) else {
            throw UsageError(
                message: "There is no '\(arguments.operands[0])' for models. There are export and compile.")
        }
        self.action = action
        path = arguments.operands[1]
        version = arguments.values["version"]
        module = arguments.values["module"]
        output = arguments.values["output"]
        let (ending, foreign) = action == .export ? ("xcdatamodel", "module") : ("momd", "version")
        if let output, URL(fileURLWithPath: output).pathExtension != ending {
            throw UsageError(message: "'\(output)' does not end in .\(ending).")
        }
        if action == .compile, output == nil { throw UsageError(message: "compile needs --output X.momd.") }
        if arguments.values[foreign] != nil {
            throw UsageError(message: "--\(foreign) has no meaning for \(action.rawValue).")
        }
    }

    func run(_ writer: OutputWriter, errors: OutputWriter) throws {
        switch action {
        case .export: try export(writer, errors)
        case .compile: try compile(writer)
        }
    }

    private func export(_ writer: OutputWriter, _ errors: OutputWriter) throws {
        let contents: XcdatamodelContents
        do {
            contents = try NamedModel(path: path, version: version).model.xcdatamodelContents()
        } catch let error as ModelReadingError {
            throw ToolError("The model '\(path)' cannot be written: \(ErrorText.line(error))")
        }
        for omission in contents.omissions { try errors.write(line: "warning: \(omission)") }
        guard let output else { return try writer.write(contents.text + "\n") }
        try write(to: output, writer) { try contents.write(to: $0) }
    }

    private func compile(_ writer: OutputWriter) throws {
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
        try write(to: output ?? "", writer) { try compiled.write(to: $0) }
    }

    /// - Parameter body: writes to a URL, and returns whether anything was written.
    private func write(to output: String, _ writer: OutputWriter, _ body: (URL) throws -> Bool) throws {
        let url = URL(fileURLWithPath: output)
        do {
            let isWritten = try body(url)
            try writer.write(line: "\(isWritten ? "written" : "unchanged") \(url.lastPathComponent)")
        } catch {
            throw ToolError("'\(output)' cannot be written: \(ErrorText.line(error)) Choose another --output.")
        }
    }
}
