import CSQLite
import Foundation

/// SQL functions that convert values during a migration.
final class MigrationFunctions {
    private let externalFiles: ExternalFiles?
    /// The changed history bits of each entity, by former entity number.
    private let bits: [Int: ChangedBits]

    private init(_ externalFiles: ExternalFiles?, _ bits: [Int: ChangedBits]) {
        self.externalFiles = externalFiles
        self.bits = bits
    }

    /// Registers the functions; they stay registered until the connection is closed.
    static func register(on connection: SQLiteConnection, externalFiles: ExternalFiles?, plan: SQLMigrationPlan) {
        let functions = MigrationFunctions(externalFiles, changedBits(plan))
        func add(
            _ name: String, _ count: Int32,
            _ function: @escaping @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Void
        ) {
            // SQLite keeps one reference per function until it removes the function.
            let reference = Retained(functions).pointer
            sqlite3_create_function_v2(
                connection.handle, name, count, SQLITE_UTF8 | SQLITE_DIRECTONLY, reference, function, nil, nil,
                { if let functions = $0 { Retained<MigrationFunctions>(pointer: functions).release() } })
        }
        add(SQLFunctionName.externalValue, 1) { context, _, arguments in
            MigrationFunctions.answer(context) { _ in
                MigrationFunctions.data(arguments?[0]).map(ExternalColumn.value(inline:))
            }
        }
        add(SQLFunctionName.plainValue, 1) { context, _, arguments in
            MigrationFunctions.answer(context) { functions in
                try MigrationFunctions.data(arguments?[0]).flatMap {
                    try ExternalFiles.content(ofColumnValue: $0, in: functions.externalFiles)
                }
            }
        }
        add(SQLFunctionName.archivedElement, 2) { context, _, arguments in
            guard let context, let archive = MigrationFunctions.data(arguments?[0]),
                let path = sqlite3_value_text(arguments?[1])
            else {
                if let context { sqlite3_result_null(context) }
                return
            }
            SQLiteFunctions.give(ArchivedComposite.value(at: String(cString: path), in: archive), to: context)
        }
        add(SQLFunctionName.historyColumns, 2) { context, _, arguments in
            MigrationFunctions.answer(context) { functions in
                guard let data = MigrationFunctions.data(arguments?[0]) else { return nil }
                let number = Int(clamping: sqlite3_value_int64(arguments?[1]))
                return functions.bits[number].flatMap { $0.moved(data) }
            }
        }
    }

    /// The new history bit of each former bit, by former entity number.
    ///
    /// Properties that were removed are missing. Entities whose bits do not change are missing too.
    static func changedBits(_ plan: SQLMigrationPlan) -> [Int: ChangedBits] {
        var result: [Int: ChangedBits] = [:]
        for member in plan.successors.values {
            let target = member.target.layout
            let source = member.source.layout
            let (now, former) = (HistoryColumns(member.target), HistoryColumns(member.source))
            var bits: [Int: Int] = [:]
            for slot in target.slots {
                guard let name = member.sourceNames[slot.name], let index = source.slotByPath[name] else { continue }
                // Where only one of the two has a bit for the destination's entity or the position,
                // it has no counterpart.
                for (bit, formerBit) in zip(now.bits[slot.index], former.bits[index]) { bits[formerBit] = bit }
                if let bit = now.positionBits[slot.index], let formerBit = former.positionBits[index] {
                    bits[formerBit] = bit
                }
            }
            if bits.count < former.count || now.byteCount != former.byteCount
                || bits.contains(where: { $0.key != $0.value })
            {
                result[member.source.number] = ChangedBits(columns: now, bits: bits)
            }
        }
        return result
    }

    struct ChangedBits {
        let columns: HistoryColumns
        /// The new bits, by former bit.
        let bits: [Int: Int]

        func moved(_ bytes: Data) -> Data? { columns.set(HistoryColumns.bits(in: bytes).compactMap { bits[$0] }) }
    }

    private static func data(_ value: OpaquePointer?) -> Data? {
        guard let value, sqlite3_value_type(value) != SQLITE_NULL else { return nil }
        guard let bytes = sqlite3_value_blob(value) else { return Data() }
        return Data(bytes: bytes, count: Int(sqlite3_value_bytes(value)))
    }

    private static func answer(_ context: OpaquePointer?, _ value: (MigrationFunctions) throws -> Data?) {
        guard let context, let user = sqlite3_user_data(context) else { return }
        // The connection retains it for as long as the function is registered.
        let functions = Retained<MigrationFunctions>(pointer: user).object
        let answer: Data?
        do { answer = try value(functions) } catch {
            // An error and not NULL: the value exists, and would be lost.
            return sqlite3_result_error(context, error.localizedDescription, -1)
        }
        guard let data = answer else { return sqlite3_result_null(context) }
        data.withUnsafeBytes { bytes in
            if let base = bytes.baseAddress, !bytes.isEmpty {
                sqlite3_result_blob64(context, base, UInt64(bytes.count), SQLiteStatement.transient)
            } else {
                sqlite3_result_zeroblob(context, 0)
            }
        }
    }
}
