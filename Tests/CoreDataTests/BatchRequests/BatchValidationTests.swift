import CoreData
import TestSupport
import Testing

/// A ticket that no save takes while its title says "kept".
final class StrictTicket: NSManagedObject {
    @Managed var title: String?
    @Managed var price: Int32
    @Managed var day: Date?
    @Managed var holder: NSManagedObject?

    static let domain = "StrictTicket"

    override func validateForInsert() throws {
        try super.validateForInsert()
        try refuse()
    }

    override func validateForUpdate() throws {
        try super.validateForUpdate()
        try refuse()
    }

    override func validateForDelete() throws {
        try super.validateForDelete()
        try refuse()
    }

    private func refuse() throws {
        if title == "kept" { throw NSError(domain: Self.domain, code: 85) }
    }
}

/// Batch requests write what the rules of the model and of its classes would not let a save write.
struct BatchValidationTests {
    /// A value that a rule refuses, and the code of the error that a save throws.
    enum Rule: CaseIterable {
        case tooLong, tooShort, pattern, tooLarge, tooSmall, tooLate, tooEarly, ownRule

        var key: String {
            switch self {
            case .tooLong, .tooShort, .pattern, .ownRule: "title"
            case .tooLarge, .tooSmall: "price"
            case .tooLate, .tooEarly: "day"
            }
        }
        var value: Any {
            switch self {
            case .tooLong: "muchtoolong"
            case .tooShort: ""
            case .pattern: "UPPER"
            case .ownRule: "kept"
            case .tooLarge: 101
            case .tooSmall: -1
            case .tooLate: BatchValidationTests.day.addingTimeInterval(2000)
            case .tooEarly: BatchValidationTests.day.addingTimeInterval(-1)
            }
        }
        var code: Int {
            switch self {
            case .tooLong: NSValidationStringTooLongError
            case .tooShort: NSValidationStringTooShortError
            case .pattern: NSValidationStringPatternMatchingError
            case .tooLarge: NSValidationNumberTooLargeError
            case .tooSmall: NSValidationNumberTooSmallError
            case .tooLate: NSValidationDateTooLateError
            case .tooEarly: NSValidationDateTooSoonError
            case .ownRule: 85
            }
        }
    }

    /// In which way rows are given to a batch insertion.
    enum Rows: CaseIterable {
        case list, dictionaries, objects

        func request(_ rows: [[String: Any]]) -> NSBatchInsertRequest {
            var next = rows.makeIterator()
            switch self {
            case .list: return NSBatchInsertRequest(entityName: "Ticket", objects: rows)
            case .dictionaries:
                return NSBatchInsertRequest(
                    entityName: "Ticket",
                    dictionaryHandler: { row in
                        guard let values = next.next() else { return true }
                        row.addEntries(from: values)
                        return false
                    })
            case .objects:
                return NSBatchInsertRequest(
                    entityName: "Ticket",
                    managedObjectHandler: { ticket in
                        guard let values = next.next() else { return true }
                        ticket.setValuesForKeys(values)
                        return false
                    })
            }
        }
    }

    fileprivate static let day = Date(timeIntervalSinceReferenceDate: 0)

    /// - Parameter rules: changes the tickets of a holder.
    private static func stack(_ kind: StoreKind, _ rules: (NSRelationshipDescription) -> Void = { _ in }) throws
        -> BatchStack
    {
        func attribute(_ name: String, _ type: NSAttributeType, _ rules: [(NSPredicate, Int)]) -> NSAttributeDescription
        {
            let attribute = NSAttributeDescription(name, type)
            attribute.setValidation(predicates: rules.map(\.0), warnings: rules.map { $0.1 as NSNumber })
            return attribute
        }
        let ticket = NSEntityDescription(
            "Ticket", class: "StrictTicket",
            [
                attribute(
                    "title", .stringAttributeType,
                    [
                        (NSPredicate(format: "length <= 5"), NSValidationStringTooLongError),
                        (NSPredicate(format: "length >= 1"), NSValidationStringTooShortError),
                        (NSPredicate(format: "SELF MATCHES '[a-z]*'"), NSValidationStringPatternMatchingError),
                    ]),
                attribute(
                    "price", .integer32AttributeType,
                    [
                        (NSPredicate(format: "SELF <= 100"), NSValidationNumberTooLargeError),
                        (NSPredicate(format: "SELF >= 0"), NSValidationNumberTooSmallError),
                    ]),
                attribute(
                    "day", .dateAttributeType,
                    [
                        (
                            NSPredicate(format: "SELF <= %@", day.addingTimeInterval(1000) as NSDate),
                            NSValidationDateTooLateError
                        ),
                        (NSPredicate(format: "SELF >= %@", day as NSDate), NSValidationDateTooSoonError),
                    ]),
            ])
        let holder = NSEntityDescription("Holder", class: "NSManagedObject", [.init("name", .stringAttributeType)])
        relate(holder, "tickets", toMany: true, ticket, inverse: "holder")
        if let tickets = holder.relationshipsByName["tickets"] { rules(tickets) }
        return try BatchStack(kind, NSManagedObjectModel([ticket, holder]))
    }

