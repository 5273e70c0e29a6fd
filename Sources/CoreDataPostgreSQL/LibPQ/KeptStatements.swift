import CPostgreSQL
import CoreData

/// A statement whose plan the server keeps for a connection.
final class KeptStatement {
    let sql: String
    let types: [UInt32]
    /// The name, which no other statement of the connection had or will have.
    let name: String
    /// Whether the server has confirmed that it has the statement.
    var isPrepared = false
    fileprivate(set) var lastUse = 0

    fileprivate init(sql: String, types: [UInt32], number: Int) {
        self.sql = sql
        self.types = types
        name = "ocd_\(number)"
    }
}

/// The statements that the server keeps for a connection, by their text.
struct KeptStatements {
    /// The number of statements that are kept. A transaction may need more for as long as it runs.
    static let limit = 256
    /// The number of statements that are given up at once, so that not every new statement costs a
    /// round trip to give up an old one.
    private static let portion = 32

    private var statements: [String: KeptStatement] = [:]
    /// Names that the server still knows and that are not used any more.
    private var abandoned: [String] = []
    private var uses = 0
    private var names = 0

    var count: Int { statements.count }

    /// Returns the statement with this text and these types of arguments.
    mutating func find(_ statement: WireStatement) -> KeptStatement? {
        guard let found = statements[statement.sql], found.types == statement.arguments.types else { return nil }
        uses += 1
        found.lastUse = uses
        return found
    }

    /// Adds a statement that is to be prepared. It replaces one with the same text and other types.
    mutating func add(_ statement: WireStatement) -> KeptStatement {
        names += 1
        uses += 1
        let added = KeptStatement(sql: statement.sql, types: statement.arguments.types, number: names)
        added.lastUse = uses
        if let earlier = statements.updateValue(added, forKey: statement.sql), earlier.isPrepared {
            abandoned.append(earlier.name)
        }
        return added
    }

    /// Gives up a statement: the server does not know it, or has a plan for it that no longer fits.
    mutating func forget(_ statement: KeptStatement, isOnServer: Bool) {
        if statements[statement.sql] === statement { statements[statement.sql] = nil }
        if isOnServer { abandoned.append(statement.name) }
    }

    /// Forgets all statements, because the server may know other ones by these names.
    mutating func removeAll() {
        statements = [:]
        abandoned = []
    }

    /// Returns the SQL that gives up the least recently used statements, and those that no longer
    /// fit; nil where there is room.
    mutating func makeRoom() -> String? {
        guard statements.count >= Self.limit || abandoned.count >= Self.portion else { return nil }
        if statements.count >= Self.limit {
            let oldest = statements.values.sorted { $0.lastUse < $1.lastUse }.prefix(
                statements.count - Self.limit + Self.portion)
            for statement in oldest { forget(statement, isOnServer: statement.isPrepared) }
        }
        let names = abandoned
        abandoned = []
        return names.map { "DEALLOCATE \($0)" }.joined(separator: ";")
    }
}
