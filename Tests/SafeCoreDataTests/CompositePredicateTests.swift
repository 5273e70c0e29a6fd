import SafeCoreData
import TestSupport
import Testing

enum FarePayment: String, CompositeEnumeration { case cash, card, voucher = "a voucher" }

enum FareStage: CompositeCases { case planned, paid, used }

struct FareSeat: CompositeValue, Hashable, Sendable {
    var city: String
    var zip: Int?
    var fee: Decimal?
    var payment: FarePayment

    static let compositeElements: [CompositeElement] = [
        CompositeElement("city", String.self), CompositeElement("zip", Int?.self),
        CompositeElement("fee", Decimal?.self),
        CompositeElement("payment", FarePayment.self),
    ]

    init(city: String, zip: Int? = nil, fee: Decimal? = nil, payment: FarePayment = .cash) {
        self.city = city
        self.zip = zip
        self.fee = fee
        self.payment = payment
    }

    init(_ elements: CompositeElements) throws {
        city = try elements.required("city")
        zip = try elements.optional("zip")
        fee = try elements.optional("fee")
        payment = try elements.required("payment")
    }

    func write(to elements: inout CompositeElements) {
        elements.set("city", city)
        elements.set("zip", zip)
        elements.set("fee", fee)
        elements.set("payment", payment)
    }

    var label: String { city.uppercased() }
}

/// Its property has another name than the element that keeps it.
struct FareMark: CompositeValue, Hashable, Sendable {
    var text: String

    static let compositeElements: [CompositeElement] = [CompositeElement("kept", String.self)]

    init(text: String) { self.text = text }
    init(_ elements: CompositeElements) throws { text = try elements.required("kept") }
    func write(to elements: inout CompositeElements) { elements.set("kept", text) }
}

@Entity
final class Fare: NSManagedObject {
    var number: Int
    var seat: FareSeat
    var otherSeat: FareSeat?
    var payment: FarePayment
    var otherPayment: FarePayment?
    var stage: FareStage
    var otherStage: FareStage?
    var mark: FareMark
    @Relationship(inverse: \Fare.next)
    var former: Fare?
    var next: Fare?
}

/// `#Predicate`s and orders about composite attributes, in each kind of store.
struct CompositePredicateTests {
    private struct Desk {
        let folder: TemporaryFolder
        let context: NSManagedObjectContext

        init(_ kind: StoreKind) throws {
            folder = try TemporaryFolder()
            let coordinator = NSPersistentStoreCoordinator(
                managedObjectModel: NSManagedObjectModel(entities: Fare.self))
            _ = try coordinator.addPersistentStore(
                ofType: kind.type, configurationName: nil, at: kind.url(folder.file("fares.sqlite")))
            context = coordinator.newContext()
            let seats = [
                FareSeat(city: "Graz", zip: 8010, fee: Decimal(string: "1.25")), FareSeat(city: "graz", payment: .card),
                FareSeat(city: "Vienna", fee: 3, payment: .voucher), FareSeat(city: "Linz", zip: 4020, payment: .card),
            ]
            let payments: [FarePayment] = [.cash, .card, .voucher]
            let stages: [FareStage] = [.planned, .paid, .used]
            var former: Fare?
            for number in 0..<36 {
                let fare = Fare(
                    context: context, number: number, seat: seats[number % 4],
                    otherSeat: number % 5 == 4 ? nil : seats[number % 5 % 3],
                    payment: payments[number % 3], otherPayment: number % 7 > 4 ? nil : payments[number % 7 % 3],
                    stage: stages[number / 2 % 3], otherStage: number % 4 == 3 ? nil : stages[number % 4],
                    mark: FareMark(text: "\(number)"))
                fare.former = number % 6 == 0 ? nil : former
                former = fare
            }
            try context.save()
        }
    }

    private func check(_ kind: StoreKind, _ predicates: [Predicate<Fare>]) throws {
        let desk = try Desk(kind)
        try checkEverywhere(predicates, in: desk.context)
        for predicate in predicates {
            let count = try desk.context.fetch(Fare.self).filter { try predicate.evaluate($0) }.count
            #expect((1..<36).contains(count), "\(predicate)")
        }
    }

