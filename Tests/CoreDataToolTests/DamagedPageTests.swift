import CoreData
import TestSupport
import Testing

@testable import CoreDataToolKit

/// `coredata info` of stores with damaged pages: it tells what can be read.
struct DamagedPageTests {
    let workplace: Workplace
    let path: String

    /// Two entities with rows on many pages each.
    init() throws {
        workplace = try Workplace()
        let url = workplace.folder.appendingPathComponent("store.sqlite")
        path = url.path
        let text = NSAttributeType.stringAttributeType
        let stack = try TestStack(
            NSManagedObjectModel([
                NSEntityDescription("Good", class: "NSManagedObject", [.init("name", text)]),
                NSEntityDescription("Bad", class: "NSManagedObject", [.init("name", text)]),
            ]), url: url)
        for entity in ["Good", "Bad"] {
            for number in 0..<500 {
                NSManagedObject(entity: stack.entity(entity), insertInto: stack.context)
                    .setValue(String(repeating: "\(number) ", count: 50), forKey: "name")
            }
        }
        try stack.context.save()
        try stack.coordinator.remove(stack.coordinator.persistentStores[0])
        #expect(SQLiteFile(url).execute("PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE"))
    }

    /// Overwrites a leaf page in the middle of a table, or its first one.
    private func damage(_ table: String, isRoot: Bool = false) throws {
        let file = SQLiteFile(URL(fileURLWithPath: path))
        let size = try #require(file.integer("PRAGMA page_size"))
        let root = try #require(file.integer("SELECT rootpage FROM sqlite_master WHERE name = '\(table)'"))
        var page = root
        if !isRoot {
            // The root of such a table is an interior page: its cells begin with the numbers of the
            // pages below it.
            let data = try Data(contentsOf: URL(fileURLWithPath: path))
            let start = (root - 1) * size
            let cells = Int(data[start + 3]) << 8 | Int(data[start + 4])
            let pointer = start + 12 + 2 * (cells / 2)
            let cell = start + (Int(data[pointer]) << 8 | Int(data[pointer + 1]))
            page = data[cell..<cell + 4].reduce(0) { $0 << 8 | Int($1) }
        }
        let handle = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        try handle.seek(toOffset: UInt64((page - 1) * size))
        try handle.write(contentsOf: Data(repeating: 0x7F, count: size))
        try handle.close()
    }

    @Test func theRowsAroundADamagedPageCount() throws {
        try damage("ZBAD")
        let run = ToolRun(["info", path])
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.contains("The table ZBAD is damaged"))
        let rows = run.lines.first { $0.hasPrefix("Bad ") }?.split(separator: " ").compactMap { Int($0) } ?? []
        try #require(rows.count == 2, "\(run.output)")
        #expect((400..<500).contains(rows[0]), "\(run.output)")
        #expect(run.lines.first { $0.hasPrefix("Good ") }?.hasSuffix("500") == true, "\(run.output)")
    }

    @Test(arguments: ["ZBAD", "Z_PRIMARYKEY", "Z_MODELCACHE", "Z_METADATA"])
    func whatIsDamagedFromItsFirstPageIsNamed(table: String) throws {
        try damage(table, isRoot: true)
        let run = ToolRun(["info", path])
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.contains("The table \(table) is damaged"), "\(run.output)")
        #expect(run.lines.contains { $0.lowercased().hasPrefix("good ") && $0.hasSuffix("500") }, "\(run.output)")
    }

    @Test(arguments: [false, true])
    func aReportShowsTheRowsBeforeADamagedPage(_ isRoot: Bool) throws {
        try damage("ZBAD", isRoot: isRoot)
        let report = try WrittenReport(path, "--limit", "1000")
        #expect(try report.nodes("//details[summary/h3 = 'Good']//tbody/tr").count == 500)
        #expect(try report.texts("//section[@id='findings']//li").contains { $0.contains("ZBAD is damaged") })
        try report.expectSelfContained()
    }
}

/// `coredata info` of stores whose files of large values are gone.
struct MissingFileTests {
    @Test func theMissingFilesAreNamed() throws {
        let workplace = try Workplace()
        let url = workplace.folder.appendingPathComponent("store.sqlite")
        let data = NSAttributeDescription("data", .binaryDataAttributeType)
        data.allowsExternalBinaryDataStorage = true
        let stack = try TestStack(
            NSManagedObjectModel([NSEntityDescription("Box", class: "NSManagedObject", [data])]), url: url)
        let box = NSManagedObject(entity: stack.entity("Box"), insertInto: stack.context)
        box.setValue(Data(repeating: 7, count: 500_000), forKey: "data")
        try stack.context.save()
        try stack.coordinator.remove(stack.coordinator.persistentStores[0])
        let folder = workplace.folder.appendingPathComponent(".store_SUPPORT/_EXTERNAL_DATA")
        let name = try #require(try FileManager.default.contentsOfDirectory(atPath: folder.path).first)
        try FileManager.default.removeItem(at: folder.appendingPathComponent(name))
        let run = ToolRun(["info", url.path])
        #expect(
            run.output.contains("Box.data of 1 object (p1): the file with the value is missing: \(name)."),
            "\(run.output)")
    }
}
