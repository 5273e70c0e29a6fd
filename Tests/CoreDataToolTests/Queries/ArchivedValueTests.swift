import CoreData
import TestSupport
import Testing

@testable import CoreDataToolKit

/// Transformable values in keyed archives: shown as what they are, or as their bytes, never as a
/// part of themselves.
struct ArchivedValueTests {
    let workplace: Workplace
    let store: String

    init() throws {
        workplace = try Workplace()
        store = try workplace.shop()
    }

    /// How a query shows an archive in the place of the tags.
    private func shown(_ build: (inout KeyedArchiveBuilder) -> ListPart) throws -> (text: String, bytes: String) {
        let archive = KeyedArchiveBuilder.data(build)
        try SQLiteFile(URL(fileURLWithPath: store)).run(
            "UPDATE ZPRODUCT SET ZTAGS = ? WHERE ZSTOCK = 0", bytes: archive)
        let run = ToolRun(["query", store, "Product", "--where", "stock == 0", "--columns", "tags", "--format", "json"])
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.errors == "", "\(run.errors)")
        let line = try #require(run.lines.first { $0.hasPrefix("{") })
        return (String(line), "{\"tags\": \"\(archive.base64EncodedString())\"}")
    }

    private static let opaque: [@Sendable (inout KeyedArchiveBuilder) -> ListPart] = [
        { builder in builder.object("UIColor", ["UIRed": .real(1)]) },
        { builder in
            let color = builder.object("UIColor", ["UIRed": .real(1)])
            return builder.array([color])
        },
        { builder in
            let parts = [builder.add(.text("a")), builder.object("UIColor")]
            return builder.array(parts)
        },
        { builder in
            let entries = [("c", builder.object("UIColor")), ("n", builder.add(.int(1)))]
            return builder.dictionary(entries)
        },
        { builder in
            let inner = builder.array([builder.object("UIColor")])
            return builder.dictionary([("list", inner)])
        },
        { builder in
            let keys = [builder.object("NSDate", ["NS.time": .real(0)])], values = [builder.add(.text("a"))]
            return builder.object("NSDictionary", ["NS.keys": .array(keys), "NS.objects": .array(values)])
        },
        { builder in
            let keys = [builder.add(.int(1)), builder.add(.text("1"))],
                values = [builder.add(.text("a")), builder.add(.text("b"))]
            return builder.object("NSDictionary", ["NS.keys": .array(keys), "NS.objects": .array(values)])
        },
    ]

    @Test(arguments: opaque.indices) func whatIsNotPlainThroughoutIsShownAsBytes(_ index: Int) throws {
        let value = try shown(Self.opaque[index])
        #expect(value.text == value.bytes)
    }

    @Test func nullsAndKeysThatAreNumbersAreShown() throws {
        let list = try shown { builder in
            let parts = [builder.add(.text("a")), builder.object("NSNull"), builder.add(.text("b"))]
            return builder.array(parts)
        }
        #expect(list.text == #"{"tags": ["a", null, "b"]}"#)
        let numbered = try shown { builder in
            let keys = [builder.add(.int(1)), builder.add(.real(2.5))],
                values = [builder.add(.text("a")), builder.object("NSNull")]
            return builder.object("NSDictionary", ["NS.keys": .array(keys), "NS.objects": .array(values)])
        }
        #expect(numbered.text == #"{"tags": {"1": "a", "2.5": null}}"#)
        #expect(try shown { $0.object("NSNull") }.text == #"{"tags": null}"#)
    }
}
