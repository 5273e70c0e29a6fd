/// Why an archive of values was not read.
struct UnarchivingError: Error, Sendable {
    /// What is wrong, as the end of a sentence that begins with the archive.
    let problem: String
    /// Whether it is a class that the archive may not hold.
    var isForbidden = false

    /// A class that the archive may not hold.
    static func forbidden(_ className: String) -> UnarchivingError {
        UnarchivingError(problem: "holds an object of the class '\(className.prefix(200))', which it may not hold", isForbidden: true)
    }

    static func damaged(_ detail: String) -> UnarchivingError {
        UnarchivingError(problem: "is damaged: \(detail)")
    }
}
