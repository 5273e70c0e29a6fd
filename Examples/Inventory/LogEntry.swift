import CoreData

/// One call of a life-cycle hook, kept in the store so that later runs of the program can show it.
final class LogEntry: NSManagedObject {
    /// The order of the entries; dates alone could be equal.
    @Managed var number: Int
    @Managed var date: Date
    @Managed var event: String
    @Managed var subject: String
    @Managed var detail: String
}
