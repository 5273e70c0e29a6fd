import SafeCoreData
import SafeCoreDataTesting
import TestSupport
import Testing

/// Properties that are composite attributes of the model.
struct ParcelAddress: CompositeValue, Hashable, Sendable {
    var city: String
    var zip: Int?
    var fee: Decimal?
    var marks: [String]

    static let compositeElements: [CompositeElement] = [
        CompositeElement("city", String.self), CompositeElement("zip", Int?.self),
        CompositeElement("fee", Decimal?.self),
        CompositeElement("marks", [String].self),
    ]

    init(city: String, zip: Int? = nil, fee: Decimal? = nil, marks: [String] = []) {
        self.city = city
        self.zip = zip
        self.fee = fee
        self.marks = marks
    }

    init(_ elements: CompositeElements) throws {
        city = try elements.required("city")
        zip = try elements.optional("zip")
        fee = try elements.optional("fee")
        marks = try elements.required("marks")
    }

    func write(to elements: inout CompositeElements) {
        elements.set("city", city)
        elements.set("zip", zip)
        elements.set("fee", fee)
        elements.set("marks", marks)
    }
}

enum ParcelStatus: String, CompositeEnumeration { case open, closed }

enum ParcelKind: CompositeCases { case fresh, used, `default` }

@Entity
final class Freight: NSManagedObject {
    var name: String
    var address: ParcelAddress
    var other: ParcelAddress?
    var status: ParcelStatus = ParcelStatus.open
    var former: ParcelStatus?
    var kind: ParcelKind
}

