import SafeCoreData
import Synchronization

/// Notes which life-cycle hooks ran, until they are written to the store.
///
/// The hooks must not make objects by themselves: one made in `didSave` would leave the context
/// with unsaved changes again. So they only take notes here, and the inventory writes the notes in
/// a second save.
final class Journal: Sendable {
    static let shared = Journal()

    private struct Note {
        let date = Date()
        let event: String
        let subject: String
        let detail: String
    }

    /// Guards the notes: hooks run on the queues of their contexts.
    private let notes = Mutex<[Note]>([])

    func note(_ event: String, subject: String, _ detail: String) {
        notes.withLock { $0.append(Note(event: event, subject: subject, detail: detail)) }
    }

    /// Makes log entries of the notes and forgets these.
    func writeEntries(in context: NSManagedObjectContext) throws {
        let written = notes.withLock { notes in
            defer { notes = [] }
            return notes
        }
        let count = try context.count(LogEntry.self)
        for (index, note) in written.enumerated() {
            _ = LogEntry(
                context: context, number: count + index + 1, date: note.date, event: note.event, subject: note.subject,
                detail: note.detail)
        }
    }
}
