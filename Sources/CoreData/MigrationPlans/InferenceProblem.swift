import Foundation

/// One change between two models for which no mapping can be inferred.
struct InferenceProblem: Hashable {
    let entity: String
    let property: String?
    /// The obstacle, as a sentence.
    let reason: String
    /// The remedy, as a sentence.
    let advice: String

    var text: String { "\(property.map { "\(entity).\($0)" } ?? entity): \(reason) \(advice)" }

    /// Returns one error for all problems.
    ///
    /// Its message lists them. Each is one of the detailed errors, which have the keys `entity`,
    /// `property` and `reason` that Core Data uses.
    ///
    /// - Parameter subject: the failed operation, as the beginning of a sentence.
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
            .inferredMappingModel,
            subject + ": the changes of the model do not follow a pattern that is inferred." + list,
            recovery: "Change the model as the reasons say, or migrate in several steps.", userInfo: entries)
    }
}
