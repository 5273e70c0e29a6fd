import CoreData
import TestSupport
import Testing

@testable import CoreDataToolKit

/// Reports about stores of all sorts: Apple's, changed, damaged and hostile ones.
struct ReportStoresTests {
    @Test(.enabled(if: FixtureStores.arePresent), arguments: FixtureStores.some)
    func everyStoreHasAReport(_ fixture: String) throws {
        let workplace = try Workplace()
        let report = try WrittenReport(try workplace.copy(fixture))
        try report.expectSelfContained()
        let counts = try report.texts("//section[@id='counts']//tbody/tr/td[1]").compactMap {
            Int($0.replacingOccurrences(of: ",", with: ""))
        }
        #expect(counts.sorted() == (try Database(copyOf: fixture).entityCounts().map(\.own).sorted()))
    }

    @Test func aStoreWithoutObjectsHasNoSample() throws {
        let workplace = try Workplace()
        let path = try workplace.shop()
        try SQLiteFile(URL(fileURLWithPath: path)).run("DELETE FROM ZPRODUCT; DELETE FROM ZMAKER")
        let report = try WrittenReport(path)
        #expect(try report.nodes("//section[@id='sample'] | //section[@id='dates']").isEmpty)
        try report.expectSelfContained()
    }

    @Test func aStoreWithoutItsModelHasAReport() throws {
        let store = try ShelfStore()
        store.loseModel()
        let report = try WrittenReport(store.path)
        #expect(report.text.contains("inferred from the tables"))
        try report.expectSelfContained()
    }

    @Test(arguments: ["DROP TABLE ZTAG", "DROP TABLE Z_PRIMARYKEY", "UPDATE ZTHING SET Z_ENT = NULL"])
    func changedStoresHaveAReport(_ change: String) throws {
        let store = try ShelfStore()
        store.change(change)
        let report = try WrittenReport(store.path)
        #expect(try !report.texts("//section[@id='findings']//li").isEmpty)
        try report.expectSelfContained()
    }

    @Test func linksOfOneSidedKeysLeadNowhere() throws {
        let store = try ShelfStore()
        store.change("UPDATE ZTHING SET ZSHELF = 99 WHERE Z_PK = 1", "UPDATE ZTHING SET ZSHELF = 'x' WHERE Z_PK = 2")
        try WrittenReport(store.path).expectSelfContained()
    }

    // MARK: Hostile stores

    static let hostile = [
        "</script><script>window.ran = 1</script>", "\"><img src=x onerror=\"window.ran = 1\">",
        "' onmouseover='window.ran = 1", "<svg onload=window.ran=1>", "]]>--><!--", "&lt;&#60;&nope;",
        "javascript:window.ran=1", "\u{0}\u{1}\u{8}\u{b}\u{1b}[2J\u{7f}\u{85}\u{fffe}\u{ffff}",
        "\u{202e}evil\u{2066}\u{200f}",
        "</title></style></textarea>", "{{7*7}}${7*7}", String(repeating: "<", count: 5000),
    ]

    /// A store whose names and values are hostile.
    static func hostileStore(at url: URL) throws {
        let name = NSAttributeDescription("\"><img src=x onerror=window.ran=1>", .stringAttributeType)
        let link = NSAttributeDescription("a</script><script>window.ran=1</script>", .URIAttributeType)
        let entity = NSEntityDescription(
            "E\"><script>window.ran=1</script>", class: "NSManagedObject",
            [name, link, NSAttributeDescription("data", .binaryDataAttributeType)])
        relate(entity, "to'<", entity, inverse: "from\">", inverseToMany: true)
        let stack = try TestStack(NSManagedObjectModel([entity]), url: url)
        for text in hostile {
            let object = NSManagedObject(entity: stack.entity(entity.name ?? ""), insertInto: stack.context)
            object.setValue(text, forKey: name.name)
            object.setValue(URL(string: "javascript:window.ran=1"), forKey: link.name)
            object.setValue(
                Data("<svg xmlns='http://www.w3.org/2000/svg' onload='window.ran=1'/>".utf8), forKey: "data")
            object.setValue(object, forKey: "to'<")
        }
        try stack.context.save()
        try stack.coordinator.remove(stack.coordinator.persistentStores[0])
    }

    @Test func hostileNamesAndValuesAreTexts() throws {
        let workplace = try Workplace()
        let url = workplace.folder.appendingPathComponent("<img src=x onerror=alert(1)>.sqlite")
        try Self.hostileStore(at: url)
        let report = try WrittenReport(url.path)
        try report.expectSelfContained()
        #expect(try report.texts("//h1") == ["<img src=x onerror=alert(1)>.sqlite"])
        #expect(try report.texts("//details/summary/h3") == ["E\"><script>window.ran=1</script>"])
        #expect(try report.nodes("//tbody/tr[@id]").count == Self.hostile.count)
        #expect(try report.nodes("//img").isEmpty)
        #expect(try report.texts("//td").contains(Self.hostile[0]))
    }

    @Test func textsThatAreNotUnicodeDoNotBreakThePage() throws {
        let workplace = try Workplace()
        let path = try workplace.shop()
        try SQLiteFile(URL(fileURLWithPath: path)).run(
            "UPDATE ZPRODUCT SET ZNAME = CAST(x'eda080ff3c00' AS TEXT) WHERE Z_PK = 1")
        let report = try WrittenReport(path)
        #expect(
            try report.rows("//details//tr[th = 'Product/p1']").first?.contains { $0.contains("\u{fffd}<") } == true)
    }
}
