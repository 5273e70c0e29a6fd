import SafeCoreData

/// One call of a life-cycle hook, kept in the store so that later runs of the program can show it.
@Entity
final class LogEntry: NSManagedObject {
    /// The order of the entries; dates alone could be equal.
    var number: Int
    var date: Date
    var event: String
    var subject: String
    var detail: String
}
