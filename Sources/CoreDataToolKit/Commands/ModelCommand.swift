import CoreData

/// `coredata model export`: a model as Xcode keeps it.
struct ModelCommand {
    static let syntax = CommandSyntax(
        name: "model", summary: "Writes the model of a store or a file as a .xcdatamodel.",
        operands: [
            .init(name: "export", help: "What to do with the model."),
            .init(name: "STORE|MODEL", help: "A store that carries its model, or a model (.momd, .mom, .xcdatamodeld, .xcdatamodel)."),
        ],
        options: [
            .init(name: "output", value: "X.xcdatamodel", help: "The model to write; without it its XML goes to the output."),
            .init(name: "version", value: "NAME", help: "The version of a model with several; the current one by default."),
        ],
        notes: """
            The same model always gives the same text: everything is in order of name. What a .xcdatamodel has no place for is
            named on the standard error.
            """)

    private let path: String
    private let output: String?
    private let version: String?

    /// - Throws: `UsageError` for values that make no sense whatever the model.
    init(_ arguments: CommandSyntax.Arguments) throws(UsageError) {
        guard arguments.operands[0] == "export" else {
            throw UsageError(message: "There is no '\(arguments.operands[0])' for models. There is export.")
        }
        path = arguments.operands[1]
        version = arguments.values["version"]
        output = arguments.values["output"]
        if let output, URL(fileURLWithPath: output).pathExtension != "xcdatamodel" {
            throw UsageError(message: "'\(output)' does not end in .xcdatamodel.")
        }
    }

    func run(_ writer: OutputWriter, errors: OutputWriter) throws {
        let contents: XcdatamodelContents
        do {
            contents = try NamedModel(path: path, version: version).model.xcdatamodelContents()
        } catch let error as ModelReadingError {
            throw ToolError("The model '\(path)' cannot be written: \(ErrorText.line(error))")
        }
        for omission in contents.omissions { try errors.write(line: "warning: \(omission)") }
        guard let output else {
            try writer.write(contents.text + "\n")
            return
        }
        let url = URL(fileURLWithPath: output)
        do {
            let isWritten = try contents.write(to: url)
            try writer.write(line: "\(isWritten ? "written" : "unchanged") \(url.lastPathComponent)")
        } catch {
            throw ToolError("'\(output)' cannot be written: \(ErrorText.line(error)) Choose another --output.")
        }
    }
}
