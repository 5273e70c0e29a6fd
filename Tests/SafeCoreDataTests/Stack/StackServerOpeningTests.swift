import SafeCoreData
import TestSupport
import Testing

/// Opening stacks on a server.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server"), .timeLimit(.minutes(5)))
struct StackServerOpeningTests {
    private let shop: ServerShop

    init() throws { shop = try ServerShop() }

    @MainActor @Test func nobodyWaitsForAStackThatIsBeingOpened() async throws {
        let gate = Gate()
        let stack = gate.stack(.postgreSQL(shop.url))
        func names() throws -> [String] {
            try stack.readNow { try $0.fetch(NSFetchRequest<ShopItem>(entityName: "Item")).map(\.name) }
        }
        #expect(throws: DataStackError.notOpenYet) { try names() }
        guard case .opening = stack.state else {
            Issue.record("\(stack.state)")
            return gate.open()
        }
        // Asked for before it is open, and served then.
        let writing = Task { try await stack.insertItem("Bolt") }
        gate.open()
        try await stack.opened()
        guard case .open = stack.state else {
            Issue.record("\(stack.state)")
            return
        }
        _ = try await writing.value
        #expect(shop.names == ["Bolt"])
        #expect(try names() == ["Bolt"])
        try await stack.close()
    }

    @Test func aStackFindsWhatAnotherHasSaved() async throws {
        let first = shop.stack()
        try await first.insertItem("Bolt")
        try await first.close()
        let second = shop.stack()
        #expect(try await second.itemNames() == ["Bolt"])
        try await second.close()
    }

    @Test func aStackWhoseServerIsNotThereSaysWhy() async throws {
        let url = try #require(URL(string: "postgresql:///app?host=/nowhere/at/all&user=app"))
        let stack = DataStack(model: Shop.model(), store: .postgreSQL(url))
        let error = await #expect(throws: (any Error).self) { try await stack.opened() }
        #expect(error?.localizedDescription.contains("/nowhere/at/all") == true)
        await #expect(throws: (any Error).self) { try await stack.insertItem("Bolt") }
        guard case .failed = stack.state else {
            Issue.record("\(stack.state)")
            return
        }
    }

    // MARK: Passwords

    /// The errors after a wrong password, from each place where a stack may have it.
    @Test(arguments: [true, false]) func errorsOfAStackShowNoPassword(isInURL: Bool) async throws {
        let server = try #require(PostgreSQLServer.shared)
        let place = "/\(server.database)?host=\(server.socketFolder)&ocd.schema=\(shop.tables.schema)"
        let url = try #require(
            URL(
                string: isInURL
                    ? "postgresql://\(server.scramUser):tell%20nobody@\(place)"
                    : "postgresql://\(place)&user=\(server.scramUser)"))
        var options = DataStackOptions()
        if !isInURL { options.password = { "tell nobody" } }
        let stack = DataStack(model: Shop.model(), store: .postgreSQL(url), options: options)
        let error = await #expect(throws: (any Error).self) { try await stack.opened() }
        let shown =
            error.map { "\($0) \(String(reflecting: $0)) \($0.localizedDescription) \(($0 as NSError).userInfo)" } ?? ""
        #expect(shown.contains("28P01"))
        #expect(!shown.contains("nobody"), "\(shown)")
        #expect(!"\(stack.state)".contains("nobody"))
        let destroying = await #expect(throws: (any Error).self) { try await stack.destroy() }
        #expect(!(destroying.map { "\($0) \(($0 as NSError).userInfo)" } ?? "").contains("nobody"))
    }
}