struct CompositeValueTests {
    @Test func theModelHasCompositeAttributes() throws {
        let attributes = try #require(
            NSManagedObjectModel(entities: Freight.self).entitiesByName["Freight"]?.attributesByName)
        func elements(_ name: String) -> [String] {
            (attributes[name] as? NSCompositeAttributeDescription)?.elements.map {
                "\($0.name) \($0.attributeType.rawValue)\($0.isOptional ? "?" : "")"
            } ?? []
        }
        #expect(elements("address") == ["city 700", "zip 300?", "fee 400?", "marks 1000"])
        #expect(elements("status") == ["status 700?"])
        #expect(elements("former") == ["former 700?"])
        #expect(elements("kind") == ["fresh 700?", "used 700?", "default 700?"])
        #expect(attributes["kind"]?.userInfo?["EnumType"] as? Bool == true)
        #expect(attributes["kind"]?.isOptional == false)
        #expect(attributes["kind"]?.userInfo?["enum"] as? [String] == ["fresh", "used", "default"])
        #expect(attributes["status"]?.isOptional == false)
        #expect(attributes["status"]?.userInfo?.count == 1)
        #expect(attributes["other"]?.isOptional == true)
        #expect(attributes["address"]?.userInfo?["EnumType"] == nil)
    }

    @Test func valuesAreWrittenIntoColumnsAndReadBack() throws {
        let folder = try TemporaryFolder()
        let stack = try TestStack(NSManagedObjectModel(entities: Freight.self), url: folder.file("store.sqlite"))
        let address = ParcelAddress(city: "Vienna", zip: 1010, fee: Decimal(string: "1.25"), marks: ["a", "b"])
        _ = Freight(context: stack.context, name: "first", address: address, kind: .default)
        try stack.context.save()
        let columns =
            "SELECT ZCITY, ZZIP, ZFEE, CAST(ZMARKS AS TEXT), ZSTATUS, ZFORMER, ZFRESH, ZDEFAULT, ZCITY1 FROM ZFREIGHT"
        #expect(
            stack.file.rows(columns) == [["Vienna", "1010", "1.25", "[\"a\",\"b\"]", "open", nil, nil, "default", nil]])
        let read = try #require(try stack.newContext().fetch(Freight.fetchRequest()).first)
        #expect(read.address == address)
        #expect(read.other == nil)
        #expect(read.status == .open)
        #expect(read.former == nil)
        #expect(read.kind == .default)
        read.address.city = "Graz"
        read.status = .closed
        read.former = .open
        read.kind = .used
        #expect(read.changedValues().keys.sorted() == ["address", "former", "kind", "status"])
        try read.managedObjectContext?.save()
        #expect(
            stack.file.rows(columns) == [["Graz", "1010", "1.25", "[\"a\",\"b\"]", "closed", "open", nil, nil, nil]])
    }

    @Test func predicatesReachElements() throws {
        let folder = try TemporaryFolder()
        let stack = try TestStack(NSManagedObjectModel(entities: Freight.self), url: folder.file("store.sqlite"))
        for city in ["Vienna", "Graz"] {
            _ = Freight(context: stack.context, name: city, address: .init(city: city), kind: .fresh)
        }
        try stack.context.save()
        let request = Freight.fetchRequest()
        request.predicate = NSPredicate(
            format: "address.city == 'Graz' AND status.status == 'open' AND kind.fresh != nil")
        #expect(try stack.newContext().fetch(request).map(\.name) == ["Graz"])
    }

    @Test func snapshotsKeepAndEncodeTheValues() throws {
        let folder = try TemporaryFolder()
        let stack = try TestStack(NSManagedObjectModel(entities: Freight.self), url: folder.file("store.sqlite"))
        let address = ParcelAddress(city: "Vienna", zip: 1, fee: nil, marks: ["x"])
        let parcel = Freight(context: stack.context, name: "first", address: address, former: .closed, kind: .used)
        try stack.context.save()
        let snapshot = parcel.snapshot()
        #expect(snapshot.address == address)
        #expect(snapshot.other == nil)
        #expect(snapshot.former == .closed)
        #expect(snapshot.kind == .used)
        let data = try JSONEncoder().encode(snapshot)
        let text = String(decoding: data, as: UTF8.self)
        #expect(text.contains("\"city\":\"Vienna\""), "\(text)")
        #expect(text.contains("\"former\":\"closed\""), "\(text)")
        #expect(try JSONDecoder().decode(Freight.Snapshot.self, from: data) == snapshot)
    }

    /// A type that no made-up text decodes to: a new object has nothing to compare the value with.
    @Test func aSnapshotMakesANewObjectWithItsComposites() throws {
        let source = try EntityStack(Freight.self)
        let address = ParcelAddress(city: "Vienna", zip: 1, fee: nil, marks: ["x"])
        let parcel = Freight(
            context: source.context, name: "first", address: address, other: address, former: .closed, kind: .used)
        try source.context.save()
        let copy = try EntityStack(Freight.self)
        let made = try copy.context.apply(parcel.snapshot())
        #expect(made.address == address)
        #expect(made.other == address)
        #expect(made.kind == .used)
        try copy.context.save()
        let columns = "SELECT ZNAME, ZCITY, ZZIP, CAST(ZMARKS AS TEXT), ZCITY1, ZSTATUS, ZFORMER, ZUSED FROM ZFREIGHT"
        #expect(copy.file.rows(columns) == [["first", "Vienna", "1", "[\"x\"]", "Vienna", "open", "closed", "used"]])
    }

    /// A required element without a value stops the program only where it is read, whichever way
    /// the snapshot was made.
    @Test func elementsThatOthersHaveEmptiedAreShownByEachFormOfSnapshot() async throws {
        let stack = try EntityStack(Freight.self)
        for name in ["broken", "whole"] {
            _ = Freight(context: stack.context, name: name, address: .init(city: "Vienna", marks: ["x"]), kind: .used)
        }
        try stack.context.save()
        #expect(stack.file.execute("UPDATE ZFREIGHT SET ZCITY = NULL, ZUSED = NULL WHERE ZNAME = 'broken'"))
        let request = Freight.fetchRequest()
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        let context = stack.freshContext()
        let rows = try context.snapshots(of: request)
        let objects = try context.fetch(request)
        #expect(objects.map { $0.snapshot() } == rows)
        #expect(objects.map(\.snapshotOfOwnClass.propertyNames) == rows.map(\.propertyNames))
        try #require(rows.map(\.name) == ["broken", "whole"])
        #expect(rows[0].status == .open)
        #expect(rows[1].address.city == "Vienna")
        #expect(throws: (any Error).self) { try JSONEncoder().encode(rows[0]) }

        let following = DataStack(entities: Freight.self, store: .file(stack.url))
        var states = following.results(Freight.self, sortBy: [.ascending(\.name)]).makeAsyncIterator()
        #expect(try await states.next()?.values.map(\.name) == ["broken", "whole"])
        let first = try await following.read { try $0.fetch(Freight.self, sortBy: [.ascending(\.name)])[0].objectID }
        var values = following.values(of: first, as: Freight.self).makeAsyncIterator()
        let value = try await values.next()
        #expect(value?.name == "broken")
        #expect(value?.status == .open)
        try await following.close()
    }

    /// Nothing is made up for a value that a snapshot does not have: the save says that it is
    /// required.
    @Test func aSnapshotWithoutARequiredCompositeIsNotSaved() throws {
        let stack = try EntityStack(Freight.self)
        _ = Freight(context: stack.context, name: "broken", address: .init(city: "Vienna"), kind: .used)
        try stack.context.save()
        #expect(stack.file.execute("UPDATE ZFREIGHT SET ZCITY = NULL"))
        let snapshot = try stack.freshContext().snapshots(of: Freight.fetchRequest())[0]
        let copy = try EntityStack(Freight.self)
        try copy.context.apply(snapshot)
        let error = #expect(throws: NSError.self) { try copy.context.save() }
        #expect(error?.code == CocoaError.Code.validationMissingMandatoryProperty.rawValue)
        #expect(error?.userInfo[NSValidationKeyErrorKey] as? String == "address")
    }

    @Test func compositesRoundTrip() throws { try assertRoundTrips(Freight.self) }

    @Test func aModelWithOtherElementsIsNotTheClasss() throws {
        let model = NSManagedObjectModel(entities: Freight.self)
        let status = try #require(
            model.entitiesByName["Freight"]?.attributesByName["status"] as? NSCompositeAttributeDescription)
        status.elements[0].name = "other"
        let error = #expect(throws: EntityMismatch.self) { try model.validate(entities: Freight.self) }
        let text = error.map { "\($0)" } ?? ""
        #expect(text.contains("status"), "\(text)")
        #expect(text.contains("other (String, optional)"), "\(text)")
    }
}
