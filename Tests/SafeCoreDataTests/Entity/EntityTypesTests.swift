import SafeCoreData
import Testing

enum Level: UInt8 { case low = 1, high = 200 }
enum Weight: Double { case light = 0.5, heavy = 10 }
struct Token: RawRepresentable, Hashable { var rawValue: UUID }
enum Shape: Codable, Equatable { case circle(radius: Double), square(side: Double) }

@Entity
final class Everything: NSManagedObject {
    var i8: Int8
    var i16: Int16
    var i32: Int32
    var i64: Int64
    var int: Int
    var u8: UInt8
    var u16: UInt16
    var u32: UInt32
    var u64: UInt64
    var uint: UInt
    var double: Double
    var float: Float
    var bool: Bool
    var string: String
    var date: Date
    var uuid: UUID
    var url: URL
    var data: Data
    var decimal: Decimal
    var number: NSDecimalNumber
    var level: Level
    var weight: Weight
    var token: Token
    var shape: Shape
    var shapes: [Shape]
    @Attribute() var required: [Shape]
    var words: Set<String>
    var table: [String: Int]
    var `default`: String = "x"
    var optionalI8: Int8?
    var optionalInt: Int?
    var optionalU64: UInt64?
    var optionalDouble: Double?
    var optionalFloat: Float?
    var optionalBool: Bool?
    var optionalString: String?
    var optionalDate: Date?
    var optionalUUID: UUID?
    var optionalURL: URL?
    var optionalData: Data?
    var optionalDecimal: Decimal?
    var optionalNumber: NSDecimalNumber?
    var optionalLevel: Level?
    var optionalWeight: Weight?
    var optionalShape: Shape?
    var optionalWords: [String]?
    @Attribute(.transformable(by: "NSSecureUnarchiveFromData")) var strings: NSArray?
    @Transient var closure: (() -> Int)?

    static func sample(in context: NSManagedObjectContext) -> Everything {
        Everything(
            context: context, i8: -8, i16: -16, i32: -32, i64: .min, int: 5, u8: 255, u16: 65535, u32: .max, u64: .max,
            uint: 7,
            double: 0.1, float: 0.25, bool: true, string: "text", date: Date(timeIntervalSinceReferenceDate: 1.5),
            uuid: UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)),
            url: URL(fileURLWithPath: "/a/b"), data: Data([1, 2]), decimal: 12.5,
            number: NSDecimalNumber(string: "3.25"),
            level: .high, weight: .heavy, token: Token(rawValue: UUID()), shape: .circle(radius: 2),
            shapes: [.square(side: 1)],
            required: [], words: ["a", "b"], table: ["one": 1])
    }
}

struct EntityTypesTests {
    @Test func everyTypeKeepsItsValue() throws {
        let stack = try EntityStack(Everything.self)
        let made = Everything.sample(in: stack.context)
        made.strings = ["x", "y"]
        made.closure = { 5 }
        #expect(made.closure?() == 5)
        try stack.context.save()
        let read = try #require(try stack.freshContext().all(Everything.self).first)
        #expect(read.i8 == -8)
        #expect(read.i16 == -16)
        #expect(read.i32 == -32)
        #expect(read.i64 == .min)
        #expect(read.int == 5)
        #expect(read.u8 == 255)
        #expect(read.u16 == 65535)
        #expect(read.u32 == .max)
        #expect(read.u64 == .max)
        #expect(read.uint == 7)
        #expect(read.double == 0.1)
        #expect(read.float == 0.25)
        #expect(read.bool)
        #expect(read.string == "text")
        #expect(read.date.timeIntervalSinceReferenceDate == 1.5)
        #expect(read.uuid == made.uuid)
        #expect(read.url == URL(fileURLWithPath: "/a/b"))
        #expect(read.data == Data([1, 2]))
        #expect(read.decimal == 12.5)
        #expect(read.number == NSDecimalNumber(string: "3.25"))
        #expect(read.level == .high)
        #expect(read.weight == .heavy)
        #expect(read.token == made.token)
        #expect(read.shape == .circle(radius: 2))
        #expect(read.shapes == [.square(side: 1)])
        #expect(read.required == [])
        #expect(read.words == ["a", "b"])
        #expect(read.table == ["one": 1])
        #expect(read.default == "x")
        #expect(read.strings == ["x", "y"])
        #expect(read.closure == nil)
        #expect(read.optionalLevel == nil)
        #expect(read.optionalShape == nil)
        #expect(read.optionalNumber == nil)
    }

    @Test func everyOptionalTypeTakesAValueAndNil() throws {
        let stack = try EntityStack(Everything.self)
        let made = Everything.sample(in: stack.context)
        made.optionalI8 = -1
        made.optionalInt = 2
        made.optionalU64 = 3
        made.optionalDouble = 0.5
        made.optionalFloat = 0.5
        made.optionalBool = false
        made.optionalString = ""
        made.optionalDate = Date(timeIntervalSinceReferenceDate: 0)
        made.optionalUUID = made.uuid
        made.optionalURL = made.url
        made.optionalData = Data()
        made.optionalDecimal = 1
        made.optionalNumber = 2
        made.optionalLevel = .low
        made.optionalWeight = .light
        made.optionalShape = .square(side: 3)
        made.optionalWords = ["w"]
        try stack.context.save()
        let context = stack.freshContext()
        let read = try #require(try context.all(Everything.self).first)
        #expect(read.optionalI8 == -1)
        #expect(read.optionalInt == 2)
        #expect(read.optionalU64 == 3)
        #expect(read.optionalDouble == 0.5)
        #expect(read.optionalFloat == 0.5)
        #expect(read.optionalBool == false)
        #expect(read.optionalString == "")
        #expect(read.optionalDate == Date(timeIntervalSinceReferenceDate: 0))
        #expect(read.optionalUUID == made.uuid)
        #expect(read.optionalURL == made.url)
        #expect(read.optionalData == Data())
        #expect(read.optionalDecimal == 1)
        #expect(read.optionalNumber == 2)
        #expect(read.optionalLevel == .low)
        #expect(read.optionalWeight == .light)
        #expect(read.optionalShape == .square(side: 3))
        #expect(read.optionalWords == ["w"])
        read.optionalInt = nil
        read.optionalLevel = nil
        read.optionalShape = nil
        read.optionalNumber = nil
        read.optionalURL = nil
        try context.save()
        let columns = "ZOPTIONALINT, ZOPTIONALLEVEL, ZOPTIONALSHAPE, ZOPTIONALNUMBER, ZOPTIONALURL"
        #expect(stack.file.rows("SELECT \(columns) FROM ZEVERYTHING") == [[nil, nil, nil, nil, nil]])
    }

    @Test func widthsAreStoredInTheSmallestAttributeThatHoldsThem() throws {
        let attributes = try #require(NSManagedObjectModel(entities: Everything.self).entities.first).attributesByName
        let types = attributes.mapValues(\.attributeType)
        #expect(types["i8"] == .integer16AttributeType)
        #expect(types["u8"] == .integer16AttributeType)
        #expect(types["u16"] == .integer32AttributeType)
        #expect(types["u32"] == .integer64AttributeType)
        #expect(types["level"] == .integer16AttributeType)
        #expect(types["weight"] == .doubleAttributeType)
        #expect(types["token"] == .UUIDAttributeType)
        #expect(types["shape"] == .binaryDataAttributeType)
        #expect(types["strings"] == .transformableAttributeType)
        #expect(attributes["optionalInt"]?.isOptional == true)
        #expect(attributes["int"]?.isOptional == false)
    }
}
