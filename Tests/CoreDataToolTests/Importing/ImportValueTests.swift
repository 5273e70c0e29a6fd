import CoreData
import TestSupport
import Testing

@testable import CoreDataToolKit

/// Values of attributes of each type.
struct ImportValueTests {
    let place: ImportPlace

    init() throws { place = try ImportPlace() }

    private func run(_ member: String) throws -> ToolRun {
        try place.run(lines: [#"{"objectID": "Item/p3", "name": "a", \#(member)}"#])
    }

    private static let values: [(String, String, String)] = [
        (#""name": "é\u0000😀""#, "hex(ZNAME)", "C3A900F09F9880"), (#""code": """#, "ZCODE", ""),
        (#""stock": 32767"#, "ZSTOCK", "32767"), (#""size": -2147483648"#, "ZSIZE", "-2147483648"),
        (#""count": 9223372036854775807"#, "ZCOUNT", "9223372036854775807"), (#""count": 5.0"#, "ZCOUNT", "5"),
        (#""count": 12e2"#, "ZCOUNT", "1200"), (#""sold": true"#, "ZSOLD", "1"), (#""sold": false"#, "ZSOLD", "0"),
        (#""weight": 0.1"#, "ZWEIGHT = 0.1", "1"), (#""weight": 5e-324"#, "ZWEIGHT = 5e-324", "1"),
        (#""weight": "inf""#, "ZWEIGHT", "Inf"), (#""weight": "-inf""#, "ZWEIGHT", "-Inf"),
        (#""ratio": 0.25"#, "ZRATIO", "0.25"),
        (#""added": "2001-01-01T00:00:01.5Z""#, "ZADDED", "1.5"), (#""added": "2001-01-02""#, "ZADDED", "86400"),
        (#""uuid": "00112233-4455-6677-8899-aabbccddeeff""#, "hex(ZUUID)", "00112233445566778899AABBCCDDEEFF"),
        (#""page": "https://example.org/a?b=c""#, "ZPAGE", "https://example.org/a?b=c"),
        (#""image": "AAEC/w==""#, "hex(ZIMAGE)", "01000102FF"), (#""image": """#, "hex(ZIMAGE)", "01"),
        (#""tags": {"value": ["x"], "archive": "AQI="}"#, "hex(ZTAGS)", "0102"),
        (#""tags": "AQI=""#, "hex(ZTAGS)", "0102"),
        (#""address": {"city": "Ulm", "zip": 89073}"#, "ZCITY || ZZIP", "Ulm89073"),
    ]

    @Test(arguments: LongTests.some(8, of: values))
    func valuesComeIntoTheStore(_ member: String, _ column: String, _ wanted: String) throws {
        let row =
            member.contains("\"name\"")
            ? try place.run(lines: [#"{"objectID": "Item/p3", \#(member)}"#]) : try run(member)
        #expect(row.status == 0, "\(row.errors)")
        #expect(place.value("SELECT \(column) FROM ZITEM WHERE Z_PK = 3") == wanted)
    }

    @Test(arguments: [
        "1.1", "-999999999999999", "0.00000000000000000000000000000000000001", "1e20", "0",
        "12.50",
    ])
    func decimalsAreExact(_ number: String) throws {
        #expect(try run(#""price": \#(number)"#).status == 0)
        let exported = ToolRun(["export", place.store]).output
        let read = exported.split(separator: "\"price\": ").last?.prefix { $0 != "," }
        #expect(read.flatMap { Decimal(string: String($0)) } == Decimal(string: number), "\(exported)")
    }

    private static let wrongValues: [(String, String)] = [
        (#""stock": 32768"#, "stock: 32768 is not within the limits of 16 bits"),
        (#""size": 2147483648"#, "size: 2147483648 is not within the limits of 32 bits"),
        (#""count": 9223372036854775808"#, "count: 9223372036854775808 is not within the limits of 64 bits"),
        (#""count": 1e400000"#, "count: 1e400000 is not a whole number"),
        (#""count": 1.5"#, "count: 1.5 is not a whole number"),
        (#""count": "1""#, "count: '1' is not a whole number"),
        (#""count": true"#, "count: true is not a whole number"),
        (#""sold": 1"#, "sold: 1 is not true or false"),
        (#""weight": 1e999"#, "is not within the limits of a floating"),
        (#""ratio": 1e39"#, "is not within the limits of a floating"), (#""weight": "much""#, "'much' is not a number"),
        (#""price": 0.123456789012345678901234567890123456789012"#, "within the limits of a decimal number"),
        (#""price": 1e200"#, "within the limits of a decimal number"), (#""name": 5"#, "name: 5 is not a text"),
        (#""added": 5"#, "added: 5 is not a date"), (#""added": "2024-02-30""#, "'2024-02-30' is not a date"),
        (#""uuid": "xyz""#, "'xyz' is not a UUID"), (#""page": """#, "'' is not a URI"),
        (#""image": "not base64""#, "is not base64"), (#""image": {"fil": "x"}"#, "an object is not base64"),
        (#""tags": {"value": 1}"#, "no member 'archive'"), (#""address": "Ulm""#, "'Ulm' is not an object"),
        (#""address": {"town": "Ulm"}"#, "address.town: there is no such element"),
        (#""address": {"zip": "x"}"#, "address.zip: 'x' is not a whole number"),
        (#""address": {"zip": 1, "zip": 2}"#, "address.zip: the key is there twice"),
        (#""stock": -1"#, "stock: stock must not be negative"), (#""name": null"#, "name: Name must have a value"),
    ]

    @Test(arguments: LongTests.some(9, of: wrongValues))
    func otherValuesAreRefused(_ member: String, _ wanted: String) throws {
        let row = member.contains("\"name\"") ? [#"{"objectID": "Item/p3", \#(member)}"#] : []
        let run = row.isEmpty ? try run(member) : try place.run(lines: row)
        #expect(run.status == 1)
        #expect(run.errors.contains("line 1: Item/p3.\(wanted.contains(": ") ? wanted : "")"), "\(run.errors)")
        #expect(run.errors.contains(wanted), "\(run.errors)")
        #expect(!place.hasStore)
    }

    @Test func keysThatAreMissingGetTheDefault() throws {
        #expect(try place.run(lines: [#"{"objectID": "Item/p1", "name": "a"}"#]).status == 0)
        #expect(place.value("SELECT ZSTOCK FROM ZITEM") == "7")
    }

    @Test func nullIsNoDefault() throws {
        #expect(try run(#""stock": null"#).status == 0)
        #expect(place.rows("SELECT ZSTOCK FROM ZITEM") == [[nil]])
    }

    @Test func aMissingRequiredValueIsRefused() throws {
        let run = try place.run(lines: [#"{"objectID": "Item/p1", "code": "x"}"#])
        #expect(run.errors.contains("line 1: Item/p1.name: Name must have a value"), "\(run.errors)")
    }

    @Test func largeValuesGoToExternalFiles() throws {
        let bytes = Data(repeating: 7, count: 300_000)
        #expect(try run(#""image": "\#(bytes.base64EncodedString())""#).status == 0)
        #expect(place.value("SELECT hex(substr(ZIMAGE, 1, 1)) FROM ZITEM") == "02")
        let name = place.value("SELECT CAST(substr(ZIMAGE, 2, 36) AS TEXT) FROM ZITEM") ?? ""
        let folder = place.workplace.folder.appendingPathComponent(".Store_SUPPORT/_EXTERNAL_DATA")
        #expect(try Data(contentsOf: folder.appendingPathComponent(name)) == bytes)
    }

    @Test func bytesComeFromFilesBelowTheFolder() throws {
        let folder = place.workplace.folder.appendingPathComponent("blobs/Item")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data([1, 2, 3]).write(to: folder.appendingPathComponent("p3-image.bin"))
        let line = #"{"objectID": "Item/p3", "name": "a", "image": {"file": "Item/p3-image.bin"}}"#
        let run = try place.run(lines: [line], "--blobs", place.workplace.folder.appendingPathComponent("blobs").path)
        #expect(run.status == 0, "\(run.errors)")
        #expect(place.value("SELECT hex(ZIMAGE) FROM ZITEM") == "01010203")
    }

    @Test(arguments: ["../secret", "/etc/hostname", "link/secret", "none", ".", "a/../../secret"])
    func otherFilesAreNotRead(_ path: String) throws {
        _ = try place.file("secret", "secret")
        let folder = place.workplace.folder.appendingPathComponent("blobs")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            at: folder.appendingPathComponent("link"), withDestinationURL: place.workplace.folder)
        let line = #"{"objectID": "Item/p3", "name": "a", "image": {"file": "\#(path)"}}"#
        let run = try place.run(lines: [line], "--blobs", folder.path)
        #expect(run.status == 1)
        #expect(run.errors.contains("the folder of --blobs"), "\(run.errors)")
    }

    @Test func filesNeedTheirFolder() throws {
        #expect(try run(#""image": {"file": "x"}"#).errors.contains("--blobs DIR"))
    }
}
