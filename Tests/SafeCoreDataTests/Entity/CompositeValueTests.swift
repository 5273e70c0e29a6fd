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
        CompositeElement("city", String.self), CompositeElement("zip", Int?.self), CompositeElement("fee", Decimal?.self),
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

@Suite struct CompositeValueTests {
    @Test func theModelHasCompositeAttributes() throws {
        let attributes = try #require(NSManagedObjectModel(entities: Freight.self).entitiesByName["Freight"]?.attributesByName)
        func elements(_ name: String) -> [String] {
            (attributes[name] as? NSCompositeAttributeDescription)?.elements.map {
                "\($0.name) \($0.attributeType.rawValue)\($0.isOptional ? "?" : "")"
            } ?? []
        }
        #expect(elements("address") == ["city 700", "zip 300?", "fee 400?", "marks 1000"])
        #expect(elements("status") == ["status 700"])
        #expect(elements("former") == ["former 700"])
        #expect(elements("kind") == ["fresh 700?", "used 700?", "default 700?"])
        #expect(attributes["kind"]?.userInfo?["EnumType"] as? Bool == true && attributes["kind"]?.isOptional == false)
        #expect(attributes["other"]?.isOptional == true && attributes["address"]?.userInfo?["EnumType"] == nil)
    }

    @Test func valuesAreWrittenIntoColumnsAndReadBack() throws {
        let folder = try TemporaryFolder()
        let stack = try TestStack(NSManagedObjectModel(entities: Freight.self), url: folder.file("store.sqlite"))
        let address = ParcelAddress(city: "Vienna", zip: 1010, fee: Decimal(string: "1.25"), marks: ["a", "b"])
        _ = Freight(context: stack.context, name: "first", address: address, kind: .default)
        try stack.context.save()
        let columns = "SELECT ZCITY, ZZIP, ZFEE, CAST(ZMARKS AS TEXT), ZSTATUS, ZFORMER, ZFRESH, ZDEFAULT, ZCITY1 FROM ZFREIGHT"
        #expect(stack.file.rows(columns) == [["Vienna", "1010", "1.25", "[\"a\",\"b\"]", "open", nil, nil, "default", nil]])
        let read = try #require(try stack.newContext().fetch(Freight.fetchRequest()).first)
        #expect(read.address == address && read.other == nil && read.status == .open && read.former == nil && read.kind == .default)
        read.address.city = "Graz"
        read.status = .closed
        read.former = .open
        read.kind = .used
        #expect(read.changedValues().keys.sorted() == ["address", "former", "kind", "status"])
        try read.managedObjectContext?.save()
        #expect(stack.file.rows(columns) == [["Graz", "1010", "1.25", "[\"a\",\"b\"]", "closed", "open", nil, nil, nil]])
    }

    @Test func predicatesReachElements() throws {
        let folder = try TemporaryFolder()
        let stack = try TestStack(NSManagedObjectModel(entities: Freight.self), url: folder.file("store.sqlite"))
        for city in ["Vienna", "Graz"] { _ = Freight(context: stack.context, name: city, address: .init(city: city), kind: .fresh) }
        try stack.context.save()
        let request = Freight.fetchRequest()
        request.predicate = NSPredicate(format: "address.city == 'Graz' AND status.status == 'open' AND kind.fresh != nil")
        #expect(try stack.newContext().fetch(request).map(\.name) == ["Graz"])
    }

    @Test func snapshotsKeepAndEncodeTheValues() throws {
        let folder = try TemporaryFolder()
        let stack = try TestStack(NSManagedObjectModel(entities: Freight.self), url: folder.file("store.sqlite"))
        let address = ParcelAddress(city: "Vienna", zip: 1, fee: nil, marks: ["x"])
        let parcel = Freight(context: stack.context, name: "first", address: address, former: .closed, kind: .used)
        try stack.context.save()
        let snapshot = parcel.snapshot()
        #expect(snapshot.address == address && snapshot.other == nil && snapshot.former == .closed && snapshot.kind == .used)
        let data = try JSONEncoder().encode(snapshot)
        let text = String(decoding: data, as: UTF8.self)
        #expect(text.contains("\"city\":\"Vienna\"") && text.contains("\"former\":\"closed\""), "\(text)")
        #expect(try JSONDecoder().decode(Freight.Snapshot.self, from: data) == snapshot)
    }

    @Test func compositesRoundTrip() throws { try assertRoundTrips(Freight.self) }

    @Test func aModelWithOtherElementsIsNotTheClasss() throws {
        let model = NSManagedObjectModel(entities: Freight.self)
        let status = try #require(model.entitiesByName["Freight"]?.attributesByName["status"] as? NSCompositeAttributeDescription)
        status.elements[0].name = "other"
        let error = #expect(throws: EntityMismatch.self) { try model.validate(entities: Freight.self) }
        let text = error.map { "\($0)" } ?? ""
        #expect(text.contains("status") && text.contains("other (String)"), "\(text)")
    }
}
