import CoreData

/// A change of a store that a person asks for.
enum EditOperation {
    case insert(entity: String, [Assignment])
    case set(object: String, [Assignment])
    case delete(objects: [String])

    /// The change with its names found in a store. It holds no objects, and can be applied in any
    /// context on the store.
    enum Resolved {
        case insert(entity: String, [ResolvedAssignment])
        case set(URL, [ResolvedAssignment])
        case delete([URL])

        /// Makes the change in a context, without saving.
        ///
        /// - Throws: `ToolError` if an object does not exist.
        func apply(in context: NSManagedObjectContext) throws {
            switch self {
            case .insert(let entity, let assignments):
                let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
                for assignment in assignments { try assignment.apply(to: object, in: context) }
            case .set(let uri, let assignments):
                let object = try EditOperation.existingObject(at: uri, in: context)
                for assignment in assignments { try assignment.apply(to: object, in: context) }
            case .delete(let uris):
                for object in try uris.map({ try EditOperation.existingObject(at: $0, in: context) }) {
                    context.delete(object)
                }
            }
            context.processPendingChanges()
        }
    }

    /// - Throws: `ToolError` for names and values that do not fit the store.
    func resolved(in opened: OpenedStore) throws -> Resolved {
        switch self {
        case .insert(let name, let assignments):
            let entity = try opened.store.entity(named: name)
            if entity.isAbstract {
                let names = entity.subentities.compactMap(\.name).sorted().joined(separator: ", ")
                throw ToolError("'\(entity.name ?? "")' is abstract: objects are of its subentities: \(names).")
            }
            return .insert(entity: entity.name ?? "", try Self.resolve(assignments, entity, opened))
        case .set(let object, let assignments):
            let id = try ObjectIdentities(opened).identity(ofArgument: object)
            return .set(id.uriRepresentation(), try Self.resolve(assignments, id.entity, opened))
        case .delete(let objects):
            let identities = ObjectIdentities(opened)
            return .delete(try objects.map { try identities.identity(ofArgument: $0).uriRepresentation() })
        }
    }

    private static func resolve(
        _ assignments: [Assignment], _ entity: NSEntityDescription, _ opened: OpenedStore
    ) throws -> [ResolvedAssignment] {
        let resolver = AssignmentResolver(entity, opened)
        return try assignments.map { try resolver.resolve($0) }
    }

    /// - Throws: `ToolError` if the object does not exist.
    static func existingObject(at uri: URL, in context: NSManagedObjectContext) throws -> NSManagedObject {
        guard let id = context.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: uri),
            let object = try? context.existingObject(with: id)
        else {
            throw ToolError("There is no object \(uri.pathComponents.suffix(2).joined(separator: "/")).")
        }
        return object
    }
}
