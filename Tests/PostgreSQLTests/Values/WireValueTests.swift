import CoreData
import Foundation
import TestSupport
import Testing

@testable import CoreDataPostgreSQL

/// Values of every type, to the server and back.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server"))
struct WireValueTests {
    /// A type, the bytes of a value, and what the server says that it is.
    struct Sample: CustomTestStringConvertible, Sendable {
        let type: UInt32
        let bytes: [UInt8]
        let text: String

        var testDescription: String { text }
    }

    /// The bytes are those of PostgreSQL's own send functions.
    private static let samples = [
        Sample(type: WireType.boolean, bytes: [1], text: "true"),
        Sample(type: WireType.bytea, bytes: [0, 1, 255], text: #"\x0001ff"#),
        Sample(type: WireType.bytea, bytes: [], text: #"\x"#),
        Sample(type: WireType.int8, bytes: [255, 255, 255, 255, 255, 255, 255, 254], text: "-2"),
        Sample(type: WireType.int4, bytes: [0, 1, 0, 0], text: "65536"),
        Sample(type: WireType.int2, bytes: [128, 0], text: "-32768"),
        Sample(type: WireType.text, bytes: Array("naïve 😀".utf8), text: "naïve 😀"),
        Sample(type: WireType.text, bytes: [], text: ""),
        Sample(type: WireType.float4, bytes: [0x3F, 0xC0, 0, 0], text: "1.5"),
        Sample(type: WireType.float8, bytes: [0xC0, 0x04, 0, 0, 0, 0, 0, 0], text: "-2.5"),
        Sample(type: WireType.float8, bytes: [0x7F, 0xF0, 0, 0, 0, 0, 0, 0], text: "Infinity"),
        // Microseconds since 2000.
        Sample(type: WireType.timestamptz, bytes: [0, 0, 0, 0, 0, 0, 0, 1], text: "2000-01-01 00:00:00.000001+00"),
        // Three digits of 10,000, the first times 10,000 to the power of 1, positive, three decimal
        // places.
        Sample(
            type: WireType.numeric, bytes: [0, 3, 0, 1, 0, 0, 0, 3, 0, 1, 0x09, 0x29, 0x1A, 0x7C], text: "12345.678"),
        Sample(
            type: WireType.uuid, bytes: [0, 17, 34, 51, 68, 85, 102, 119, 136, 153, 170, 187, 204, 221, 238, 255],
            text: "00112233-4455-6677-8899-aabbccddeeff"),
        // A version before the text.
        Sample(type: WireType.jsonb, bytes: [1] + Array(#"{"a": [1, null]}"#.utf8), text: #"{"a": [1, null]}"#),
    ]

    private func connection() throws -> LibPQConnection {
        let connection = try WireConnection.open()
        try connection.run("SET TIME ZONE 'UTC'")
        return connection
    }

    @Test(arguments: samples)
    func aValueIsTheSameOnTheServerAndAfterwards(sample: Sample) throws {
        let connection = try connection()
        let value = Argument.raw(sample.type, sample.bytes)
        for isKept in [false, true, true] {
            var rows = 0
            try connection.execute(WireStatement("SELECT $1, $1::text, NULL::int4", [value], isKept: isKept)) { row in
                rows += 1
                #expect(row.count == 3)
                #expect(row.bytes(0) == sample.bytes)
                #expect(row.types[0] == sample.type)
                #expect(row.text(1) == sample.text)
                #expect(row.types[1] == WireType.text)
                #expect(row.bytes(2) == nil)
                #expect(row.types[2] == WireType.int4)
            }
            #expect(rows == 1)
        }
    }

    @Test(arguments: samples)
    func anArrayIsTheSameOnTheServerAndAfterwards(sample: Sample) throws {
        let connection = try connection()
        // One dimension, with nulls, of the type; three elements counted from 1; a value, NULL, the
        // value.
        var writer = WireBytes()
        for number in [1, 1, Int32(bitPattern: sample.type), 3, 1] { writer.append(number) }
        for isValue in [true, false, true] {
            guard isValue else {
                writer.appendNull()
                continue
            }
            let start = writer.beginValue()
            sample.bytes.withUnsafeBufferPointer { writer.append($0) }
            writer.endValue(start)
        }
        let array = Argument.raw(WireType.array(of: sample.type), writer.bytes)
        var rows = 0
        try connection.execute(
            WireStatement("SELECT $1, $1[1]::text, $1[2]::text, $1[3], array_length($1, 1)", [array])
        ) { row in
            rows += 1
            #expect(row.bytes(0) == writer.bytes)
            #expect(row.types[0] == WireType.array(of: sample.type))
            #expect(row.text(1) == sample.text)
            #expect(row.bytes(2) == nil)
            #expect(row.bytes(3) == sample.bytes)
            #expect(row.types[3] == sample.type)
            #expect(row.integer(4) == 3)
        }
        #expect(rows == 1)
        let unnested = try connection.integers("SELECT count(*) FROM unnest($1) AS value WHERE value IS NULL", [array])
        #expect(unnested == [1])
    }

    @Test(arguments: Set(samples.map(\.type)).sorted())
    func nullHasAType(type: UInt32) throws {
        let connection = try connection()
        for type in [type, WireType.array(of: type)] {
            var rows = 0
            try connection.execute(WireStatement("SELECT $1, $1 IS NULL, pg_typeof($1)::oid::int8", [.null(type)])) {
                row in
                rows += 1
                #expect(row.bytes(0) == nil)
                #expect(row.bytes(1) == [1])
                #expect(row.integer(2) == Int(type))
            }
            #expect(rows == 1)
        }
    }

    @Test func emptyValuesAreNotNull() throws {
        let connection = try connection()
        var rows = 0
        try connection.execute(WireStatement("SELECT $1 IS NULL, $2 IS NULL, $1, $2", [.text(""), .bytes([])])) { row in
            rows += 1
            #expect(row.bytes(0) == [0])
            #expect(row.bytes(1) == [0])
            #expect(row.bytes(2) == [])
            #expect(row.bytes(3) == [])
        }
        #expect(rows == 1)
    }

    @Test func aLargeValueComesBackWhole() throws {
        let connection = try connection()
        var bytes = [UInt8](repeating: 0, count: 20_000_000)
        for place in bytes.indices { bytes[place] = UInt8(truncatingIfNeeded: place &* 31 &+ place >> 8) }
        var given: [UInt8]?
        try connection.execute(WireStatement("SELECT $1", [.bytes(bytes)])) { given = $0.bytes(0) }
        #expect(given == bytes)
    }

    @Test func rowsOfDifferentWidthFollowEachOther() throws {
        let connection = try connection()
        for width in [1, 300, 2, 1_600] {
            let columns = (1...width).map { "\($0)" }.joined(separator: ", ")
            var last: Int?
            try connection.execute(WireStatement("SELECT \(columns)", [])) { row in last = row.integer(row.count - 1) }
            #expect(last == width)
        }
        var widths: [Int] = []
        #expect(
            try connection.execute(WireStatement("SELECT FROM generate_series(1, 3)", [])) { widths.append($0.count) }
                == 3)
        #expect(widths == [0, 0, 0])
    }
}
