import CoreData

// Short forms for building models in tests.

extension NSAttributeDescription {
    /// An attribute, optional unless said otherwise.
    public convenience init(
        _ name: String, _ type: NSAttributeType, optional: Bool = true, default defaultValue: Any? = nil
    ) {
        self.init()
        self.name = name
        attributeType = type
        isOptional = optional
        self.defaultValue = defaultValue
    }
}

extension NSEntityDescription {
    /// An entity of attributes alone.
    public convenience init(_ name: String, class className: String? = nil, _ attributes: [NSAttributeDescription]) {
        self.init(name, class: className, attributes as [NSPropertyDescription])
    }

    /// An entity of a class, by default of a class with the entity's name in no particular module.
    public convenience init(_ name: String, class className: String? = nil, _ properties: [NSPropertyDescription]) {
        self.init()
        self.name = name
        managedObjectClassName = className ?? name
        self.properties = properties
    }
}

extension NSDerivedAttributeDescription {
    /// An optional attribute whose values a store derives from others.
    public convenience init(_ name: String, _ type: NSAttributeType, from expression: String) {
        self.init()
        self.name = name
        attributeType = type
        isOptional = true
        derivationExpression = NSExpression(format: expression)
    }
}

extension NSExpressionDescription {
    /// A column of a dictionary result.
    public convenience init(
        _ name: String, _ expression: NSExpression, _ type: NSAttributeType = .undefinedAttributeType
    ) {
        self.init()
        self.name = name
        self.expression = expression
        expressionResultType = type
    }
}

/// Adds a relationship and its inverse to two entities.
public func relate(
    _ source: NSEntityDescription, _ name: String, toMany: Bool = false, ordered: Bool = false, optional: Bool = true,
    deleteRule: NSDeleteRule = .nullifyDeleteRule,
    _ destination: NSEntityDescription, inverse inverseName: String, inverseToMany: Bool = false,
    inverseOrdered: Bool = false,
    inverseDeleteRule: NSDeleteRule = .nullifyDeleteRule
) {
    let relationship = NSRelationshipDescription()
    relationship.name = name
    relationship.destinationEntity = destination
    relationship.maxCount = toMany ? 0 : 1
    relationship.isOptional = optional
    relationship.isOrdered = ordered
    relationship.deleteRule = deleteRule
    let inverse = NSRelationshipDescription()
    inverse.name = inverseName
    inverse.destinationEntity = source
    inverse.maxCount = inverseToMany ? 0 : 1
    inverse.isOptional = true
    inverse.isOrdered = inverseOrdered
    inverse.deleteRule = inverseDeleteRule
    relationship.inverseRelationship = inverse
    inverse.inverseRelationship = relationship
    source.properties += [relationship]
    destination.properties += [inverse]
}

extension NSRelationshipDescription {
    /// A relationship without an inverse; to one object unless `toMany` is true.
    public convenience init(
        _ name: String, to destination: NSEntityDescription, toMany: Bool = false,
        deleteRule: NSDeleteRule = .nullifyDeleteRule
    ) {
        self.init()
        self.name = name
        destinationEntity = destination
        maxCount = toMany ? 0 : 1
        isOptional = true
        self.deleteRule = deleteRule
    }
}

extension NSManagedObjectModel {
    /// A model of some entities.
    public convenience init(_ entities: [NSEntityDescription]) {
        self.init()
        self.entities = entities
    }
}

extension NSPersistentStoreCoordinator {
    /// Adds a store of each kind; those of SQLite are files of a folder.
    @discardableResult
    public func addStores(_ kinds: [StoreKind], in folder: TemporaryFolder) throws -> [NSPersistentStore] {
        try kinds.enumerated().map { number, kind in
            try addPersistentStore(
                ofType: kind.type, configurationName: nil, at: kind.url(folder.file("store\(number).sqlite")))
        }
    }
}

/// A coordinator with one store, and contexts on it.
public final class TestStack {
    public let coordinator: NSPersistentStoreCoordinator
    public let context: NSManagedObjectContext
    public let kind: StoreKind
    /// The place of the store.
    public let url: URL
    /// Where it would be if it were one of SQLite.
    private let place: URL
    private var folder: TemporaryFolder?
    private var contexts: [NSManagedObjectContext] = []

    /// A stack on a new store, whose file goes when the stack goes.
    public convenience init(_ entities: [NSEntityDescription], kind: StoreKind = .current) throws {
        let folder = try TemporaryFolder()
        try self.init(NSManagedObjectModel(entities), url: folder.file("store.sqlite"), kind: kind)
        self.folder = folder
    }

    /// - Parameter url: where the store is if it is one of SQLite.
    public init(_ model: NSManagedObjectModel, url place: URL, kind: StoreKind = .sqlite) throws {
        self.kind = kind
        self.place = place
        let location = kind.url(place)
        url = location ?? place
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        _ = try coordinator.addPersistentStore(ofType: kind.type, configurationName: nil, at: location)
        context = coordinator.newContext()
    }

    /// The store as its database sees it; nil for other stores, which no second path leads to.
    public var tables: StoreTables? { kind.isDatabase ? StoreTables(kind, place) : nil }

    /// The entity of a name.
    public func entity(_ name: String) -> NSEntityDescription { coordinator.managedObjectModel.entitiesByName[name]! }

    /// Another context on the same coordinator, which lives as long as the stack.
    public func newContext() -> NSManagedObjectContext {
        let context = coordinator.newContext()
        contexts.append(context)
        return context
    }
}