    @Test(arguments: StoreKind.allCases) func wholeValuesAreCompared(kind: StoreKind) throws {
        let (seat, stage) = (FareSeat(city: "Graz", zip: 8010, fee: Decimal(string: "1.25")), FareStage.paid)
        let (other, none): (FareSeat?, FareSeat?) = (FareSeat(city: "graz", payment: .card), nil)
        let (seats, stages): ([FareSeat], Set<FareStage>) = (
            [seat, FareSeat(city: "Linz", zip: 4020, payment: .card)], [.planned, .used]
        )
        let someStages: [FareStage?] = [.paid, nil]
        try check(
            kind,
            [
                #Predicate { $0.seat == seat }, #Predicate { $0.seat != seat }, #Predicate { seat == $0.seat },
                #Predicate { $0.otherSeat == seat }, #Predicate { $0.otherSeat != seat },
                #Predicate { $0.otherSeat == other },
                #Predicate { $0.otherSeat == none }, #Predicate { $0.otherSeat != nil },
                #Predicate { $0.former?.otherSeat == $0.otherSeat },
                #Predicate { $0.former?.otherSeat != $0.otherSeat }, #Predicate { $0.stage == stage },
                #Predicate { $0.stage != stage },
                #Predicate { $0.otherStage == stage }, #Predicate { $0.otherStage == nil },
                #Predicate { $0.former?.stage == $0.otherStage },
                #Predicate { seats.contains($0.seat) }, #Predicate { stages.contains($0.stage) },
                #Predicate { someStages.contains($0.otherStage) }, #Predicate { !seats.contains($0.seat) },
                #Predicate { fare in seats.contains { $0 == fare.seat } },
                #Predicate { ($0.otherSeat ?? seat) == seat },
                #Predicate { ($0.otherSeat ?? seat) != $0.seat },
                #Predicate { (($0.otherSeat == nil ? seat : $0.seat)) == seat },
                #Predicate { ($0.otherStage ?? stage) == stage }, #Predicate { $0.former?.seat == seat },
                #Predicate { $0.former?.stage != stage }, #Predicate { $0.former?.otherSeat == nil },
            ])
    }

    @Test(arguments: StoreKind.allCases) func casesAreCompared(kind: StoreKind) throws {
        let (card, voucher): (FarePayment, FarePayment?) = (.card, .voucher)
        let none: FarePayment? = nil
        let (payments, some): ([FarePayment], [FarePayment?]) = ([.cash, .card], [.voucher, nil])
        try check(
            kind,
            [
                #Predicate { $0.payment == card }, #Predicate { $0.payment != card }, #Predicate { card == $0.payment },
                #Predicate { $0.otherPayment == card }, #Predicate { $0.otherPayment != card },
                #Predicate { $0.otherPayment == voucher },
                #Predicate { $0.otherPayment == none }, #Predicate { $0.otherPayment != nil },
                #Predicate { $0.former?.payment == $0.otherPayment }, #Predicate { payments.contains($0.payment) },
                #Predicate { some.contains($0.otherPayment) }, #Predicate { ($0.otherPayment ?? card) == card },
                #Predicate { $0.former?.payment == card }, #Predicate { $0.former?.payment != card },
                #Predicate { $0.seat.payment == card }, #Predicate { $0.otherSeat?.payment != card },
            ])
    }

    @Test(.foldsTexts, arguments: StoreKind.allCases) func rawValuesAreCompared(kind: StoreKind) throws {
        let card = FarePayment.card
        let texts = ["card", "a voucher"]
        try check(
            kind,
            [
                #Predicate { $0.payment.rawValue == "a voucher" }, #Predicate { $0.payment.rawValue != "a voucher" },
                #Predicate { $0.payment.rawValue == card.rawValue }, #Predicate { $0.payment.rawValue > "b" },
                #Predicate { $0.payment.rawValue.contains("v") },
                #Predicate { $0.payment.rawValue.count == 4 && $0.number < 30 },
                #Predicate { $0.payment.rawValue.localizedStandardContains("V") },
                #Predicate { texts.contains($0.payment.rawValue) },
                #Predicate { $0.otherPayment?.rawValue == "card" }, #Predicate { $0.otherPayment?.rawValue != "card" },
                #Predicate { $0.otherPayment?.rawValue == nil },
                #Predicate { ($0.otherPayment?.rawValue ?? "none") == "none" },
                #Predicate { $0.otherPayment?.rawValue.contains("c") == true },
                #Predicate { if let payment = $0.otherPayment { payment.rawValue < "b" } else { false } },
                #Predicate { $0.otherPayment != nil && $0.otherPayment!.rawValue > "b" },
                #Predicate { $0.seat.payment.rawValue == "card" },
                #Predicate { $0.otherSeat?.payment.rawValue == "card" },
            ])
    }

    @Test(arguments: StoreKind.allCases) func elementsAreCompared(kind: StoreKind) throws {
        let fee: Decimal? = Decimal(string: "1.25")
        try check(
            kind,
            [
                #Predicate { $0.seat.city == "Graz" }, #Predicate { $0.seat.city != "Graz" },
                #Predicate { $0.seat.city > "V" },
                #Predicate { $0.seat.zip == nil }, #Predicate { ($0.seat.zip ?? 0) > 5000 },
                #Predicate { $0.seat.fee == fee },
                #Predicate { $0.otherSeat?.city == "Graz" }, #Predicate { $0.otherSeat?.city != "Graz" },
                #Predicate { $0.otherSeat?.zip == nil }, #Predicate { $0.otherSeat?.city.contains("a") == true },
                #Predicate { ($0.otherSeat?.zip ?? 0) == 0 },
                #Predicate { $0.otherSeat != nil && $0.otherSeat!.city == "graz" },
                #Predicate { if let seat = $0.otherSeat { seat.city == "Vienna" } else { false } },
                #Predicate { $0.former?.seat.city == "Linz" }, #Predicate { $0.former?.otherSeat?.zip == 8010 },
                #Predicate { $0.former?.seat.city == $0.otherSeat?.city },
            ])
    }

