/// Calls a block and returns its result.
///
/// Objects are released with their last reference here: there are no pools. The function exists so
/// that code of a Mac that drains a pool compiles unchanged.
///
/// ```swift
/// try autoreleasepool { try context.save() }
/// ```
public func autoreleasepool<Result, Failure: Error>(invoking body: () throws(Failure) -> Result) throws(Failure)
    -> Result
{
    try body()
}
