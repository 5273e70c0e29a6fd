import CoreData

/// Notes which life-cycle hooks ran in a context, until they are written to the store.
///
/// The hooks must not make objects by themselves: one made in `didSave` would leave the context with unsaved changes again.
/// So they only take notes here, and `Inventory.save()` writes the notes in a second save.
final class Journal {
    private struct Note {
        let date = Date()
        let event: String
        let subject: String
        let detail: String
    }

    private var notes: [Note] = []

    /// The context whose save is going on: an object that was deleted no longer knows its own.
    @TaskLocal static var saving: NSManagedObjectContext?

    /// The journal of a context, which lives as long as the context.
    static func of(_ context: NSManagedObjectContext) -> Journal {
        if let journal = context.userInfo["journal"] as? Journal { return journal }
        let journal = Journal()
        context.userInfo["journal"] = journal
        return journal
    }

    func note(_ event: String, subject: String, _ detail: String) {
        notes.append(Note(event: event, subject: subject, detail: detail))
    }

    /// Makes log entries of the notes and forgets these.
    func writeEntries(in context: NSManagedObjectContext) throws {
        let request = NSFetchRequest<LogEntry>(entityName: "LogEntry")
        var number = try context.count(for: request)
        for note in notes {
            number += 1
            let entry = LogEntry(context: context)
            entry.number = number
            entry.date = note.date
            entry.event = note.event
            entry.subject = note.subject
            entry.detail = note.detail
        }
        notes = []
    }
}
