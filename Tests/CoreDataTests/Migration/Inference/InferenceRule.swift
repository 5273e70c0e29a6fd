import CoreData
import TestSupport
import Testing

/// A documented rule of inference: two versions of a model, each with objects, and what a migration
/// from either version to the other makes of them.
struct InferenceRule: Sendable, CustomTestStringConvertible {
    /// A version of a model, and the objects of a store of it.
    struct Version: Sendable {
        /// A line for each object, as `StoreLines` writes them. Objects of one part have names of
        /// their own.
        var parts: [[String]]
        /// The root entities.
        let entities: @Sendable () -> [NSEntityDescription]

        init(_ lines: [String], _ entities: @escaping @Sendable () -> [NSEntityDescription]) {
            self.init(parts: [lines], entities)
        }

        init(parts: [[String]], _ entities: @escaping @Sendable () -> [NSEntityDescription]) {
            self.parts = parts
            self.entities = entities
        }

        var lines: [String] { parts.flatMap { $0 }.sorted() }

        func model() -> NSManagedObjectModel {
            func family(_ entity: NSEntityDescription) -> [NSEntityDescription] {
                [entity] + entity.subentities.flatMap(family)
            }
            return NSManagedObjectModel(entities().flatMap(family))
        }
    }

    enum Outcome: Sendable {
        /// The store holds these objects afterwards.
        case gives([String])
        /// Nothing is inferred: the entities and properties that the error names, all of them.
        case notInferred([String])
        /// A mapping is inferred, and the objects do not fit: the error's code, and what it names,
        /// which is one of these.
        case fails(Int, [String])

        static func lacks(_ names: String...) -> Outcome { .fails(NSMigrationError, names) }
    }

    let name: String
    let former: Version
    let new: Version
    let forward: Outcome
    /// What comes of the way back; nil where no rule says it.
    let backward: Outcome?

    init(_ name: String, _ former: Version, _ new: Version, forward: Outcome, backward: Outcome?) {
        self.name = name
        self.former = former
        self.new = new
        self.forward = forward
        self.backward = backward
    }

    var testDescription: String { name }

    /// Carries out both directions, each in a store of its own.
    func check(_ kind: StoreKind, _ location: SourceLocation = #_sourceLocation) throws {
        try check(kind, from: former, to: new, forward, "\(name)", location)
        if let backward { try check(kind, from: new, to: former, backward, "\(name), backward", location) }
    }

    private func check(
        _ kind: StoreKind, from source: Version, to destination: Version, _ outcome: Outcome, _ what: String,
        _ location: SourceLocation
    ) throws {
        let failure = errorThrown {
            _ = try NSMappingModel.inferredMappingModel(
                forSourceModel: source.model(), destinationModel: destination.model())
        }
        if case .notInferred(let names) = outcome {
            let error = try #require(failure, "\(what): a mapping is inferred", sourceLocation: location)
            expectRefusal(error, names, what, location)
        } else {
            #expect(failure == nil, "\(what)", sourceLocation: location)
        }
        let store = try MigratedStore(kind)
        try store.open(source.model()) { context in for part in source.parts { try StoreLines.insert(part, context) } }
        let before = RawLines(store, source.model()).lines
        #expect(before == source.lines, "\(what), before", sourceLocation: location)
        guard case .gives(let lines) = outcome else {
            return try expectRefusal(store, destination, outcome, what, location)
        }
        do {
            try store.migrate(to: destination.model(), location: location)
        } catch {
            Issue.record("\(what): \(error)", sourceLocation: location)
            return
        }
        try expect(store, destination.model(), lines, what, location)
    }

    /// Expects that a store holds some objects, as programs and as its database sees them.
    private func expect(
        _ store: MigratedStore, _ model: NSManagedObjectModel, _ lines: [String], _ what: String,
        _ location: SourceLocation
    ) throws {
        let raw = RawLines(store, model).lines
        #expect(raw == lines.sorted(), "\(what), in the database", sourceLocation: location)
        let found = try store.open(model) { try StoreLines.read($0) }
        #expect(found == lines.sorted(), "\(what), as objects", sourceLocation: location)
    }

    /// Expects that a store is refused, with the right error, and stays as it is.
    private func expectRefusal(
        _ store: MigratedStore, _ destination: Version, _ outcome: Outcome, _ what: String, _ location: SourceLocation
    ) throws {
        let files = store.files
        let error = try store.refusal(destination.model())
        #expect(store.files == files, "\(what): the files have changed", sourceLocation: location)
        switch outcome {
        case .notInferred(let names): expectRefusal(error, names, what, location)
        case .fails(let code, let names):
            #expect(error.code == code, "\(what): \(error)", sourceLocation: location)
            #expect(error.subject.map(names.contains) == true, "\(what): \(error)", sourceLocation: location)
            let isNamed = names.contains { error.localizedDescription.contains($0) }
            #expect(isNamed, "\(what): \(error.localizedDescription)", sourceLocation: location)
        case .gives: break
        }
    }

    private func expectRefusal(_ error: NSError, _ names: [String], _ what: String, _ location: SourceLocation) {
        #expect(error.domain == NSCocoaErrorDomain, "\(what)", sourceLocation: location)
        #expect(error.code == NSInferredMappingModelError, "\(what): \(error)", sourceLocation: location)
        let found = error.singleErrors.compactMap(\.subject).sorted()
        #expect(found == names.sorted(), "\(what): \(error)", sourceLocation: location)
        for name in names {
            let isNamed = error.localizedDescription.contains(name + ":")
            #expect(isNamed, "\(what): \(error.localizedDescription)", sourceLocation: location)
        }
    }
}

extension NSError {
    /// The entity that an error of a migration is about, and the property, if any.
    fileprivate var subject: String? {
        guard let entity = userInfo["entity"] as? String else { return nil }
        return (userInfo["property"] as? String).map { "\(entity).\($0)" } ?? entity
    }
}

extension MigratedStore {
    /// The bytes of the store's file and of all beside it; none of a server's.
    ///
    /// The log's index is left out, which readers write too, and a log without a byte.
    fileprivate var files: [String: Data] {
        guard kind == .sqlite else { return [:] }
        let folder = url.deletingLastPathComponent()
        var files: [String: Data] = [:]
        for case let path as String in FileManager.default.enumerator(atPath: folder.path) ?? .init() {
            let isIndex = path.hasSuffix("-shm")
            guard !isIndex, let data = try? Data(contentsOf: folder.appendingPathComponent(path)) else { continue }
            if path.hasSuffix("-wal"), data.isEmpty { continue }
            files[path] = data
        }
        return files
    }
}
