import Foundation

/// One change between two models that no mapping can be inferred for.
struct InferenceProblem: Hashable {
    let entity: String
    let property: String?
    /// What stands in the way, as a sentence.
    let reason: String
    /// What to do about it, as a sentence.
    let advice: String

    var text: String { "\(property.map { "\(entity).\($0)" } ?? entity): \(reason) \(advice)" }

    /// One error for all problems.
    ///
    /// Its message lists them; each is one of the detailed errors, which have the keys `entity`, `property` and `reason`
    /// that Core Data uses.
    ///
    /// - Parameter subject: what cannot be done, as the beginning of a sentence.
    static func error(for problems: [InferenceProblem], _ subject: String, userInfo: [String: Any] = [:]) -> NSError {
        let details = problems.map { problem in
            var entries: [String: Any] = ["entity": problem.entity, "reason": problem.reason]
            entries["property"] = problem.property
            return CoreDataErrors.make(
                .inferredMappingModel, problem.text, recovery: problem.advice, userInfo: entries)
        }
        var entries = userInfo
        entries[NSDetailedErrorsKey] = details
        if let first = details.first {
            for key in ["entity", "property", "reason"] { entries[key] = first.userInfo[key] }
        }
        let list = problems.map { "\n- " + $0.text }.joined()
        return CoreDataErrors.make(
            .inferredMappingModel, subject + ": the changes of the model do not follow a pattern that is inferred." + list,
            recovery: "Change the model as the reasons say, or migrate in several steps.", userInfo: entries)
    }
}
