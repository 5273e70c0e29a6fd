import CoreData

/// The error that a block throws, nil when it throws none.
public func errorThrown(by block: () throws -> Void) -> NSError? {
    do {
        try block()
        return nil
    } catch {
        return error as NSError
    }
}

extension NSError {
    /// The single errors of a multiple-errors error, or the error itself.
    public var singleErrors: [NSError] { userInfo[NSDetailedErrorsKey] as? [NSError] ?? [self] }

    /// The codes of the single errors, sorted.
    public var singleCodes: [Int] { singleErrors.map(\.code).sorted() }

    /// The keys that the single errors are about, sorted.
    public var validationKeys: [String] {
        singleErrors.compactMap { $0.userInfo[NSValidationKeyErrorKey] as? String }.sorted()
    }
}
