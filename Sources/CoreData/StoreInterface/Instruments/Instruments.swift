import Dispatch
import Foundation
import Synchronization

/// Hands events to the program's instrument and to the diagnostics. Without them, an event costs
/// one comparison.
package enum Instruments {
    private static let diagnostics = Diagnostics.ofProgram
    private static let isInstalled = Atomic<Bool>(diagnostics != nil)
    private static let installed = Mutex<(any CoreDataInstrument)?>(nil)

    static var instrument: (any CoreDataInstrument)? {
        get { installed.withLock { $0 } }
        set {
            installed.withLock { $0 = newValue }
            isInstalled.store(newValue != nil || diagnostics != nil, ordering: .releasing)
        }
    }

    /// Whether somebody wants events.
    @inline(__always)
    static var wantsEvents: Bool { isInstalled.load(ordering: .relaxed) }

    @inline(__always)
    static func record(_ event: @autoclosure () -> CoreDataEvent) {
        if wantsEvents { deliver(event()) }
    }

    @inline(never)
    private static func deliver(_ event: CoreDataEvent) {
        let instrument = instrument
        instrument?.record(event)
        if let warning = diagnostics?.warning(after: event) { instrument?.record(.warning(warning)) }
    }

    /// The time in nanoseconds; 0 if nobody wants events.
    static var now: Int64 { wantsEvents ? Int64(DispatchTime.now().uptimeNanoseconds) : 0 }

    /// The number of nanoseconds since a time; 0 if nobody wanted events then.
    static func duration(since start: Int64) -> Int64 { start > 0 ? now - start : 0 }

    // MARK: Statements

    /// Whether stores have to tell of their statements.
    package static var wantsStatements: Bool { StatementLog.isOn || wantsEvents }

    /// Tells of a statement that was run.
    ///
    /// - Parameters:
    ///   - sql: the text with parameters.
    ///   - log: the text with the values, and the values that it does not contain.
    package static func statementRan(
        _ sql: String, rows: Int, scannedRows: Int = 0, nanoseconds: Int64, store: String,
        log: () -> (sql: String, values: [String])
    ) {
        let statement = ExecutedStatement(
            sql: sql, rows: rows, scannedRows: scannedRows, nanoseconds: nanoseconds, store: store)
        if StatementLog.isOn { StatementLog.print(statement, log()) }
        record(.statement(statement))
    }
}

/// A duration as a text.
struct Milliseconds: CustomStringConvertible {
    private let nanoseconds: Int64

    init(_ nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    var description: String { String(format: "%.3f ms", Double(nanoseconds) / 1e6) }
}
