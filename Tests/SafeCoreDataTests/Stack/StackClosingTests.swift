import SafeCoreData
import TestSupport
import Testing

/// Closing, destroying and replacing a stack's store.
struct StackClosingTests {
    let folder: TemporaryFolder
    let url: URL
    let stack: DataStack

    init() throws {
        folder = try TemporaryFolder()
        url = folder.file("shop.sqlite")
        stack = DataStack(model: Shop.model(), store: .file(url))
    }

    @Test func requestsMadeBeforeClosingAreServedAndLaterOnesFail() async throws {
        let log = Log()
        for number in 1...10 {
            stack.write { context in
                let item = ShopItem(context: context)
                item.name = "\(number)"
            } completion: { result in
                if case .success = result { log.add("saved") }
            }
        }
        try await stack.close()
        #expect(log.all == Array(repeating: "saved", count: 10))
        #expect(SQLiteFile(url).integer("SELECT COUNT(*) FROM ZITEM") == 10)
        await #expect(throws: DataStackError.closed) { try await stack.write { _ in } }
        await #expect(throws: DataStackError.closed) { try await stack.read { _ in } }
        await #expect(throws: DataStackError.closed) { try await stack.opened() }
    }

    @Test func closingWithRequestsInFlightServesOrRefusesEachOfThem() async throws {
        let stack = stack
        try await stack.insertItem("Bolt")
        let outcomes = await withTaskGroup(of: String.self) { group in
            for number in 0..<60 {
                group.addTask {
                    do {
                        if number == 30 {
                            try await stack.close()
                        } else if number.isMultiple(of: 2) {
                            _ = try await stack.itemNames()
                        } else {
                            try await stack.insertItem("\(number)")
                        }
                        return "served"
                    } catch DataStackError.closed {
                        return "closed"
                    } catch {
                        return "\(error)"
                    }
                }
            }
            return await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(outcomes.isSubset(of: ["served", "closed"]))
        #expect(outcomes.contains("served"))
    }

    @Test func aClosedStackIsOpenedAgain() async throws {
        try await stack.insertItem("Bolt")
        #expect(try await stack.itemNames() == ["Bolt"])
        try await stack.close()
        try await stack.close()
        try await stack.reopen()
        try await stack.reopen()
        #expect(try await stack.itemNames() == ["Bolt"])
        try await stack.insertItem("Nut")
        #expect(try await stack.itemNames() == ["Bolt", "Nut"])
    }

    private func names(of states: AsyncStream<DataStack.State>) async -> [String] {
        var names: [String] = []
        for await state in states { names.append("\(state)") }
        return names
    }

    @Test func theStatesEndWhenTheStackIsClosed() async throws {
        try await stack.opened()
        let states = [stack.states, stack.states]
        try await stack.close()
        for states in states { #expect(await names(of: states) == ["open", "closed"]) }
    }

    @Test func theStatesOfAClosedStackAreThatItIsClosed() async throws {
        try await stack.close()
        #expect(await names(of: stack.states) == ["closed"])
    }

    @Test func theStatesAfterAReopeningAreFollowedAnew() async throws {
        try await stack.close()
        try await stack.reopen()
        let states = stack.states
        try await stack.destroy()
        #expect(await names(of: states) == ["open", "closed"])
    }

    @Test func theStatesGoOnWhileTheStoreIsReplaced() async throws {
        let other = DataStack(model: Shop.model(), store: .file(folder.file("other.sqlite")))
        try await other.insertItem("Nut")
        try await other.close()
        try await stack.opened()
        let states = stack.states
        try await stack.replaceStore(withCopyOf: folder.file("other.sqlite"))
        try await stack.close()
        #expect(await names(of: states) == ["open", "opening", "open", "closed"])
    }

    @Test func aDestroyedStoreIsEmptyWhenOpenedAgain() async throws {
        try await stack.insertItem("Bolt")
        #expect(try await stack.itemNames() == ["Bolt"])
        try await stack.destroy()
        await #expect(throws: DataStackError.closed) { try await stack.write { _ in } }
        try await stack.destroy()
        try await stack.reopen()
        #expect(try await stack.itemNames() == [])
    }

    @Test func othersFindADestroyedStoreEmptyAndShareWhatComesAfter() async throws {
        try await stack.insertItem("Bolt")
        let url = try #require(stack.location.url)
        let other = DataStack(model: Shop.model(), store: .file(url))
        #expect(try await other.itemNames() == ["Bolt"])
        try await stack.destroy()
        #expect(FileManager.default.fileExists(atPath: url.path))
        await #expect(throws: (any Error).self) { try await other.insertItem("Lost") }
        try await stack.reopen()
        try await stack.insertItem("Nut")
        try await other.close()
        try await other.reopen()
        #expect(try await other.itemNames() == ["Nut"])
    }

    @Test func aStackSharesADatabaseInMemoryByItsName() async throws {
        let location = StoreLocation.file(URL(fileURLWithPath: "/dev/null/\(UUID().uuidString)"))
        let (first, second) = (
            DataStack(model: Shop.model(), store: location), DataStack(model: Shop.model(), store: location)
        )
        try await first.insertItem("Bolt")
        #expect(try await second.itemNames() == ["Bolt"])
        try await first.destroy()
        try await second.close()
        try await second.reopen()
        #expect(try await second.itemNames() == [])
    }

    @Test func aStoreIsReplacedByAnother() async throws {
        let other = DataStack(model: Shop.model(), store: .file(folder.file("other.sqlite")))
        try await other.insertItem("Nut")
        try await other.close()
        try await stack.insertItem("Bolt")
        #expect(try await stack.itemNames() == ["Bolt"])
        try await stack.replaceStore(withCopyOf: folder.file("other.sqlite"))
        #expect(try await stack.itemNames() == ["Nut"])
        try await stack.insertItem("Screw")
        #expect(try itemNames(in: url) == ["Nut", "Screw"])
        #expect(try itemNames(in: folder.file("other.sqlite")) == ["Nut"])
    }

    @Test func requestsMadeWhileTheStoreIsReplacedAreServedFromTheNewOne() async throws {
        let other = DataStack(model: Shop.model(), store: .file(folder.file("other.sqlite")))
        try await other.insertItem("Nut")
        try await other.close()
        let stack = stack
        let source = folder.file("other.sqlite")
        let log = Log()
        let gate = DispatchSemaphore(value: 0)
        stack.write { _ in
            gate.wait()
        } completion: { _ in
        }
        async let replaced: Void = stack.replaceStore(withCopyOf: source)
        gate.signal()
        try await replaced
        try await stack.write { context in
            for item in try context.fetch(NSFetchRequest<ShopItem>(entityName: "Item")) { log.add(item.name) }
        }
        #expect(log.all == ["Nut"])
    }

    // MARK: Every kind of store

    /// A stack in a place of its own, and where that would be if it were a file.
    private func stack(_ kind: StoreKind, _ name: String) -> (stack: DataStack, file: URL) {
        let file = folder.file(name)
        return (DataStack(model: Shop.model(), store: kind.location(file)), file)
    }

    @Test(arguments: StoreKind.allCases) func nothingIsLeftOfADestroyedStore(kind: StoreKind) async throws {
        let (stack, file) = stack(kind, "kind.sqlite")
        try await stack.insertItem("Bolt")
        try await stack.destroy()
        if kind != .inMemory { #expect(StoreTables(kind, file).value("SELECT count(*) FROM {item}") != "1") }
        try await stack.destroy()
        try await stack.reopen()
        #expect(try await stack.itemNames() == [])
        try await stack.insertItem("Nut")
        #expect(try await stack.itemNames() == ["Nut"])
        try await stack.close()
    }

    @Test(arguments: StoreKind.persistent) func aStoreIsReplacedByAnotherOfItsKind(kind: StoreKind) async throws {
        let (other, otherFile) = stack(kind, "source.sqlite")
        try await other.insertItem("Nut")
        try await other.close()
        let (stack, file) = stack(kind, "kind.sqlite")
        try await stack.insertItem("Bolt")
        try await stack.replaceStore(withCopyOf: try #require(kind.url(otherFile)))
        #expect(try await stack.itemNames() == ["Nut"])
        try await stack.insertItem("Screw")
        try await stack.close()
        #expect(StoreTables(kind, file).column("SELECT {name} FROM {item} ORDER BY {name}") == ["Nut", "Screw"])
        #expect(StoreTables(kind, otherFile).column("SELECT {name} FROM {item}") == ["Nut"])
    }

    @Test(arguments: StoreKind.persistent) func aStoreThatIsNotThereReplacesNone(kind: StoreKind) async throws {
        let (stack, _) = stack(kind, "kind.sqlite")
        try await stack.insertItem("Bolt")
        let nowhere = try #require(kind.url(folder.file("none.sqlite")))
        await #expect(throws: CocoaError.self) { try await stack.replaceStore(withCopyOf: nowhere) }
        #expect(try await stack.itemNames() == ["Bolt"])
        try await stack.close()
    }

    @Test(arguments: StoreKind.persistent) func aStoreOfAnotherKindReplacesNone(kind: StoreKind) async throws {
        let (stack, _) = stack(kind, "kind.sqlite")
        try await stack.insertItem("Bolt")
        let server = try #require(URL(string: "postgresql://app:secret@db.example/shop"))
        let source = kind == .postgreSQL ? folder.file("other.sqlite") : server
        let error = await #expect(throws: DataStackError.self) { try await stack.replaceStore(withCopyOf: source) }
        #expect(error?.description.contains("its own type") == true)
        #expect(error?.description.contains("secret") == false)
        #expect(try await stack.itemNames() == ["Bolt"])
        try await stack.close()
    }

    /// The password of the stack's connections is that of the one that destroys or replaces, too.
    @Test(.enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server"))
    func aStoreBehindAPasswordIsReplacedAndDestroyed() async throws {
        let server = try #require(PostgreSQLServer.shared)
        let tables = PostgreSQLTables(server.url())
        func location(_ schema: String) throws -> URL {
            #expect(tables.execute("CREATE SCHEMA \(schema) AUTHORIZATION \(server.scramUser)"))
            let text = server.url(schema: schema).absoluteString
            return try #require(
                URL(string: text.replacingOccurrences(of: "user=\(server.user)", with: "user=\(server.scramUser)")))
        }
        var options = DataStackOptions()
        options.password = { server.password }
        let schemas = (0..<2).map { _ in server.newSchemaName() }
        let urls = try schemas.map(location)
        let stacks = urls.map { DataStack(model: Shop.model(), store: .postgreSQL($0), options: options) }
        try await stacks[0].insertItem("Bolt")
        try await stacks[1].insertItem("Nut")
        try await stacks[0].replaceStore(withCopyOf: urls[1])
        #expect(try await stacks[0].itemNames() == ["Nut"])
        try await stacks[0].destroy()
        #expect(tables.value("SELECT count(*) FROM pg_tables WHERE schemaname = '\(schemas[0])'") == "0")
        #expect(tables.value("SELECT count(*) FROM \(schemas[1]).item") == "1")
        try await stacks[1].close()
    }

    @Test func aStoreThatCannotBeReplacedStays() async throws {
        try await stack.insertItem("Bolt")
        await #expect(throws: (any Error).self) { try await stack.replaceStore(withCopyOf: folder.file("none.sqlite")) }
        #expect(try await stack.itemNames() == ["Bolt"])
        await #expect(throws: DataStackError.noFile) {
            try await DataStack(model: Shop.model()).replaceStore(withCopyOf: url)
        }
    }

    @MainActor @Test func viewsOfAClosedStackDoNotStopTheProgram() async throws {
        try await stack.write { context in
            let item = ShopItem(context: context)
            item.name = "Bolt"
            let supplier = ShopSupplier(context: context)
            supplier.name = "ACME"
            item.supplier = supplier
        }
        let views = try await stack.read { try $0.fetch(NSFetchRequest<ShopItem>(entityName: "Item")) }
        try await stack.close()
        #expect(views.map(\.name) == [""])
        #expect(views[0].supplier == nil)
        #expect(views[0].managedObjectContext == nil)
        #expect(views[0].description.contains("Item"))
    }
}
