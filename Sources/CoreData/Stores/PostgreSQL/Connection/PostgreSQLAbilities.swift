import Synchronization

/// What a server does of what a store would have it do.
///
/// Others that speak PostgreSQL's protocol do less. What one does is found out by asking for it, never by its name or version: whoever makes
/// tables begins with everything, and anew without what was refused.
struct PostgreSQLAbilities: Sendable {
    enum Ability: Sendable {
        /// Locks of programs' own, until a transaction ends.
        case advisoryLocks
        /// Locks of whole tables.
        case tableLocks
        /// Uniqueness that is looked at when a transaction ends: rows may exchange their values.
        case deferredUniqueness
        /// Foreign keys that are looked at when a transaction ends.
        case foreignKeys
        /// Ways back to the middle of a transaction that changes tables.
        case savepoints
        /// Having constraints looked at earlier or later than they are by themselves.
        case constraintModes
        /// Saying how large values of a column are kept.
        case storageForms
        /// Columns whose texts are said to be ordered by code points.
        case codePointColumns
        case functions
        /// Orders of texts by the rules of a language.
        case collations
    }

    /// What was refused, with the server's words.
    private var refusals: [Ability: String] = [:]
    /// The indexes that were refused, by their names, with the server's words.
    private(set) var refusedIndexes: [String: String] = [:]

    func has(_ ability: Ability) -> Bool { refusals[ability] == nil }

    /// Why there is none of something; nil where there is.
    func refusal(_ ability: Ability) -> String? { refusals[ability] }

    private enum Lacking: Error {
        case ability(Ability, WireError)
        case index(String, WireError)
    }

    /// Does what needs an ability, or what is done in its place.
    ///
    /// - Throws: what begins `found(_:)` anew, where the server does not know what it is asked for.
    func trying<Result>(_ ability: Ability, _ body: () throws -> Result) throws -> Result {
        do { return try body() } catch let error as WireError where has(ability) && Self.isRefusal(error, of: ability) {
            throw Lacking.ability(ability, error)
        }
    }

    /// Does what needs an ability, where the server has it.
    func ifThere(_ ability: Ability, _ body: () throws -> Void) throws {
        if has(ability) { try trying(ability, body) }
    }

    private static func isRefusal(_ error: WireError, of ability: Ability) -> Bool {
        switch ability {
        // Old versions do not know how they are written, which is no reason to do without.
        case .functions: error.isUnsupported
        case .savepoints: error.isUnknownToServer || error.isOutsideTransaction
        default: error.isUnknownToServer
        }
    }

    /// Makes an index.
    func tryingIndex(_ name: String, _ body: () throws -> Void) throws {
        do { try body() } catch let error as WireError where refusedIndexes[name] == nil && error.isUnknownToServer {
            throw Lacking.index(name, error)
        }
    }

    /// Does what takes abilities, anew without each that turns out to be missing.
    ///
    /// - Parameter body: whatever it has done before it throws is undone.
    static func found<Result>(_ body: (PostgreSQLAbilities) throws -> Result) throws -> Result {
        var abilities = PostgreSQLAbilities()
        while true {
            do { return try body(abilities) } catch let lacking as Lacking {
                switch lacking {
                case .ability(let ability, let error): abilities.refusals[ability] = error.message
                case .index(let name, let error): abilities.refusedIndexes[name] = error.message
                }
            }
        }
    }

    /// What programs should know of what a store is made without.
    var sentences: [String] {
        let known: [(Ability, String)] = [
            (.foreignKeys, "has no foreign keys: rows that other programs delete leave references that lead nowhere"),
            (.functions, "has no functions, and requests that take them are refused"),
            (.collations, "orders no texts by the rules of a language"),
        ]
        return known.compactMap { ability, sentence in refusals[ability].map { "\(sentence) (the server says: \($0))" } }
    }
}

/// What a server has refused since a store was opened there.
final class PostgreSQLRefusals: Sendable {
    /// What transactions call or say, and a store does without.
    enum Service: UInt, CaseIterable, Sendable {
        /// Telling who listens of a transaction.
        case notifications
        /// Locks of programs' own and of tables.
        case locks
        /// Having constraints looked at when a transaction ends.
        case constraintModes
        /// The numbers of transactions.
        case transactionNumbers

        /// What stands in the statements that take it.
        fileprivate var words: [String] {
            switch self {
            case .notifications: ["pg_notify("]
            case .locks: ["pg_advisory_xact_lock(", "LOCK TABLE"]
            case .constraintModes: ["SET CONSTRAINTS"]
            case .transactionNumbers: ["pg_current_xact_id("]
            }
        }

        /// Asks for it by itself, where triggers of others may have failed in the statement that took it.
        fileprivate var question: WireStatement? {
            switch self {
            case .notifications: WireStatement("SELECT pg_notify('ocd_probe', '')::text")
            case .constraintModes: WireStatement("SET CONSTRAINTS ALL IMMEDIATE")
            case .locks, .transactionNumbers: nil
            }
        }

        fileprivate var bit: UInt { 1 << rawValue }
    }

    private let refused = Atomic<UInt>(0)

    func has(_ service: Service) -> Bool { refused.load(ordering: .relaxed) & service.bit == 0 }

    private func note(_ service: Service) { refused.bitwiseOr(service.bit, ordering: .relaxed) }

    /// Whether the server does not know what a statement has asked for, which is done without from now on.
    ///
    /// - Parameter connection: gives one, outside of transactions.
    func explain(_ error: WireError, _ connection: ((PostgreSQLConnection) throws -> Void) throws -> Void) -> Bool {
        guard error.isUnknownToServer || error.lacksSystemColumn, let statement = error.statement,
            let service = Service.allCases.first(where: { $0.words.contains(where: statement.contains) })
        else { return false }
        if !has(service) { return true }
        guard service.question != nil else {
            note(service)
            return true
        }
        try? connection { try self.ask(for: [service], $0) }
        return !has(service)
    }

    /// Asks the server, outside of a transaction.
    func ask(for services: [Service], _ connection: PostgreSQLConnection) throws {
        for service in services where has(service) {
            guard let question = service.question else { continue }
            do {
                try connection.execute(question)
            } catch let error as WireError where error.isUnknownToServer {
                note(service)
            } catch let error as WireError where error.sqlState == "42501" {
                // The server has what this role may not use.
            }
        }
    }
}
