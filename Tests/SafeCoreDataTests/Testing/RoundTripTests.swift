import SafeCoreData
import SafeCoreDataTesting
import TestSupport
import Testing

/// A class without a macro whose property does not keep what it is given.
final class Forgetful: NSManagedObject {
    @Managed var name: String?
    @Managed var size: Int64

    override func willSave() {
        super.willSave()
        if primitiveValue(forKey: "name") as? String != "forgotten" { setPrimitiveValue("forgotten", forKey: "name") }
    }
}

enum Finish: String { case raw, painted, galvanized }
enum Grain: String { case only }
struct Coating: Codable, Hashable {
    enum Layer: String, Codable { case primer, varnish }
    var layer: Layer
}

/// Its attributes take few values.
@Entity
final class Board: NSManagedObject {
    var finish: Finish
    var lastFinish: Finish?
    var grain: Grain
    @Attribute var coating: Coating
    @Attribute(.pattern("[A-Z]{2}-[0-9]{3,5}(a|b)?"), .length(6...8)) var code: String
    @Attribute(.pattern(#"^\w+@\w+\.(com|org)$"#)) var address: String?
    @Attribute(.pattern("(?=x)x|y")) var odd: String = "x"
    @Attribute(.range(Date(timeIntervalSinceReferenceDate: 1e9)...)) var sawn: Date
    var whole: Board?
    /// Not optional, but without a minimum: it may be empty.
    @Relationship(inverse: \Board.whole, optional: false) var parts: Set<Board>
}

/// Neither is valid without the other.
@Entity
final class Invoice: NSManagedObject {
    var number: Int
    @Relationship(deleteRule: .cascade, inverse: \InvoiceLine.invoice, minimum: 1) var lines: [InvoiceLine]
}

@Entity
final class InvoiceLine: NSManagedObject {
    var text: String
    var invoice: Invoice
}

/// Its label tells it from all others, but need not be set.
@Entity
final class Locker: NSManagedObject {
    @Attribute(.unique) var label: String? = "new"
    @Relationship(inverse: \Key.lockers) var keys: Set<Key>
}

@Entity
final class Key: NSManagedObject {
    var lockers: Set<Locker>
}

/// Two sides or none.
@Entity
final class Coin: NSManagedObject {
    @Relationship(inverse: \Side.coin, minimum: 2, maximum: 2, optional: true) var sides: Set<Side>
}

@Entity
final class Side: NSManagedObject {
    var motif: String?
    var coin: Coin?
}

/// Its cases have associated values.
enum Reading: Codable, Hashable {
    case length(Double), text(String, isFinal: Bool)
    case none
}

/// Writes less than it reads.
struct Rounded: Codable, Hashable {
    var tenths: Int
    init(from decoder: any Decoder) throws { tenths = try decoder.singleValueContainer().decode(Int.self) * 10 }
    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(tenths)
    }
}

@Entity
final class Gauge: NSManagedObject {
    var reading: Reading
    var lastReading: Reading?
}

@Entity
final class LossyGauge: NSManagedObject {
    var name: String
    var value: Rounded?
}

/// Abstract, and known to nobody but by a relationship that leads to it.
@Entity(isAbstract: true)
class Frame: NSManagedObject {
    var title: String
}

@Entity(isAbstract: true)
class WoodenFrame: Frame {
    @Relationship(inverse: \Carver.frames) var carver: Carver
}

@Entity
final class CarvedFrame: WoodenFrame {
    var pattern: String
}

@Entity
final class Carver: NSManagedObject {
    var name: String
    var frames: Set<WoodenFrame>
}

@Entity
final class Painting: NSManagedObject {
    var title: String
    @Relationship var frame: Frame
}

/// Nothing inherits from it.
@Entity(isAbstract: true)
class Pedestal: NSManagedObject {
    var height: Int
}

@Entity
final class Statue: NSManagedObject {
    @Relationship var pedestal: Pedestal
}

/// A property that its keys leave out.
struct Brush: Codable, Hashable {
    var width: Int
    var hair = "horse"
    var note: String?
    var year: Int { 1900 }
    let kind = 1

    enum CodingKeys: String, CodingKey { case width = "w", note, kind }
}

/// Keys of its own for each property.
struct Canvas: Codable, Hashable {
    var width: Int
    var height: Int

    private enum Key: String, CodingKey { case w, h }
    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        width = try container.decode(Int.self, forKey: .w)
        height = try container.decode(Int.self, forKey: .h)
    }
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(width, forKey: .w)
        try container.encode(height, forKey: .h)
    }
}

@Entity
final class Studio: NSManagedObject {
    var canvas: Canvas
    @Attribute var brushes: [Brush]
    var best: Brush?
}

@Entity
final class Easel: NSManagedObject {
    var canvas: Canvas
    var extent: Dimensions
    var legs: Reading
}

/// Takes no text that could be made up.
struct MailAddress: Codable, Hashable {
    let text: String
    init(from decoder: any Decoder) throws {
        text = try decoder.singleValueContainer().decode(String.self)
        guard text.contains("@") else {
            throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: "It has no @."))
        }
    }
    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

struct PostCode: RawRepresentable {
    let rawValue: String
    init?(rawValue: String) {
        guard rawValue.count == 5 else { return nil }
        self.rawValue = rawValue
    }
}

@Entity
final class Subscriber: NSManagedObject {
    var name: String
    var address: MailAddress
    var otherAddress: MailAddress?
    var postCode: PostCode
    var brush: Brush
}

