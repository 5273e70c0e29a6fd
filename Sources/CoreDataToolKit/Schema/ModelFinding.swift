import CoreData

/// A problem of a model.
struct ModelFinding: Equatable {
    enum Severity: String {
        /// No store can be opened with the model.
        case error
        /// Objects or migrations are likely to go wrong.
        case warning
        /// Nothing goes wrong, but it may not be meant.
        case note
    }

    let severity: Severity
    var entity: String?
    var property: String?
    let problem: String

    var line: String {
        let place = [entity, property].compactMap { $0 }.joined(separator: ".")
        return "\(severity.rawValue): " + (place.isEmpty ? problem : "\(place): \(problem)")
    }

    var json: JSONValue {
        .object([
            .init("severity", .string(severity.rawValue)), .init("entity", .optional(entity)),
            .init("property", .optional(property)), .init("problem", .string(problem)),
        ])
    }
}

/// The problems of a model: what the engine refuses, what Xcode warns about, and rules that
/// contradict each other.
struct ModelValidation {
    private(set) var findings: [ModelFinding] = []

    /// - Throws: `ToolError` if there is no such model or it cannot be read at all.
    init(path: String, modelPath: String?, version: String?) throws {
        do {
            self.init(try NamedModel(describedBy: path, modelPath: modelPath, version: version).model)
        } catch let error as ToolError {
            // The source of a model with contradictions is refused when it is read.
            guard let problem = Self.problemInSource(path, version) else { throw error }
            self.init(findings: [ModelFinding(severity: .error, problem: problem)])
        }
    }

    private static func problemInSource(_ path: String, _ version: String?) -> String? {
        let url = URL(fileURLWithPath: path)
        guard ["xcdatamodeld", "xcdatamodel"].contains(url.pathExtension) else { return nil }
        do {
            _ = try NSManagedObjectModel(reading: url, version: version)
            return nil
        } catch let error as ModelReadingError where error.kind != .missing {
            return ErrorText.line(error)
        } catch {
            return nil
        }
    }

    private init(findings: [ModelFinding]) { self.findings = findings }

    init(_ model: NSManagedObjectModel) {
        findings = model.consistencyProblems().map { ModelFinding(severity: .error, problem: $0) }
        let entities = model.entities.sorted { ($0.name ?? "") < ($1.name ?? "") }
        for entity in entities {
            check(entity)
            for property in entity.ownProperties.sorted(by: { $0.name < $1.name }) {
                checkName(of: property, in: entity)
                switch property {
                case let attribute as NSAttributeDescription: check(attribute, in: entity)
                case let relationship as NSRelationshipDescription: check(relationship, in: entity, model)
                default: break
                }
            }
        }
        checkSharedNames(entities)
    }

    /// Whether there is more than notes.
    var hasProblems: Bool { findings.contains { $0.severity != .note } }

    mutating func add(
        _ severity: ModelFinding.Severity, _ entity: NSEntityDescription, _ property: NSPropertyDescription?,
        _ problem: String
    ) {
        findings.append(
            ModelFinding(severity: severity, entity: entity.name ?? "", property: property?.name, problem: problem))
    }

    // MARK: Entities

    private mutating func check(_ entity: NSEntityDescription) {
        let name = entity.name ?? ""
        if !name.isEmpty, !Self.isName(name) { add(.warning, entity, nil, Self.notAName) }
        if entity.managedObjectClassName == "NSManagedObject" {
            add(.note, entity, nil, "has no class of its own.")
        }
        if entity.isAbstract, entity.subentities.isEmpty {
            add(.warning, entity, nil, "is abstract and has no subentities: there can be no objects of it.")
        }
        let transient = Set(entity.properties.filter(\.isTransient).map(\.name))
        for index in entity.indexes {
            for element in index.elements where transient.contains(element.propertyName ?? "") {
                let problem = "has the index '\(index.name)' of the transient property '\(element.propertyName ?? "")'."
                add(.warning, entity, nil, problem)
            }
        }
        for constraint in entity.uniquenessConstraintNames {
            for part in constraint where transient.contains(part) {
                add(.warning, entity, nil, "has a uniqueness constraint of the transient property '\(part)'.")
            }
        }
    }

    /// A part that is new may have the old name of a renamed one: only two renamed ones contradict
    /// each other.
    private mutating func checkSharedNames(_ entities: [NSEntityDescription]) {
        for (entity, others) in Self.sharing(
            entities.filter { $0.renamingIdentifier != $0.name }, by: \.renamingIdentifier)
        {
            add(.warning, entity, nil, "has the renaming identifier of \(others): a migration cannot tell them apart.")
        }
        let classes = entities.filter { $0.managedObjectClassName != "NSManagedObject" }
        for (entity, others) in Self.sharing(classes, by: \.managedObjectClassName) {
            add(.note, entity, nil, "has the class of \(others): the class does not tell the entity.")
        }
        for entity in entities {
            let renamed = entity.ownProperties.filter { $0.renamingIdentifier != $0.name }
            for (property, others) in Self.sharing(renamed, by: \.renamingIdentifier) {
                let problem = "has the renaming identifier of \(others): a migration cannot tell them apart."
                add(.warning, entity, property, problem)
            }
        }
    }

    /// Returns the later ones of items with the same key, with the name of the first.
    private static func sharing<Item: NSObject>(
        _ items: [Item], by key: (Item) -> String?
    ) -> [(item: Item, other: String)] {
        var first: [String: Item] = [:]
        return items.compactMap { item in
            guard let key = key(item) else { return nil }
            guard let other = first[key] else {
                first[key] = item
                return nil
            }
            let name = (other as? NSEntityDescription)?.name ?? (other as? NSPropertyDescription)?.name ?? ""
            return (item, "'\(name)'")
        }
    }

    // MARK: Names

    private static let notAName = "is no name that Xcode takes: a letter, and then letters, digits and underscores."

    private static func isName(_ name: String) -> Bool {
        name.unicodeScalars.first.map { $0.properties.isAlphabetic } == true && SwiftNames.isIdentifier(name)
    }

    private mutating func checkName(of property: NSPropertyDescription, in entity: NSEntityDescription) {
        if !property.name.isEmpty, !Self.isName(property.name) { add(.warning, entity, property, Self.notAName) }
        if SwiftNames.isTaken(property.name) {
            add(.warning, entity, property, "is a name that every managed object has already.")
        }
    }
}