    // MARK: Orders

    /// The numbers of the fares in an order, of the store and of Foundation's comparators in
    /// memory.
    private func check(
        _ desk: Desk, _ ordering: Ordering<Fare>, _ descriptor: NSSortDescriptor, _ key: (Fare) -> String?,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let all = try desk.context.fetch(Fare.self, sortBy: [.ascending(\.number)])
        func precedes(_ left: Fare, _ right: Fare) -> Bool {
            let (left, right) = (key(left).map { Array($0.utf8) }, key(right).map { Array($0.utf8) })
            guard let right else { return false }
            return left?.lexicographicallyPrecedes(right) ?? true
        }
        // Sorting is stable.
        let expected = all.sorted(by: precedes).map(\.number)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = desk.context.persistentStoreCoordinator
        #expect(
            try context.fetch(Fare.self, sortBy: [ordering, .ascending(\.number)]).map(\.number) == expected,
            sourceLocation: sourceLocation
        )
        let request = Fare.fetchRequest()
        request.sortDescriptors = [descriptor, NSSortDescriptor(keyPath: \Fare.number, ascending: true)]
        #expect(try context.fetch(request).map(\.number) == expected, sourceLocation: sourceLocation)
        #expect(
            (all as NSArray).sortedArray(using: [descriptor]).map { ($0 as? Fare)?.number ?? -1 } == expected,
            sourceLocation: sourceLocation)
    }

    @Test(arguments: StoreKind.allCases) func elementsSortObjects(kind: StoreKind) throws {
        let desk = try Desk(kind)
        try check(desk, .ascending(\.seat.city), NSSortDescriptor(keyPath: \Fare.seat.city, ascending: true)) {
            $0.seat.city
        }
        try check(
            desk, .ascending(\.otherSeat?.city), NSSortDescriptor(keyPath: \Fare.otherSeat?.city, ascending: true)
        ) {
            $0.otherSeat?.city
        }
        try check(
            desk, .ascending(\.former?.seat.city), NSSortDescriptor(keyPath: \Fare.former?.seat.city, ascending: true)
        ) {
            $0.former?.seat.city
        }
        try check(desk, .ascending(\.seat.payment), NSSortDescriptor(keyPath: \Fare.seat.payment, ascending: true)) {
            $0.seat.payment.rawValue
        }
        let byCity = NSSortDescriptor(SortDescriptor(\Fare.seat.city))
        try check(desk, .ascending(\.seat.city), byCity) { $0.seat.city }
    }

    @Test(arguments: StoreKind.allCases) func rawValuesSortObjects(kind: StoreKind) throws {
        let desk = try Desk(kind)
        try check(desk, .ascending(\.payment), NSSortDescriptor(keyPath: \Fare.payment, ascending: true)) {
            $0.payment.rawValue
        }
        try check(
            desk, .ascending(\.payment.rawValue), NSSortDescriptor(keyPath: \Fare.payment.rawValue, ascending: true)
        ) {
            $0.payment.rawValue
        }
        try check(
            desk, .ascending(\.otherPayment), NSSortDescriptor(keyPath: \Fare.otherPayment?.rawValue, ascending: true)
        ) {
            $0.otherPayment?.rawValue
        }
    }

    // MARK: What no store can be asked

    @Test func whatIsNoElementIsRefusedWithItsName() throws {
        let desk = try Desk(.sqlite)
        let seat = FareSeat(city: "Graz")
        let predicates: [(Predicate<Fare>, String)] = [
            (#Predicate { $0.seat.label == "GRAZ" }, "$0.seat"), (#Predicate { $0.mark.text == "1" }, "$0.mark.text"),
            (#Predicate { $0.seat == seat && $0.otherSeat?.label == "GRAZ" }, "$0.otherSeat"),
        ]
        for (predicate, part) in predicates {
            let error = #expect(throws: PredicateTranslationError.self) {
                try desk.context.fetch(Fare.self, where: predicate)
            }
            #expect(error?.expression.contains(part) == true, "\(String(describing: error))")
        }
        #expect(throws: QueryError.self) { try desk.context.fetch(Fare.self, sortBy: [.ascending(\.seat.label)]) }
        #expect(throws: QueryError.self) { try desk.context.fetch(Fare.self, sortBy: [.ascending(\.mark.text)]) }
    }
}
