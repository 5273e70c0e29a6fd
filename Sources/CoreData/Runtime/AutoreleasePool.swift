/// Calls a block and gives what it gives. Objects are released with their last reference here: there are no pools, and code of a Mac that
/// drains one reads the same.
///
/// ```swift
/// try autoreleasepool { try context.save() }
/// ```
public func autoreleasepool<Result, Failure: Error>(invoking body: () throws(Failure) -> Result) throws(Failure) -> Result {
    try body()
}
