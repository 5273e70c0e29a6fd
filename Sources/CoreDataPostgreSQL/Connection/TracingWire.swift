import CoreData
import Dispatch

/// A connection that tells of its statements.
final class TracingWire: DatabaseWire {
    private let wire: any DatabaseWire
    private let store: String

    /// - Parameter store: the name of the store in the log.
    init(_ wire: any DatabaseWire, store: String) {
        self.wire = wire
        self.store = store
    }

    var facts: WireFacts { wire.facts }
    var isUsable: Bool { wire.isUsable }

    var keepsStatements: Bool {
        get { wire.keepsStatements }
        set { wire.keepsStatements = newValue }
    }

    var longestSilence: Double? {
        get { wire.longestSilence }
        set { wire.longestSilence = newValue }
    }

    var statementEnding: @Sendable () -> Void { wire.statementEnding }

    func execute(_ statement: WireStatement, rows: (WireRow) throws -> Void) throws -> Int {
        let count = try traced([statement]) { [try wire.execute(statement, rows: rows)] }[0]
        printPlan(of: statement)
        return count
    }

    func executeAll(_ statements: [WireStatement], rows: (Int, WireRow) throws -> Void) throws -> [Int] {
        try traced(statements) { try wire.executeAll(statements, rows: rows) }
    }

    func copy(_ sql: String, _ body: ((UnsafeRawBufferPointer) throws -> Void) throws -> Void) throws -> Int {
        try traced([WireStatement(sql)]) { [try wire.copy(sql, body)] }[0]
    }

    func run(_ sql: String) throws {
        _ = try traced([WireStatement(sql)]) {
            try wire.run(sql)
            return [0]
        }
    }

    func notifications(within seconds: Double) throws -> [WireNotification] {
        try wire.notifications(within: seconds)
    }

    func cancel() { wire.cancel() }
    func close() { wire.close() }

    /// Runs statements and tells of them. The time is that of their round trip.
    private func traced(_ statements: [WireStatement], _ body: () throws -> [Int]) throws -> [Int] {
        let start = DispatchTime.now().uptimeNanoseconds
        var counts: [Int] = []
        defer {
            let nanoseconds = Int64(DispatchTime.now().uptimeNanoseconds - start)
            for (index, statement) in statements.enumerated() {
                Instruments.statementRan(
                    statement.sql, rows: index < counts.count ? counts[index] : 0, nanoseconds: nanoseconds,
                    store: store
                ) { (statement.sql, statement.arguments.texts) }
            }
        }
        counts = try body()
        return counts
    }

    /// Prints the plan of a query, if the log shows plans. A server that gives none is left alone.
    private func printPlan(of statement: WireStatement) {
        guard StatementLog.showsPlans, statement.sql.hasPrefix("SELECT") else { return }
        var lines: [String] = []
        // A failure would end the transaction: what has been run can be explained.
        let explained = WireStatement("EXPLAIN " + statement.sql, statement.arguments)
        _ = try? wire.execute(explained) { row in row.string(0).map { lines.append($0) } }
        StatementLog.printPlan(lines, of: statement.sql)
    }
}

extension WireArguments {
    /// The values as texts, for the log. Those of other types than numbers and texts are told by
    /// their size.
    fileprivate var texts: [String] {
        (0..<count).map { index in
            let length = Int(lengths[index])
            if length < 0 { return "NULL" }
            let value = bytes[offsets[index]..<(offsets[index] + length)]
            func integer() -> UInt64 { value.reduce(0) { $0 << 8 | UInt64($1) } }
            switch types[index] {
            case WireType.boolean: return integer() == 0 ? "false" : "true"
            case WireType.int2: return String(Int16(truncatingIfNeeded: integer()))
            case WireType.int4: return String(Int32(truncatingIfNeeded: integer()))
            case WireType.int8: return String(Int64(bitPattern: integer()))
            case WireType.float8: return String(Double(bitPattern: integer()))
            case WireType.text, WireType.varchar, WireType.bpchar:
                return "'" + String(decoding: value, as: UTF8.self).replacingOccurrences(of: "'", with: "''") + "'"
            default: return "(\(length) bytes)"
            }
        }
    }
}
