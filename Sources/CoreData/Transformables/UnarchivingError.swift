/// The reason why an archive of values was not read.
struct UnarchivingError: Error, Sendable {
    /// The problem, as the end of a sentence that begins with the archive.
    let problem: String
    /// Whether the problem is a class that the archive may not contain.
    var isForbidden = false

    /// The error for a class that the archive may not contain.
    static func forbidden(_ className: String) -> UnarchivingError {
        UnarchivingError(problem: "holds an object of the class '\(className.prefix(200))', which it may not hold", isForbidden: true)
    }

    static func damaged(_ detail: String) -> UnarchivingError {
        UnarchivingError(problem: "is damaged: \(detail)")
    }
}