    private static func ticket(_ title: String, in context: NSManagedObjectContext) -> StrictTicket {
        let ticket = StrictTicket(context: context)
        (ticket.title, ticket.price, ticket.day) = (title, 1, day)
        return ticket
    }

    /// The values of a property of all tickets, as a new context reads them.
    private static func values(_ key: String, _ stack: BatchStack) throws -> [String] {
        let tickets = try stack.newContext().fetch(NSFetchRequest<NSManagedObject>(entityName: "Ticket"))
        return tickets.map { text($0.value(forKey: key)) }.sorted()
    }

    private static func text(_ value: Any?) -> String {
        (value as? Date).map { "\($0.timeIntervalSince(day))" } ?? value.map { "\($0)" } ?? "nil"
    }

    /// Checks what a save says of a rule's value in an object that is there.
    private static func expectRefusal(_ rule: Rule, of object: NSManagedObject) {
        object.setValue(rule.value, forKey: rule.key)
        #expect(errorThrown { try object.managedObjectContext?.save() }?.code == rule.code)
        object.managedObjectContext?.rollback()
    }

    // MARK: Updates

    @Test("85: a batch update writes what a save refuses", arguments: StoreKind.allCases, Rule.allCases)
    func anUpdateWritesWhatASaveRefuses(kind: StoreKind, rule: Rule) throws {
        let stack = try Self.stack(kind)
        let ticket = Self.ticket("good", in: stack.context)
        try stack.context.save()
        Self.expectRefusal(rule, of: ticket)
        let update = NSBatchUpdateRequest(entityName: "Ticket")
        update.propertiesToUpdate = [rule.key: rule.value]
        update.resultType = .updatedObjectsCountResultType
        let result = try #require(stack.context.execute(update) as? NSBatchUpdateResult)
        #expect(result.result as? Int == 1)
        #expect(try Self.values(rule.key, stack) == [Self.text(rule.value)])
    }

    @Test("85: a batch update makes values by expressions that a save refuses", arguments: StoreKind.allCases)
    func anExpressionIsNotValidated(kind: StoreKind) throws {
        let stack = try Self.stack(kind)
        _ = Self.ticket("good", in: stack.context)
        try stack.context.save()
        let update = NSBatchUpdateRequest(entityName: "Ticket")
        update.propertiesToUpdate = ["price": NSExpression(format: "price + 100")]
        try stack.context.execute(update)
        #expect(try Self.values("price", stack) == ["101"])
    }

    /// A stack whose only ticket has a price that a batch update has made too large, and the ticket
    /// in another context.
    private static func stackWithUnvalidatedPrice(_ kind: StoreKind) throws -> (stack: BatchStack, ticket: StrictTicket)
    {
        let stack = try Self.stack(kind)
        _ = Self.ticket("good", in: stack.context)
        try stack.context.save()
        let update = NSBatchUpdateRequest(entityName: "Ticket")
        update.propertiesToUpdate = ["price": 101]
        try stack.context.execute(update)
        return (
            stack, try #require(try stack.newContext().fetch(NSFetchRequest<StrictTicket>(entityName: "Ticket")).first)
        )
    }

    @Test("68, 85: what a batch wrote is found by a validation that is asked for", arguments: StoreKind.allCases)
    func validationFindsWhatABatchWrote(kind: StoreKind) throws {
        let (stack, ticket) = try Self.stackWithUnvalidatedPrice(kind)
        #expect(errorThrown { try ticket.validateForUpdate() }?.code == NSValidationNumberTooLargeError)
        ticket.price = 102
        #expect(errorThrown { try ticket.managedObjectContext?.save() }?.code == NSValidationNumberTooLargeError)
        ticket.price = 100
        try ticket.managedObjectContext?.save()
        #expect(try Self.values("price", stack) == ["100"])
    }

