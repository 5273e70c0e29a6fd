import Foundation

/// A fetch request whose names have been looked up in the model.
struct ResolvedRequest {
    var layout: EntityLayout
    var stores: [NSPersistentStore]
    var fetch: StoreFetch
}

extension NSManagedObjectContext {
    func resolve<Result>(_ request: NSFetchRequest<Result>) throws -> ResolvedRequest {
        let coordinator = try requireCoordinator("fetch")
        guard let modelLayout else {
            throw CoreDataErrors.noModel(nameInMessages)
        }
        guard let name = request.entityName else {
            throw CoreDataErrors.noEntity(of: "The fetch request")
        }
        guard let layout = modelLayout.layoutByName[name] else {
            throw CoreDataErrors.unknownEntity(name, among: modelLayout.layouts.map(\.name))
        }
        request.noteEntity(layout.entity)
        var fetch = StoreFetch(entity: layout)
        fetch.includesSubentities = request.includesSubentities
        fetch.predicate = request.predicate
        fetch.sortDescriptors = request.sortDescriptors ?? []
        fetch.limit = request.fetchLimit
        fetch.offset = request.fetchOffset
        if request.resultType == .dictionaryResultType {
            fetch.shape = .dictionaries
            var columns = StoreFetch.DictionaryColumns(
                properties: (request.propertiesToFetch ?? []).map { Self.named($0, layout) })
            if columns.properties.isEmpty {
                columns.properties = layout.propertySlots.filter(\.isFetched).map(\.property)
            }
            columns.groupBy = request.propertiesToGroupBy ?? []
            columns.having = request.havingPredicate
            columns.isDistinct = request.returnsDistinctResults
            if columns.having != nil, columns.groupBy.isEmpty {
                throw CoreDataErrors.havingWithoutGroups(name)
            }
            try DictionaryResults.checkGrouping(columns, of: layout)
            fetch.columns = columns
        } else if !(request.propertiesToGroupBy ?? []).isEmpty {
            throw CoreDataErrors.groupsWithoutDictionaries(name)
        }
        if layout.model.hasComposites { try CompositeOrder.check(fetch) }
        let stores = coordinator.snapshotStores(holding: layout, affected: request.affectedStores)
        if needsObjects(stores) { fetch.origin = FetchOrigin(request: request, context: self) }
        return ResolvedRequest(layout: layout, stores: stores, fetch: fetch)
    }

    /// Returns the property in place of a description that has only the name of a property.
    private static func named(_ column: Any, _ layout: EntityLayout) -> Any {
        guard let description = column as? NSExpressionDescription, description.expression == nil,
            let slot = layout.slotByName[description.name]
        else { return column }
        return layout.slots[slot].property
    }

    /// Whether an object is of an entity that a fetch asks for.
    func belongs(_ object: NSManagedObject, _ request: ResolvedRequest) -> Bool {
        request.fetch.includesSubentities ? object.layout.isKind(of: request.layout) : object.layout === request.layout
    }

    /// Whether an object is, or will be, in one of some stores.
    func isIn(_ stores: [NSPersistentStore], _ object: NSManagedObject) -> Bool {
        if let assigned = newObjects.store(of: object) { return stores.contains { $0 === assigned } }
        if object.storeNumber >= 0 { return stores.contains { $0.number == Int(object.storeNumber) } }
        guard let coordinator = persistentStoreCoordinator,
            let store = try? coordinator.store(for: object.layout, assigned: nil)
        else { return true }
        return stores.contains { $0 === store }
    }

    func sorted(_ objects: [NSManagedObject], _ descriptors: [NSSortDescriptor]) -> [NSManagedObject] {
        // Stable, so that equal objects keep the store's order.
        descriptors.order(of: objects).map { objects[$0] }
    }
}
