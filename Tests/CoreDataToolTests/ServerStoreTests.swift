import CoreData
import TestSupport
import Testing

@testable import CoreDataToolKit

/// Stores on a server, read by their URLs.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server")) struct ServerStoreTests {
    let workplace: Workplace
    let server: PostgreSQLServer
    let url: String
    let file: String

    /// The same objects on the server and in a file.
    init() throws {
        workplace = try Workplace()
        server = try #require(PostgreSQLServer.shared)
        url = server.url(ownSchema: "shop_\(UUID().uuidString.prefix(8).lowercased())").absoluteString
        file = workplace.folder.appendingPathComponent("Shop.sqlite").path
        try Shop.make(at: try #require(URL(string: url)))
        try Shop.make(at: URL(fileURLWithPath: file))
    }

    /// The context of a program that has the store open.
    private func program() throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Shop.model())
        let url = try #require(URL(string: url))
        let type = NSPersistentStore.StoreType(rawValue: NSPersistentStoreDescription(url: url).type)
        try coordinator.addPersistentStore(type: type, at: url)
        return coordinator.newContext()
    }

    private func copies() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: FileManager.default.temporaryDirectory.path).filter {
            $0.hasPrefix("coredata-")
        }
    }

    @Test(arguments: [
        ["query", "STORE", "Product", "--where", "maker.name BEGINSWITH 'S'", "--format", "csv"],
        ["query", "STORE", "Maker", "--expand", "products", "--format", "json"],
        ["query", "STORE", "Product", "--group-by", "maker.name", "--aggregate", "sum:stock"],
        ["get", "STORE", "Product/p2", "--follow", "maker", "--format", "json"],
        ["schema", "STORE"], ["model", "hash", "STORE"], ["diagram", "STORE", "--format", "mermaid"],
        ["export", "STORE"], ["export", "STORE", "--format", "sql"],
    ])
    func itIsReadAsAFileIs(command: [String]) throws {
        let ofServer = ToolRun(command.map { $0 == "STORE" ? url : $0 })
        let ofFile = ToolRun(command.map { $0 == "STORE" ? file : $0 })
        #expect(ofServer.status == 0, "\(ofServer.errors)")
        #expect(Self.withoutNames(ofServer.lines) == Self.withoutNames(ofFile.lines))
    }

    /// The lines that do not name the store.
    private static func withoutNames(_ lines: [Substring]) -> [Substring] {
        lines.filter { !$0.contains("x-coredata://") && !$0.contains(".sqlite") }
    }

    @Test func objectsHaveTheIdentitiesOfTheServer() throws {
        let context = try program()
        let expected = try context.performAndWait {
            for product in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Product"))
            where product.value(forKey: "stock") as? Int == 10 { context.delete(product) }
            try context.save()
            let maker = NSEntityDescription.insertNewObject(forEntityName: "Maker", into: context)
            try context.save()
            return [maker.objectID.uriRepresentation().lastPathComponent]
                + (try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Product"))).map {
                    $0.objectID.uriRepresentation().lastPathComponent
                }.sorted()
        }
        let makers = try ToolRun(["query", url, "Maker", "--where", "name == nil", "--format", "json"]).rows()
        let products = try ToolRun(["query", url, "Product", "--sort", "objectID", "--format", "json"]).rows()
        let shown = (makers + products).map { ($0["objectID"] as? String)?.split(separator: "/").last.map(String.init) }
        #expect(shown == expected)
        let info = try #require(ToolRun(["info", url, "--format", "json"]).json() as? [String: Any])
        let store = context.persistentStoreCoordinator?.persistentStores.first
        #expect(info["uuid"] as? String == store?.identifier)
    }

    @Test func storesOnServersAndInFilesAreCompared() throws {
        let run = ToolRun(["diff", file, url])
        #expect(run.status == 0, "\(run.output)\(run.errors)")
        let context = try program()
        try context.performAndWait {
            _ = NSEntityDescription.insertNewObject(forEntityName: "Maker", into: context)
            try context.save()
        }
        #expect(ToolRun(["diff", file, url]).status == ExitStatus.findings.rawValue)
    }

    @Test func aShellReadsTheStoreOnceAndChangesNothing() throws {
        let run = ToolRun(
            ["shell", url],
            answers: [
                "query Maker --count", "edit insert Maker name=New --yes", "query Maker --count",
                "query Product --limit 1 --columns name --format csv",
            ])
        #expect(run.output.hasPrefix("1\n1\nname\r\n"), "\(run.output)")
        #expect(run.errors.contains("'coredata edit insert' takes a file here"), "\(run.errors)")
    }

    @Test func copiesAreRemoved() throws {
        let before = try copies()
        #expect(ToolRun(["info", url]).status == 0)
        #expect(ToolRun(["query", url, "Nothing"]).status == 1)
        #expect(Set(try copies()).isSubset(of: before))
    }

    @Test(arguments: [
        ["edit", "delete", "STORE", "Maker/p1", "--yes"], ["import", "STORE", "rows.ndjson"], ["repair", "STORE"],
        ["recover", "STORE", "--output", "out.sqlite"], ["check", "STORE"],
    ])
    func commandsThatNeedAFileSaySo(command: [String]) throws {
        let run = ToolRun(command.map { $0 == "STORE" ? "postgresql://app:secret@db.example/shop" : $0 })
        #expect(run.status == 1)
        #expect(run.errors.contains("takes a file here, not a postgresql URL"), "\(run.errors)")
        #expect(!run.errors.contains("secret"))
    }

    @Test func aServerThatCannotBeReadIsNamedWithoutItsPassword() throws {
        let unreachable = ToolRun(["info", "postgresql://app:secret@/shop?host=/nowhere/at/all"])
        #expect(unreachable.status == 1)
        #expect(unreachable.errors.contains("/nowhere/at/all"), "\(unreachable.errors)")
        #expect(!unreachable.errors.contains("secret"), "\(unreachable.errors)")
        let unknown = ToolRun(["info", "mysql://app:secret@db.example/shop"])
        #expect(unknown.status == 1)
        #expect(unknown.errors.contains("cannot read stores at mysql URLs"), "\(unknown.errors)")
        #expect(!unknown.errors.contains("secret"), "\(unknown.errors)")
        let empty = ToolRun(["info", server.url(schema: "nothing_here").absoluteString])
        #expect(empty.status == 1)
        #expect(!empty.errors.isEmpty)
    }

    @Test func aModelThatFitsIsUsedAndAnotherRefused() throws {
        let model = workplace.folder.appendingPathComponent("Shop.xcdatamodel")
        _ = try Shop.model().xcdatamodelContents().write(to: model)
        let run = ToolRun(["query", url, "Maker", "--columns", "name", "--format", "csv", "--model", model.path])
        #expect(run.output == "name\r\nSøren & Sons\r\n", "\(run.errors)")
        let other = workplace.folder.appendingPathComponent("Other.xcdatamodel")
        let changed = Shop.model()
        changed.entities[0].versionHashModifier = "2"
        _ = try changed.xcdatamodelContents().write(to: other)
        let refused = ToolRun(["query", url, "Maker", "--model", other.path])
        #expect(refused.status == 1)
        #expect(refused.errors.contains("Other.xcdatamodel"), "\(refused.errors)")
    }
}
