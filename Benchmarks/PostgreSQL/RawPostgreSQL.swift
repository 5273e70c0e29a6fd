import CPostgreSQL
import Foundation

/// libpq with as little around it as Swift allows, in its best form: prepared statements, binary
/// both ways, rows as they come.
final class RawPostgreSQL {
    struct Failure: Error {
        let message: String
    }

    let connection: OpaquePointer

    init(_ connectionString: String, schema: String) throws {
        connection = PQconnectdb(connectionString)
        guard PQstatus(connection) == CONNECTION_OK else { throw failure() }
        try run("SET search_path TO \(schema)")
    }

    deinit { PQfinish(connection) }

    private func failure() -> Failure { Failure(message: String(cString: PQerrorMessage(connection))) }

    /// Runs SQL without arguments.
    func run(_ sql: String) throws {
        let result = PQexec(connection, sql)
        defer { PQclear(result) }
        try check(result)
    }

    func check(_ result: OpaquePointer?) throws {
        let status = PQresultStatus(result)
        if status != PGRES_COMMAND_OK, status != PGRES_TUPLES_OK, status != PGRES_SINGLE_TUPLE,
            status != PGRES_PIPELINE_SYNC
        {
            throw failure()
        }
    }

    func prepare(_ name: String, _ sql: String) throws {
        let result = PQprepare(connection, name, sql, 0, nil)
        defer { PQclear(result) }
        try check(result)
    }

    /// Sends a prepared statement with arguments in binary form.
    func send(_ name: String, _ arguments: RawBytes...) throws {
        let lengths = arguments.map { Int32($0.count) }
        let formats = arguments.map { _ in Int32(1) }
        let values = arguments.map { UnsafePointer<CChar>?($0.start.assumingMemoryBound(to: CChar.self)) }
        guard PQsendQueryPrepared(connection, name, Int32(arguments.count), values, lengths, formats, 1) == 1 else {
            throw failure()
        }
    }

    /// Takes the rows of what was sent, as they come.
    func rows(_ body: (OpaquePointer, Int32) -> Void) throws {
        PQsetSingleRowMode(connection)
        while let result = PQgetResult(connection) {
            defer { PQclear(result) }
            try check(result)
            for row in 0..<PQntuples(result) { body(result, row) }
        }
    }

    /// Takes what a pipeline gives, which has no rows, and leaves the pipeline's mode.
    func finishPipeline() throws {
        var isComplete = false
        while !isComplete {
            guard let result = PQgetResult(connection) else { continue }
            defer { PQclear(result) }
            try check(result)
            isComplete = PQresultStatus(result) == PGRES_PIPELINE_SYNC
        }
        PQexitPipelineMode(connection)
    }

    /// Copies rows that a closure appends, which says when there are no more.
    func copy(_ sql: String, _ appendRow: (RawBytes) -> Bool) throws {
        PQclear(PQexec(connection, sql))
        let bytes = RawBytes(capacity: 1 << 17)
        for byte: UInt8 in [0x50, 0x47, 0x43, 0x4f, 0x50, 0x59, 0x0a, 0xff, 0x0d, 0x0a, 0, 0, 0, 0, 0, 0, 0, 0, 0] {
            bytes.append(byte)
        }
        func send() {
            _ = PQputCopyData(connection, bytes.start.assumingMemoryBound(to: CChar.self), Int32(bytes.count))
            bytes.count = 0
        }
        while appendRow(bytes) { if bytes.count > 1 << 16 { send() } }
        bytes.append(Int16(-1))
        send()
        PQputCopyEnd(connection, nil)
        while let result = PQgetResult(connection) {
            defer { PQclear(result) }
            try check(result)
        }
    }

    // MARK: Values

    @inline(__always)
    static func int8(_ result: OpaquePointer, _ row: Int32, _ column: Int32) -> Int64 {
        guard let value = PQgetvalue(result, row, column) else { return 0 }
        return Int64(bigEndian: UnsafeRawPointer(value).loadUnaligned(as: Int64.self))
    }

    @inline(__always)
    static func double(_ result: OpaquePointer, _ row: Int32, _ column: Int32) -> Double {
        Double(bitPattern: UInt64(bitPattern: int8(result, row, column)))
    }

    @inline(__always)
    static func text(_ result: OpaquePointer, _ row: Int32, _ column: Int32) -> String? {
        if PQgetisnull(result, row, column) != 0 { return nil }
        return PQgetvalue(result, row, column).map { String(cString: $0) }
    }
}

/// Bytes in network order that grow.
final class RawBytes {
    private(set) var start: UnsafeMutableRawPointer
    private var capacity: Int
    var count = 0

    init(capacity: Int) {
        self.capacity = max(capacity, 64)
        start = UnsafeMutableRawPointer.allocate(byteCount: self.capacity, alignment: 8)
    }

    /// One number.
    convenience init(_ value: Int64) {
        self.init(capacity: 8)
        append(value)
    }

    convenience init(_ text: String) {
        self.init(capacity: text.utf8.count)
        for byte in text.utf8 { append(byte) }
    }

    /// An array of numbers.
    convenience init(_ values: some Collection<Int64>) {
        self.init(capacity: 20 + 12 * values.count)
        for number in [1, 0, 20, Int32(values.count), 1] { append(number) }
        for value in values {
            append(Int32(8))
            append(value)
        }
    }

    deinit { start.deallocate() }

    @inline(__always)
    func append(_ value: some FixedWidthInteger) {
        let size = value.bitWidth / 8
        if count + size > capacity { grow() }
        (start + count).storeBytes(of: value.bigEndian, as: type(of: value))
        count += size
    }

    private func grow() {
        let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity * 2, alignment: 8)
        larger.copyMemory(from: start, byteCount: count)
        start.deallocate()
        start = larger
        capacity *= 2
    }
}