struct RoundTripTests {
    @Test func aPropertyForWhichNoValueCanBeMadeUpIsReported() throws {
        let differences = try roundTripDifferences(of: Subscriber.self)
        for name in ["address", "otherAddress", "postCode"] {
            #expect(
                differences.filter { $0.hasPrefix("\(name): no value that it accepts could be made") }.count == 1,
                "\(differences)")
        }
        #expect(
            differences.contains { $0.hasPrefix("brush: the type's CodingKeys leave out Brush.hair") }, "\(differences)"
        )
        #expect(throws: RoundTripFailure.self) { try assertRoundTrips(Subscriber.self) }
    }

    @Test func aRequiredRelationshipToAnAbstractClassGetsAnObjectOfASubclass() throws {
        try assertRoundTrips(Painting.self)
        try assertRoundTrips(CarvedFrame.self)
        try assertRoundTrips(Carver.self)
    }

    @Test func anAbstractClassWithoutSubclassesIsReported() throws {
        let differences = try roundTripDifferences(of: Statue.self)
        #expect(differences.contains { $0.hasPrefix("pedestal: Pedestal is abstract") }, "\(differences)")
    }

    @Test func aFailureSaysWhichModelWasUsed() throws {
        let described = #expect(throws: RoundTripFailure.self) { try assertRoundTrips(Statue.self) }
        #expect(described?.model == "The model made in the program (Pedestal, Statue)")
        #expect(described?.description.hasSuffix("The model made in the program (Pedestal, Statue) was used.") == true)
        let folder = try TemporaryFolder()
        let file = folder.file("Studio.xcdatamodel")
        try FileManager.default.createDirectory(at: file, withIntermediateDirectories: true)
        try Data("<model><entity name=\"Board\"/></model>".utf8).write(to: file.appendingPathComponent("contents"))
        let model = try NSManagedObjectModel(reading: file)
        let drawn = #expect(throws: RoundTripFailure.self) { try assertRoundTrips(Statue.self, in: model) }
        #expect(drawn?.model.contains(file.path) == true, "\(drawn?.model ?? "")")
        #expect(drawn?.differences == ["The model of \(file.path) (Board) has no entity whose class is Statue."])
    }

    @Test func propertiesThatCodingKeysLeaveOutAreReported() throws {
        let differences = try roundTripDifferences(of: Studio.self)
        #expect(
            differences.sorted() == [
                "best: the type's CodingKeys leave out Brush.hair, whose value is lost.",
                "brushes: the type's CodingKeys leave out Brush.hair, whose value is lost.",
            ])
    }

    @Test func keysOfATypesOwnLeaveNothingOut() throws {
        try assertRoundTrips(Easel.self)
    }

    @Test func relatedObjectsGetDifferentValuesWhereTheseMustBeUnique() throws {
        try assertRoundTrips(Locker.self)
        try assertRoundTrips(Key.self)
    }

    @Test func relatedObjectsGetAsManyObjectsAsTheyNeed() throws {
        try assertRoundTrips(Coin.self)
        try assertRoundTrips(Side.self)
    }

    @Test func enumerationsWithAssociatedValuesRoundTrip() throws {
        try assertRoundTrips(Gauge.self)
    }

    @Test func aTypeThatDoesNotKeepItsValueIsReported() throws {
        let differences = try roundTripDifferences(of: LossyGauge.self)
        #expect(differences.count == 1, "\(differences)")
        #expect(differences.first?.hasPrefix("value: ") == true)
    }

    @Test func objectsThatRequireEachOtherRoundTrip() throws {
        try assertRoundTrips(Invoice.self)
        try assertRoundTrips(InvoiceLine.self)
    }

    @Test func valuesAreFoundForEnumerationsOfTextsAndForPatterns() throws {
        try assertRoundTrips(Board.self)
    }

    @Test func classesWithMacrosRoundTrip() throws {
        try assertRoundTrips(Article.self)
        try assertRoundTrips(Vendor.self)
        try assertRoundTrips(Shelf.self)
        try assertRoundTrips(PaperNovel.self)
        try assertRoundTrips(Part.self)
    }

    @Test func classesWithoutMacrosRoundTrip() throws {
        for type in [LibraryAuthor.self, LibraryNovel.self, LibraryTag.self] as [NSManagedObject.Type] {
            #expect(try roundTripDifferences(of: type, in: Library.model()) == [])
        }
    }

    @Test func everyDifferenceIsReported() throws {
        let model = NSManagedObjectModel()
        model.entities = [
            NSEntityDescription(
                "Forgetful",
                [
                    NSAttributeDescription("name", .stringAttributeType, optional: false),
                    NSAttributeDescription("size", .integer64AttributeType, optional: false),
                ])
        ]
        let differences = try roundTripDifferences(of: Forgetful.self, in: model)
        #expect(
            differences.filter { $0.hasPrefix("name: text") && $0.contains("it is forgotten") }.count == 3,
            "\(differences)")
        #expect(!differences.contains { $0.hasPrefix("size") })
        #expect(throws: RoundTripFailure.self) { try assertRoundTrips(Forgetful.self, in: model) }
    }

    @Test func aClassWithoutAnEntityIsReported() throws {
        #expect(try roundTripDifferences(of: Forgetful.self).count == 1)
        #expect(try roundTripDifferences(of: Forgetful.self, in: Library.model()).count == 1)
        #expect(try roundTripDifferences(of: PaperMedium.self) == ["PaperMedium is abstract: check its subclasses."])
    }
}
