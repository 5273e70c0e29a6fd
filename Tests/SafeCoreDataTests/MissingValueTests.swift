import SafeCoreData
import TestSupport
import Testing

enum LedgerState: String, Codable, Sendable { case open, closed }

@Entity
final class LedgerBook: NSManagedObject {
    var name: String
    @Relationship(inverse: \LedgerLine.book) var lines: Set<LedgerLine>
}

@Entity
final class LedgerLine: NSManagedObject {
    var amount: Int
    var state: LedgerState
    var book: LedgerBook
}

/// Required values that another program has emptied.
struct MissingValueTests {
    fileprivate func emptied() throws -> EntityStack {
        let stack = try EntityStack(LedgerBook.self, LedgerLine.self)
        _ = LedgerLine(
            context: stack.context, amount: 7, state: .closed, book: LedgerBook(context: stack.context, name: "a"))
        try stack.context.save()
        #expect(stack.file.execute("UPDATE ZLEDGERLINE SET ZAMOUNT = NULL, ZSTATE = NULL, ZBOOK = NULL"))
        return stack
    }

    @Test func anObjectAndItsSnapshotShowTheSamePlaceholders() throws {
        let stack = try emptied()
        let context = stack.freshContext()
        let line = try #require(try context.fetch(LedgerLine.self).first)
        let rows = try context.snapshots(of: LedgerLine.fetchRequest())
        for snapshot in [line.snapshot(), rows[0]] {
            #expect(snapshot.amount == line.amount)
            #expect(snapshot.amount == 0)
            #expect(snapshot.state == line.state)
            #expect(snapshot.state == .open)
            #expect(snapshot.book == nil)
            #expect(line.value(forKey: "book") == nil)
        }
    }

    @Test func whatCanThrowNamesWhatIsMissing() throws {
        let stack = try emptied()
        let context = stack.freshContext()
        let line = try #require(try context.fetch(LedgerLine.self).first)
        let validation = #expect(throws: NSError.self) { try line.validateForUpdate() }
        #expect(validation.map { "\($0.userInfo)" }?.contains("state") == true, "\(String(describing: validation))")
        let encoding = #expect(throws: EncodingError.self) { try JSONEncoder().encode(line.snapshot()) }
        #expect(encoding.map { "\($0)" }?.contains("'state' is required") == true, "\(String(describing: encoding))")
        line.amount = 8
        #expect(throws: NSError.self) { try context.save() }
    }

    @Test func aMissingObjectStopsTheProgramWithWhatToDo() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = try MissingValueTests().emptied()
            let book = try stack.freshContext().fetch(LedgerLine.self).first?.book
            print(book?.name ?? "", stack.url)
        }
        #expect(Complaint(result?.standardErrorContent).lacks("LedgerLine.book is nil", "others have emptied it") == [])
    }
}
