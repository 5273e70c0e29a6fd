import CoreData
import TestSupport
import Testing

/// No kind of store is omitted from a run without a word: for each omitted one a test is skipped,
/// and says why.
struct StoreKindTests {
    @Test(.presence(of: .sqlite)) func testsRunOnStoresOfSQLite() throws { try expectStores(of: .sqlite) }

    @Test(.presence(of: .inMemory)) func testsRunOnStoresInMemory() throws { try expectStores(of: .inMemory) }

    @Test(.presence(of: .postgreSQL)) func testsRunOnStoresOfPostgreSQL() throws { try expectStores(of: .postgreSQL) }

    private func stack(_ kind: StoreKind) throws -> TestStack {
        try TestStack(
            [NSEntityDescription("Item", class: "NSManagedObject", [.init("name", .stringAttributeType)])], kind: kind)
    }

    private func expectStores(of kind: StoreKind) throws {
        #expect(StoreKind.allCases.contains(kind))
        #expect(try stack(kind).coordinator.persistentStores.map(\.type) == [kind.type])
    }

    @Test(.presence(of: .postgreSQL)) func aPoolerStandsBeforeStoresOfPostgreSQLWhereTheRunIsToHaveOne() throws {
        let stack = try stack(.postgreSQL)
        #expect(Pooler.answers(at: stack.url) == Pooler.isWanted)
        // The second path goes past it.
        let tables = PostgreSQLTables(stack.url)
        #expect(tables.integer("SELECT pg_backend_pid()") == Int(tables.processID))
    }
}

extension Trait where Self == ConditionTrait {
    fileprivate static func presence(of kind: StoreKind) -> Self {
        .enabled(if: kind.absence == nil, "no test runs on stores of the kind \(kind): \(kind.absence ?? "")")
    }
}
