import Foundation

// Models that cannot be used.

extension NSPersistentStoreCoordinator {
    /// - Throws: one error for all inconsistencies of a model.
    static func requireConsistency(of model: NSManagedObjectModel, checksAllClasses: Bool = false) throws {
        let problems = model.objectProblems(checksAllClasses: checksAllClasses)
        guard !problems.isEmpty else { return }
        throw CoreDataErrors.inconsistentModel(message(for: problems), problems)
    }

    static func message(for problems: [String]) -> String {
        "The model cannot be used by a persistent store coordinator: " + problems.joined(separator: "; ")
    }
}
