import CoreData

extension EntitySources {
    /// Creates the classes that Xcode generates from a model: class and properties of entities with
    /// "Class Definition", only the properties of those with "Category/Extension". If the model
    /// does not state this, as in compiled models, all entities have both. Entities that are named
    /// explicitly always have both.
    ///
    /// - Parameter code: the code generation settings in the model's file; nil if it has none.
    /// - Throws: `ToolError` for an entity that the model does not have.
    init(
        managed model: NSManagedObjectModel, _ code: CodeGeneration?, from source: String, entities chosen: [String]?,
        isPublic: Bool
    ) throws {
        let entities = try Self.entities(of: model, from: source, chosen)
        func kind(_ entity: NSEntityDescription) -> CodeGeneration.Kind {
            guard let code else { return .class }
            let kind = code.entities[entity.name ?? ""]?.kind ?? .manual
            return kind == .manual && chosen != nil ? .class : kind
        }
        var warnings: [String] = []
        var files: [File] = []
        let first = Self.firstLine(source)
        let generated = entities.filter { kind($0) == .class && ManagedClassSource.className(of: $0) != nil }
        for entity in entities where kind(entity) != .manual {
            guard let className = ManagedClassSource.className(of: entity) else {
                warnings.append("\(entity.name ?? ""): the model names no class for it.")
                continue
            }
            guard SwiftNames.isIdentifier(className) else {
                warnings.append("\(entity.name ?? ""): the name of its class, \(className), is no Swift name.")
                continue
            }
            let superentity = entity.superentity
            var managed = ManagedClassSource(
                entity, code: code?.entities[entity.name ?? ""], isPublic: isPublic,
                hasGeneratedSuperclass: generated.contains { $0 === superentity })
            let head = first + "\nimport CoreData\n\n"
            if kind(entity) == .class {
                files.append(File(name: "\(className)+CoreDataClass.swift", text: head + managed.declaration))
            }
            files.append(File(name: "\(className)+CoreDataProperties.swift", text: head + managed.properties()))
            warnings += managed.warnings
        }
        if files.isEmpty, warnings.isEmpty {
            warnings.append(
                "The model leaves the classes of all entities to a person. Name those to be written: --entity NAME,…")
        }
        self.init(files: files, warnings: warnings, imports: "import CoreData\n", firstLine: first)
    }
}
