import SafeCoreData
import TestSupport
import Testing

// Without `CaseIterable`, so that nothing lists the cases.
enum TicketState: String, Codable, Sendable {
    case open, held = "on hold", closed

    /// A second text for each state.
    var title: String { rawValue.uppercased() }
}

enum TicketLevel: Int, Codable, Sendable, Comparable {
    case high = 1
    case low = 9
    case middle = 5

    /// Not the order of the raw values.
    static func < (left: TicketLevel, right: TicketLevel) -> Bool { left.rawValue > right.rawValue }
}

struct TicketMark: RawRepresentable, Codable, Hashable, Sendable {
    let rawValue: String
}

@Entity
final class DeskTicket: NSManagedObject {
    var state: TicketState = TicketState.open
    var formerState: TicketState?
    var level: TicketLevel = TicketLevel.low
    var nextLevel: TicketLevel?
    var mark: TicketMark
    var otherMark: TicketMark?
}

/// `#Predicate`s about enumerations and other types with raw values.
struct EnumerationPredicateTests {
    private struct Desk {
        let folder: TemporaryFolder
        let context: NSManagedObjectContext

        init(_ kind: StoreKind) throws {
            folder = try TemporaryFolder()
            let coordinator = NSPersistentStoreCoordinator(
                managedObjectModel: NSManagedObjectModel(entities: DeskTicket.self))
            _ = try coordinator.addPersistentStore(
                ofType: kind.type, configurationName: nil,
                at: kind.url(folder.file("tickets.sqlite")))
            context = coordinator.newContext()
            let states: [TicketState] = [.open, .held, .closed]
            let levels: [TicketLevel] = [.high, .middle, .low]
            for number in 0..<48 {
                _ = DeskTicket(
                    context: context, state: states[number % 3],
                    formerState: number % 4 == 3 ? nil : states[number % 4],
                    level: levels[number / 3 % 3], nextLevel: number % 5 > 2 ? nil : levels[number % 5],
                    mark: TicketMark(rawValue: ["a", "B", "é"][number % 7 % 3]),
                    otherMark: number % 2 == 0 ? nil : TicketMark(rawValue: ["a", "x"][number / 2 % 2]))
            }
            try context.save()
        }
    }

    private func check(_ kind: StoreKind, _ predicates: [Predicate<DeskTicket>]) throws {
        let desk = try Desk(kind)
        try checkEverywhere(predicates, in: desk.context)
        // None is true or false of all, so that each says something.
        for predicate in predicates {
            let count = try desk.context.fetch(DeskTicket.self).filter { try predicate.evaluate($0) }.count
            #expect((1..<48).contains(count), "\(predicate)")
        }
    }

    @Test(arguments: StoreKind.allCases) func casesAreCompared(kind: StoreKind) throws {
        let (held, level, mark) = (TicketState.held, TicketLevel.middle, TicketMark(rawValue: "B"))
        let (former, next, other): (TicketState?, TicketLevel?, TicketMark?) = (
            .closed, .low, TicketMark(rawValue: "x")
        )
        let none: TicketState? = nil
        try check(
            kind,
            [
                #Predicate { $0.state == held }, #Predicate { $0.state != held }, #Predicate { held == $0.state },
                #Predicate { $0.level == level }, #Predicate { $0.level != level }, #Predicate { $0.mark == mark },
                #Predicate { $0.formerState == held }, #Predicate { $0.formerState != held },
                #Predicate { $0.formerState == former },
                #Predicate { $0.formerState == none }, #Predicate { $0.formerState != nil },
                #Predicate { $0.nextLevel == next },
                #Predicate { $0.nextLevel == level }, #Predicate { $0.nextLevel == nil },
                #Predicate { $0.otherMark == other },
                #Predicate { $0.otherMark != other },
                #Predicate { $0.formerState == $0.formerState && $0.formerState == held },
                #Predicate { ($0.formerState ?? held) == held }, #Predicate { ($0.nextLevel ?? level) != level },
            ])
    }

