import SafeCoreData
import TestSupport
import Testing

// Types of which neither what an empty attribute reads as nor a made-up number is a value.
enum IncidentWeight: Int, Codable, Sendable { case light = 3, heavy = 8 }
enum IncidentPlace: String, Codable, Sendable { case indoors, outdoors }
struct IncidentExtent: Codable, Hashable, Sendable {
    var width: Int
    var place: IncidentPlace
}

/// Properties of all kinds, for a subclass to inherit.
@Entity
class Incident: NSManagedObject {
    var state: TicketState
    var formerState: TicketState?
    var weight: IncidentWeight
    var nextWeight: IncidentWeight?
    var mark: TicketMark
    var otherMark: TicketMark?
    var extent: IncidentExtent
    var formerExtent: IncidentExtent?
    var tags: [String] = []
    var address: ParcelAddress
    var otherAddress: ParcelAddress?
    var status: ParcelStatus = ParcelStatus.open
    var amount: NSDecimalNumber = NSDecimalNumber(value: 1)
    var otherAmount: NSDecimalNumber?
    @Attribute(.transformable(by: "NSSecureUnarchiveFromData")) var words: NSArray?
    @Transient var isSelected: Bool = false
    @Transient var cache: [Int: String] = [:]
    @Transient var title: String?
    var isOpen: Bool { state == .open }
    var isHeavy: Bool { (nextWeight ?? .light) == .heavy }
}

@Entity
final class Outage: Incident {
    var text: String
    @Relationship var cause: Incident?
}

extension Outage {
    convenience init(
        _ text: String, _ state: TicketState, _ weight: IncidentWeight, cause: Incident? = nil,
        in context: NSManagedObjectContext
    ) {
        self.init(
            context: context,
            inheriting: .init(
                state: state, formerState: .closed, weight: weight, mark: TicketMark(rawValue: "m"),
                extent: IncidentExtent(width: 2, place: .outdoors), tags: ["a"], address: ParcelAddress(city: "Graz")),
            text: text, cause: cause)
    }
}

/// Key paths of a subclass whose properties are its superclass's, and of what no model describes.
struct InheritedNameTests {
    private let stack: EntityStack
    private let context: NSManagedObjectContext

    init() throws {
        stack = try EntityStack(Outage.self)
        context = stack.context
        let first = Outage("first", .open, .heavy, in: context)
        _ = Outage("second", .held, .light, cause: first, in: context)
        try context.save()
    }

    @Test func inheritedPropertiesHaveNames() {
        let names: [PartialKeyPath<Outage>: String] = [
            \.state: "state", \.formerState: "formerState", \.weight: "weight", \.nextWeight: "nextWeight",
            \.mark: "mark",
            \.otherMark: "otherMark", \.extent: "extent", \.formerExtent: "formerExtent", \.tags: "tags",
            \.address: "address",
            \.otherAddress: "otherAddress", \.status: "status", \.amount: "amount", \.otherAmount: "otherAmount",
            \.words: "words",
            \.isSelected: "isSelected", \.cache: "cache", \.title: "title", \.cause?.state: "cause.state",
            \.cause?.formerState: "cause.formerState", \.cause?.weight: "cause.weight", \.cause?.extent: "cause.extent",
            \.cause?.mark: "cause.mark", \.cause?.isSelected: "cause.isSelected",
        ]
        for (keyPath, name) in names { #expect(Outage.keyName(for: keyPath) == name) }
    }

    @Test func whatIsComputedHasNoName() {
        #expect(Incident.keyName(for: \Incident.isOpen) == nil)
        #expect(Outage.keyName(for: \Outage.isOpen) == nil)
        #expect(Outage.keyName(for: \Outage.isHeavy) == nil)
        #expect(Outage.keyName(for: \Outage.cause?.isOpen) == nil)
        #expect(Outage.keyName(for: \Outage.extent.width) == nil)
        #expect(Outage.keyName(for: \Outage.tags.count) == nil)
        #expect(Incident.keyName(for: \Incident.extent.place) == nil)
        #expect(Incident.keyName(for: \Incident.formerExtent?.width) == nil)
    }

    @Test func predicatesCompareInheritedValues() throws {
        let (held, heavy, mark) = (TicketState.held, IncidentWeight.heavy, TicketMark(rawValue: "m"))
        let other = stack.freshContext()
        #expect(try other.fetch(Outage.self, where: #Predicate { $0.state == held }).map(\.text) == ["second"])
        #expect(try other.fetch(Outage.self, where: #Predicate { $0.weight == heavy }).map(\.text) == ["first"])
        #expect(try other.count(Outage.self, where: #Predicate { $0.mark == mark && $0.nextWeight == nil }) == 2)
        #expect(
            try other.fetch(Outage.self, where: #Predicate { $0.state.rawValue == "open" }).map(\.text) == ["first"])
    }

    @Test func ordersFollowInheritedRawValues() throws {
        let other = stack.freshContext()
        #expect(try other.fetch(Outage.self, sortBy: [.ascending(\.state)]).map(\.text) == ["second", "first"])
        #expect(try other.fetch(Outage.self, sortBy: [.descending(\.weight)]).map(\.text) == ["first", "second"])
        #expect(try other.fetch(Outage.self, sortBy: [.descending(\.cause?.state)]).map(\.text) == ["second", "first"])
    }

    @Test func whatIsComputedIsRefusedWithAnError() throws {
        #expect(throws: PredicateTranslationError.self) {
            try context.fetch(Incident.self, where: #Predicate { $0.isOpen })
        }
        #expect(throws: PredicateTranslationError.self) {
            try context.fetch(Outage.self, where: #Predicate { $0.isOpen })
        }
        #expect(throws: QueryError.self) { try context.fetch(Incident.self, sortBy: [.ascending(\.extent.width)]) }
    }

    @Test func snapshotsMayHaveInheritedPropertiesOnly() throws {
        let outage = try #require(try context.first(Outage.self, where: #Predicate { $0.text == "first" }))
        let snapshot = outage.snapshot(\.tags, \.state, \.extent)
        #expect(snapshot.propertyNames == ["state", "extent", "tags"])
        #expect(snapshot.has(\.state))
        #expect(snapshot.has(\.tags))
        #expect(!snapshot.has(\.weight))
        #expect(!snapshot.has(\.text))
        #expect(snapshot.tags == ["a"])
        #expect(snapshot.extent.width == 2)
    }
}
