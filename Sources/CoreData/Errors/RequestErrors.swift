import Foundation

// Requests and other arguments that are invalid whatever a store contains: code 134060.
//
// Core Data has no code for them. On a Mac most of them are Objective-C exceptions, or 134060
// around such an exception if it was raised while a store handled the request; Swift can catch
// neither. Errors that have a code of their own are not made here.
extension CoreDataErrors {
    /// The error for all of these cases; the functions for the single cases call it.
    static func misuse(_ message: String, recovery: String, userInfo: [String: Any] = [:]) -> NSError {
        make(.coreData, message, recovery: recovery, userInfo: userInfo)
    }

    /// The error of a fetched property whose objects cannot be fetched.
    ///
    /// It is the store's error, or, if the request can be evaluated by no store, an error that
    /// names the property.
    static func unreadable(_ property: String, of entity: String, _ error: any Error) -> any Error {
        guard (error as? CocoaError)?.code == .coreData else { return error }
        return misuse(
            "The fetched property \(entity).\(property) cannot be evaluated: \(error.localizedDescription)",
            recovery: "Change its fetch request in the model.")
    }

    // MARK: Entities and properties

    static func noEntity(of request: String) -> NSError {
        misuse("\(request) has no entity.", recovery: "Make it with an entity, or with an entity's name.")
    }

    static func unknownEntity(_ name: String, among names: [String]) -> NSError {
        misuse(
            "The model has no entity named \"\(name)\".", recovery: "Its entities are \(names.joined(separator: ", "))."
        )
    }

    static func noRelationshipToPrefetch(_ name: String, of entity: String) -> NSError {
        misuse(
            "The entity \(entity) has no relationship named \"\(name)\" to prefetch.",
            recovery: "Correct relationshipKeyPathsForPrefetching of the request.")
    }

    package static func noConstraint(on names: [String], of entity: String) -> NSError {
        misuse(
            "The entity '\(entity)' has no uniqueness constraint on \(names.joined(separator: ", ")).",
            recovery: "Make it unique in the model: without that a store cannot find the rows that are there.")
    }

    // MARK: Predicates, orders and columns

    /// The error of a fetch whose predicate could not be evaluated.
    fileprivate static func make(_ predicate: NSPredicate, _ error: PredicateEvaluationError) -> NSError {
        misuse(
            "The predicate '\(predicate.predicateFormat)' cannot be evaluated: \(error)",
            recovery: "Correct the predicate.",
            userInfo: ["NSPredicateFormat": predicate.predicateFormat])
    }

    /// The error of a part of a request that a store cannot evaluate.
    ///
    /// - Parameters:
    ///   - part: The predicate, the expression, or the sort key.
    ///   - store: The kind of store, in words.
    ///   - advice: What to do, as a sentence.
    package static func unanswerable(
        _ part: String, by store: String, _ reason: String, advice: String = "Change the request."
    ) -> NSError {
        misuse(
            "The \(store) cannot evaluate '\(part)': \(reason). \(advice)", recovery: advice,
            userInfo: ["NSPredicateFormat": part])
    }

    static func orderOfComposite(_ key: String, of entity: String, elements: [String]) -> NSError {
        misuse(
            "'\(entity)' cannot be fetched in the order of '\(key)': a composite attribute has no order.",
            recovery: "Sort by its elements: \(elements.joined(separator: ", ")).",
            userInfo: ["NSPredicateFormat": "sorting by \(key)"])
    }

    static func ungroupedColumn(_ path: String, of entity: String, groupedBy names: [String]) -> NSError {
        misuse(
            "The fetch of \(entity) is grouped by \(names.joined(separator: ", ")), so it cannot select \"\(path)\", "
                + "which may differ within a group.",
            recovery: "Add it to propertiesToGroupBy, or select an aggregate of it.")
    }

    static func havingWithoutGroups(_ entity: String) -> NSError {
        misuse(
            "A fetch request with a havingPredicate needs propertiesToGroupBy (entity \(entity)).",
            recovery: "Set propertiesToGroupBy, or use the predicate.")
    }

    static func groupsWithoutDictionaries(_ entity: String) -> NSError {
        misuse(
            "propertiesToGroupBy needs the dictionary result type (entity \(entity)).",
            recovery: "Set resultType to .dictionaryResultType.")
    }

    static func columnsOfSeveralStores(_ part: String, of entity: String) -> NSError {
        misuse(
            "The fetch of \(entity) goes to several stores, whose results cannot be put together: \(part).",
            recovery: "Fetch from one store (affectedStores), or compute it from the results.")
    }

    // MARK: Batch requests

    static func noNameOfProperty(_ key: Any) -> NSError {
        misuse(
            "A key of propertiesToUpdate is a \(type(of: key)): \(key).",
            recovery: "Use the names or the descriptions of properties.")
    }

    static func unknownProperty(_ name: String, of entity: String, among names: [String]) -> NSError {
        misuse(
            "The entity '\(entity)' has no property '\(name)', which a batch request names.",
            recovery: "Its properties are \(names.sorted().joined(separator: ", ")).")
    }

    static func unsettable(_ property: String, of entity: String, _ reason: String) -> NSError {
        misuse(
            "A batch request cannot set '\(property)' of entity '\(entity)': \(reason).",
            recovery: "Leave it out, or change the objects in a context and save it.")
    }

    static func nothingToUpdate(of entity: String) -> NSError {
        misuse(
            "The batch update of '\(entity)' has no propertiesToUpdate.",
            recovery: "Name at least one property and its new value.")
    }

    static func expressionForExternalData(_ property: String, of entity: String) -> NSError {
        misuse(
            "'\(property)' of entity '\(entity)' is kept in external files and takes a constant only.",
            recovery: "Change the objects in a context and save it.")
    }

    static func insertionOfAbstract(_ entity: String) -> NSError {
        misuse(
            "Objects of the entity '\(entity)' cannot be inserted: it is abstract.",
            recovery: "Insert objects of one of its subentities.")
    }

    static func insertionOfOther(_ other: String, than entity: String) -> NSError {
        misuse(
            "An object of '\(other)' was made for the insertion of objects of '\(entity)'.",
            recovery: "Insert the objects of each entity by themselves.")
    }

    static func deletionOfOther(_ other: String, than entity: String) -> NSError {
        misuse(
            "A batch deletion by object IDs is of one entity: it was given IDs of '\(entity)' and of '\(other)'.",
            recovery: "Make a request for each entity.")
    }

    static func deletionOfNoRow(_ objectID: NSObject) -> NSError {
        misuse(
            "A batch deletion was given the ID \(objectID), which is of no row of an open store.",
            recovery: "Save the object first: temporary IDs are known to its context only.")
    }
}

extension NSPredicate {
    /// Whether an object, or a value in place of one, satisfies the predicate of a request.
    func isMet(by object: Any?, substitutionVariables variables: [String: Any] = [:], run: PredicateRun) throws -> Bool
    {
        do throws(PredicateEvaluationError) {
            return try evaluate(with: object, substitutionVariables: variables, run: run)
        } catch {
            throw CoreDataErrors.make(self, error)
        }
    }
}
