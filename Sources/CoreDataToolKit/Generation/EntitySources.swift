import CoreData

/// The Swift sources of a model's entities.
struct EntitySources {
    struct File {
        let name: String
        let text: String
    }

    /// The beginning of the first line of generated files: only files with it are ever overwritten.
    static let mark = "// Made by 'coredata generate'"

    /// One file for each entity, sorted by the entities' names.
    let files: [File]
    /// Parts of the model that the classes cannot express, in sentences.
    let warnings: [String]
    /// Entities without a class, because it would have another version hash, with the reasons.
    let refusals: [String]
    /// The names of the files that refused entities would have.
    let refusedFiles: [String]
    let firstLine: String
    private let imports: String

    init(files: [File], warnings: [String], imports: String, firstLine: String) {
        (self.files, self.warnings, self.imports, self.firstLine) = (files, warnings, imports, firstLine)
        (refusals, refusedFiles) = ([], [])
    }

    /// - Parameters:
    ///   - source: the model's name for display.
    ///   - chosen: the names of the requested entities; nil for all.
    /// - Throws: `ToolError` for an entity that the model does not have.
    init(_ model: NSManagedObjectModel, from source: String, entities chosen: [String]?, isPublic: Bool) throws {
        let wanted = try Self.entities(of: model, from: source, chosen)
        let names = ClassNames(model.entities.sorted { ($0.name ?? "") < ($1.name ?? "") })
        var warnings = names.warnings
        var files: [File] = []
        var refused: [(entity: NSEntityDescription, reasons: [String])] = []
        let first = Self.firstLine(source)
        for entity in wanted {
            var entitySource = EntitySource(entity, names: names, isPublic: isPublic)
            let text = entitySource.text()
            if !entitySource.refusals.isEmpty { refused.append((entity, entitySource.refusals)) }
            warnings += entitySource.warnings
            files.append(
                File(
                    name: Self.fileName(ofClass: names.name(of: entity)),
                    text: first + "\n" + Self.imports + "\n" + text))
        }
        if chosen == nil { warnings += Self.modelWarnings(model) }
        // A subentity's hash contains that of its superentity.
        for entity in wanted {
            let above = refused.first { $0.entity !== entity && entity.isKindOf(entity: $0.entity) }
            if let above, !refused.contains(where: { $0.entity === entity }) {
                refused.append((entity, ["its superentity '\(above.entity.name ?? "")' has no class"]))
            }
        }
        let refusedFiles = refused.map { Self.fileName(ofClass: names.name(of: $0.entity)) }
        self.refusedFiles = refusedFiles
        refusals = refused.map { "\($0.entity.name ?? ""): \($0.reasons.joined(separator: "; "))" }.sorted()
        files.removeAll { refusedFiles.contains($0.name) }
        self.files = files
        self.warnings = warnings
        firstLine = first
        imports = Self.imports
    }

    /// Returns the requested entities, sorted by name.
    ///
    /// - Throws: `ToolError` for an entity that the model does not have.
    static func entities(of model: NSManagedObjectModel, from source: String, _ chosen: [String]?) throws
        -> [NSEntityDescription]
    {
        let entities = model.entities.sorted { ($0.name ?? "") < ($1.name ?? "") }
        let known = entities.compactMap(\.name)
        for name in chosen ?? [] where !known.contains(name) {
            throw ToolError(
                "The model '\(source)' has no entity '\(name)'. "
                    + "\(NearNames.advice(for: name, among: known, kind: "entity"))"
            )
        }
        return entities.filter { chosen?.contains($0.name ?? "") ?? true }
    }

    static func firstLine(_ source: String) -> String {
        DisplayWidth.printable("\(Self.mark) from \(source). What is changed here is lost: change the model.") + "\n"
    }

    private static let imports = "import SafeCoreData\n"

    /// Returns the name of a class's file. A file with the name `main` would turn its module into a
    /// program.
    private static func fileName(ofClass name: String) -> String {
        name.lowercased() == "main" ? "\(name)Class.swift" : "\(name).swift"
    }

    func joined(named name: String) -> File {
        let head = firstLine + "\n" + imports
        return File(name: name, text: head + files.map { "\n" + $0.text.dropFirst(head.count + 1) }.joined())
    }

    private static func modelWarnings(_ model: NSManagedObjectModel) -> [String] {
        var warnings: [String] = []
        if !model.configurations.isEmpty {
            warnings.append("The classes know no configurations: \(model.configurations.joined(separator: ", ")).")
        }
        let templates = model.fetchRequestTemplatesByName.keys.sorted()
        if !templates.isEmpty {
            warnings.append("The classes know no fetch request templates: \(templates.joined(separator: ", ")).")
        }
        return warnings
    }
}