    @Test(.foldsTexts, arguments: StoreKind.allCases) func rawValuesAreCompared(kind: StoreKind) throws {
        let (held, middle) = (TicketState.held, TicketLevel.middle)
        let text = held.rawValue
        try check(
            kind,
            [
                #Predicate { $0.state.rawValue == "on hold" }, #Predicate { $0.state.rawValue != "on hold" },
                #Predicate { $0.state.rawValue == text }, #Predicate { $0.state.rawValue == held.rawValue },
                #Predicate { $0.state.rawValue > "o" },
                #Predicate { $0.state.rawValue.contains("o") && $0.level.rawValue < 9 },
                #Predicate { $0.state.rawValue.starts(with: "on") }, #Predicate { $0.state.rawValue.count == 6 },
                #Predicate { $0.level.rawValue > 1 }, #Predicate { $0.level.rawValue >= middle.rawValue },
                #Predicate { (1...5).contains($0.level.rawValue) }, #Predicate { $0.level.rawValue + 1 == 6 },
                #Predicate { $0.mark.rawValue == "é" }, #Predicate { $0.mark.rawValue > "a" },
                #Predicate { $0.mark.rawValue.localizedStandardContains("E") },
            ])
    }

    @Test(arguments: StoreKind.allCases) func rawValuesOfOptionalsAreCompared(kind: StoreKind) throws {
        let middle = TicketLevel.middle.rawValue
        try check(
            kind,
            [
                #Predicate { $0.formerState?.rawValue == "on hold" },
                #Predicate { $0.formerState?.rawValue != "on hold" },
                #Predicate { $0.formerState?.rawValue == nil },
                #Predicate { ($0.formerState?.rawValue ?? "none") == "none" },
                #Predicate { $0.formerState?.rawValue.contains("o") == true },
                #Predicate { ($0.nextLevel?.rawValue ?? 0) > 1 },
                #Predicate { $0.nextLevel != nil && $0.nextLevel!.rawValue > 1 },
                #Predicate { if let level = $0.nextLevel { level.rawValue < 9 } else { false } },
                #Predicate { $0.nextLevel?.rawValue == middle }, #Predicate { $0.otherMark?.rawValue == "x" },
                #Predicate { $0.otherMark?.rawValue != "x" },
            ])
    }

    @Test(arguments: StoreKind.allCases) func casesAreAmongCapturedOnes(kind: StoreKind) throws {
        let (states, levels): ([TicketState], Set<TicketLevel>) = ([.open, .held], [.low, .high])
        let (texts, former, marks): (_, [TicketState?], _) = (
            ["open", "closed"], [.held, nil], [TicketMark(rawValue: "é")]
        )
        try check(
            kind,
            [
                #Predicate { states.contains($0.state) }, #Predicate { !states.contains($0.state) },
                #Predicate { levels.contains($0.level) },
                #Predicate { texts.contains($0.state.rawValue) }, #Predicate { former.contains($0.formerState) },
                #Predicate { marks.contains($0.mark) }, #Predicate { ticket in states.contains { $0 == ticket.state } },
            ])
    }

    @Test func anOrderOfATypesOwnIsRefusedWithItsName() throws {
        let desk = try Desk(.sqlite)
        let middle = TicketLevel.middle
        let predicates: [Predicate<DeskTicket>] = [
            #Predicate { $0.level < middle }, #Predicate { middle >= $0.level },
            #Predicate { ($0.nextLevel ?? middle) > middle },
            #Predicate { (middle...middle).contains($0.level) },
        ]
        for predicate in predicates {
            let error = #expect(throws: PredicateTranslationError.self) {
                try desk.context.fetch(DeskTicket.self, where: predicate)
            }
            #expect(error?.message.contains("TicketLevel") == true, "\(String(describing: error))")
            #expect(error?.message.contains(".rawValue") == true, "\(String(describing: error))")
        }
    }

    @Test func aComputedPropertyOfAnEnumerationIsRefused() throws {
        let desk = try Desk(.sqlite)
        let predicate = #Predicate<DeskTicket> { $0.state.title == "OPEN" }
        let error = #expect(throws: PredicateTranslationError.self) {
            try desk.context.fetch(DeskTicket.self, where: predicate)
        }
        #expect(error?.expression.contains("$0.state") == true, "\(String(describing: error))")
    }
}
