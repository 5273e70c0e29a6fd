import CoreData
import Foundation

/// All objects of a context's stores as plain values: by the URI of the ID, with attributes and
/// what they lead to.
public struct ObjectGraph: Equatable {
    struct Object: Equatable {
        var entity: String
        var attributes: [String: String] = [:]
        var toOne: [String: String] = [:]
        var toMany: [String: Set<String>] = [:]
        var ordered: [String: [String]] = [:]
    }

    private(set) var all: [String: Object] = [:]

    /// The URIs of all objects.
    public var objects: Set<String> { Set(all.keys) }

    public init(_ context: NSManagedObjectContext, _ model: NSManagedObjectModel) throws {
        for entity in model.entities where entity.superentity == nil {
            for object in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")) {
                var values = Object(entity: object.entity.name ?? "")
                for (name, attribute) in object.entity.attributesByName where !attribute.isTransient {
                    values.attributes[name] = Self.text(object.value(forKey: name))
                }
                for (name, relationship) in object.entity.relationshipsByName where !relationship.isTransient {
                    switch object.value(forKey: name) {
                    case let other as NSManagedObject: values.toOne[name] = Self.name(other)
                    case let set as NSOrderedSet:
                        values.ordered[name] = set.compactMap { ($0 as? NSManagedObject).map(Self.name) }
                    case let set as Set<NSManagedObject>: values.toMany[name] = Set(set.map(Self.name))
                    default: break
                    }
                }
                all[Self.name(object)] = values
            }
        }
    }

    private static func name(_ object: NSManagedObject) -> String { object.objectID.uriRepresentation().absoluteString }

    /// A value as a text that tells it from all others.
    private static func text(_ value: Any?) -> String? {
        switch value {
        case nil: nil
        case let data as Data: data.base64EncodedString()
        // PostgreSQL keeps microseconds.
        case let date as Date: "\((date.timeIntervalSinceReferenceDate * 1_000_000).rounded())"
        case let composite as [String: Any]:
            composite.sorted { $0.key < $1.key }.map { "\($0.key) \(text($0.value) ?? "nil")" }.joined(separator: ", ")
        case let value?: "\(value)"
        }
    }

    /// The same graph under other IDs.
    public func renamed(_ names: [String: String]) -> ObjectGraph {
        func new(_ name: String) -> String { names[name] ?? "unknown \(name)" }
        var graph = self
        graph.all = [:]
        for (name, object) in all {
            var object = object
            object.toOne = object.toOne.mapValues(new)
            object.toMany = object.toMany.mapValues { Set($0.map(new)) }
            object.ordered = object.ordered.mapValues { $0.map(new) }
            graph.all[new(name)] = object
        }
        return graph
    }

    /// Moves a store.
    ///
    /// - Returns: the new store, and the new URI of each object by the former one, as the
    ///   coordinator tells them.
    public static func move(
        _ store: NSPersistentStore, of coordinator: NSPersistentStoreCoordinator, to url: URL, type: String
    ) throws -> (store: NSPersistentStore, names: [String: String]) {
        let log = NotificationLog(.NSPersistentStoreCoordinatorStoresDidChange, from: coordinator)
        let moved = try coordinator.migratePersistentStore(store, to: url, options: nil, withType: type)
        let change = log.all.compactMap { $0.userInfo?[NSUUIDChangedPersistentStoresKey] as? [Any] }.first
        let ids = (change?.last as? [NSManagedObjectID] ?? []).map { $0.uriRepresentation().absoluteString }
        var names: [String: String] = [:]
        for place in stride(from: 0, to: ids.count - 1, by: 2) { names[ids[place]] = ids[place + 1] }
        return (moved, names)
    }
}
