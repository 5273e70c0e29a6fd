import Foundation
import Predicates

extension NSManagedObjectModel {
    /// The fetch requests the model stores, by name. Each is a new object.
    public var fetchRequestTemplatesByName: [String: NSFetchRequest<any NSFetchRequestResult>] {
        fetchRequestTemplates.mapValues { $0.makeFetchRequest() }
    }

    /// A stored fetch request, nil when there is none of that name. Each call returns a new object.
    ///
    /// ```swift
    /// if let few = model.fetchRequestTemplate(forName: "few") {
    ///     count = try context.count(for: few)
    /// }
    /// ```
    public func fetchRequestTemplate(forName name: String) -> NSFetchRequest<any NSFetchRequestResult>? {
        fetchRequestTemplates[name]?.makeFetchRequest()
    }

    /// A stored fetch request with every `$VARIABLE` of its predicates replaced, nil when there is
    /// none of that name.
    ///
    /// ```swift
    /// let few = model.fetchRequestFromTemplate(
    ///     withName: "below", substitutionVariables: ["limit": 5])
    /// let items = try few.map { try context.fetch($0) } as? [Item] ?? []
    /// ```
    ///
    /// - Parameters:
    ///   - name: the name of the stored request.
    ///   - variables: the values by variable name without the dollar sign; `NSNull` stands for nil.
    ///     A variable that is given no value stays in the predicate, and a fetch with the request
    ///     throws an error that names it.
    public func fetchRequestFromTemplate(
        withName name: String, substitutionVariables variables: [String: Any]
    ) -> NSFetchRequest<any NSFetchRequestResult>? {
        fetchRequestTemplates[name]?.substituting(variables).makeFetchRequest()
    }

    /// Stores a copy of a fetch request under a name; nil removes it.
    ///
    /// The copy has all settings of the request. Entity properties in `propertiesToFetch` and
    /// `propertiesToGroupBy` are kept by name, so that they are the properties of the model, also
    /// in a copy of the model. Model files cannot store these two, `havingPredicate`, prefetched
    /// relationships, `shouldRefreshRefetchedObjects` and stores.
    ///
    /// ```swift
    /// let below = NSFetchRequest<any NSFetchRequestResult>(entityName: "Item")
    /// below.predicate = NSPredicate(format: "stockCount < $limit")
    /// model.setFetchRequestTemplate(below, forName: "below")  // before the model is in use
    /// ```
    public func setFetchRequestTemplate(
        _ fetchRequestTemplate: NSFetchRequest<any NSFetchRequestResult>?, forName name: String
    ) {
        fetchRequestTemplates[name] = fetchRequestTemplate.map(FetchRequestTemplate.init(copying:))
    }
}

extension NSFetchedPropertyDescription {
    /// The request whose result is the property's value. Reading returns a new object, assigning
    /// copies.
    ///
    /// ```swift
    /// similar.fetchRequest = request
    /// ```
    public var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? {
        get { fetchRequestTemplate?.makeFetchRequest() }
        set { fetchRequestTemplate = newValue.map(FetchRequestTemplate.init(copying:)) }
    }
}

extension FetchRequestTemplate {
    init(copying request: NSFetchRequest<any NSFetchRequestResult>) {
        self.init(entityName: request.entityName ?? "", settings: request.settings.withOwnColumns())
    }

    func makeFetchRequest() -> NSFetchRequest<any NSFetchRequestResult> {
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: entityName)
        // Own columns, so that changes to the request do not affect the model.
        request.settings = settings.withOwnColumns()
        if sortDescriptors.isEmpty { request.sortDescriptors = nil }
        return request
    }
}