    // MARK: Insertions

    @Test("85: a batch insertion inserts what a save refuses", arguments: StoreKind.allCases, Rule.allCases)
    func anInsertionInsertsWhatASaveRefuses(kind: StoreKind, rule: Rule) throws {
        for rows in Rows.allCases {
            let stack = try Self.stack(kind)
            Self.expectRefusal(rule, of: Self.ticket("good", in: stack.context))
            let good: [String: Any] = ["title": "good", "price": 1, "day": Self.day]
            let bad = good.merging([rule.key: rule.value]) { $1 }
            let insert = rows.request([good, bad])
            insert.resultType = .count
            let result = try #require(stack.context.execute(insert) as? NSBatchInsertResult)
            #expect(result.result as? Int == 2, "\(rows)")
            let expected = [Self.text(good[rule.key]), Self.text(rule.value)].sorted()
            #expect(try Self.values(rule.key, stack) == expected, "\(rows)")
        }
    }

    @Test("85: a batch insertion leaves too few members of a relationship", arguments: StoreKind.allCases)
    func anInsertionCountsNoMembers(kind: StoreKind) throws {
        let stack = try Self.stack(kind) { ($0.isOptional, $0.minCount) = (false, 2) }
        _ = stack.context.new("Holder", ["name": "a"])
        #expect(errorThrown { try stack.context.save() } != nil)
        stack.context.rollback()
        try stack.context.execute(NSBatchInsertRequest(entityName: "Holder", objects: [["name": "a"], ["name": "b"]]))
        #expect(try stack.values("tickets.@count", of: "Holder", by: "name") == ["0", "0"])
    }

    // MARK: Deletions

    @Test("85: a batch deletion deletes what a save keeps", arguments: StoreKind.allCases, [false, true])
    func aDeletionDeletesWhatASaveKeeps(kind: StoreKind, byID: Bool) throws {
        let stack = try Self.stack(kind)
        let ticket = Self.ticket("good", in: stack.context)
        try stack.context.save()
        let update = NSBatchUpdateRequest(entityName: "Ticket")
        update.propertiesToUpdate = ["title": "kept"]
        try stack.context.execute(update)
        let context = stack.newContext()
        context.delete(try #require(try context.fetch(NSFetchRequest<StrictTicket>(entityName: "Ticket")).first))
        #expect(errorThrown { try context.save() }?.domain == StrictTicket.domain)
        let delete =
            byID
            ? NSBatchDeleteRequest(objectIDs: [ticket.objectID])
            : NSBatchDeleteRequest(fetchRequest: NSFetchRequest<any NSFetchRequestResult>(entityName: "Ticket"))
        delete.resultType = .resultTypeCount
        let result = try #require(stack.context.execute(delete) as? NSBatchDeleteResult)
        #expect(result.result as? Int == 1)
        #expect(try Self.values("title", stack) == [])
    }

    /// "Ensure that changes do not violate any validation rules beyond basic delete rules (for
    /// example, minimum relationship counts)": NSBatchDeleteRequest.h.
    @Test("85: a batch deletion leaves fewer members than a relationship must have", arguments: StoreKind.allCases)
    func aDeletionCountsNoMembers(kind: StoreKind) throws {
        let stack = try Self.stack(kind) { $0.minCount = 2 }
        let holder = stack.context.new("Holder", ["name": "a"])
        let tickets = ["x", "y", "z"].map { Self.ticket($0, in: stack.context) }
        for ticket in tickets { ticket.holder = holder }
        try stack.context.save()
        for ticket in tickets[..<2] { stack.context.delete(ticket) }
        #expect(errorThrown { try stack.context.save() }?.code == NSValidationRelationshipLacksMinimumCountError)
        stack.context.rollback()
        let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: "Ticket")
        fetch.predicate = NSPredicate(format: "title != 'z'")
        try stack.context.execute(NSBatchDeleteRequest(fetchRequest: fetch))
        #expect(try stack.values("tickets.@count", of: "Holder", by: "name") == ["1"])
        #expect(try Self.values("title", stack) == ["z"])
    }
}
