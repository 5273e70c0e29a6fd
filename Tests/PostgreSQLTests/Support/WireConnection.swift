import CoreData
import Foundation
import TestSupport
import Testing

@testable import CoreDataPostgreSQL

/// Connections to the tests' own server.
enum WireConnection {
    static func server() throws -> PostgreSQLServer { try #require(PostgreSQLServer.shared) }

    /// - Parameter place: a connection string, unless it is the database of all tests.
    static func open(_ place: String? = nil) throws -> LibPQConnection {
        let target = WireTarget(connection: try place ?? server().url().absoluteString)
        return try #require(try LibPQDriver.connect(target) as? LibPQConnection)
    }

    /// A connection whose tables are in a schema of its own.
    static func openWithSchema() throws -> LibPQConnection {
        let connection = try open()
        let schema = try server().newSchemaName()
        try connection.run("CREATE SCHEMA \(schema); SET search_path TO \(schema)")
        return connection
    }
}

/// A value of the tests, as it goes to the server.
enum Argument {
    case int8(Int64)
    case text(String)
    case bytes([UInt8])
    case null(UInt32)
    /// A type and its bytes.
    case raw(UInt32, [UInt8])

    func append(to arguments: inout WireArguments) {
        switch self {
        case .int8(let value): arguments.append(WireType.int8) { $0.append(value) }
        case .text(let value): arguments.append(WireType.text) { $0.append(utf8: value) }
        case .bytes(let value):
            arguments.append(WireType.bytea) { writer in value.withUnsafeBufferPointer { writer.append($0) } }
        case .null(let type): arguments.appendNull(type)
        case .raw(let type, let value):
            arguments.append(type) { writer in value.withUnsafeBufferPointer { writer.append($0) } }
        }
    }
}

extension WireStatement {
    init(_ sql: String, _ values: [Argument], isKept: Bool = false) {
        var arguments = WireArguments()
        for value in values { value.append(to: &arguments) }
        self.init(sql, arguments, isKept: isKept)
    }
}

extension WireRow {
    /// The bytes of a column; nil for NULL.
    func bytes(_ column: Int) -> [UInt8]? {
        values[column].map { Array(UnsafeBufferPointer(start: $0, count: Int(lengths[column]))) }
    }

    func text(_ column: Int) -> String? { bytes(column).map { String(decoding: $0, as: UTF8.self) } }

    /// A whole number of two, four or eight bytes.
    func integer(_ column: Int) -> Int? {
        bytes(column).map { bytes in
            let isNegative = bytes.first.map { $0 >= 128 } ?? false
            return bytes.reduce(isNegative ? -1 : 0) { $0 << 8 | Int($1) }
        }
    }
}

extension DatabaseWire {
    /// The first column of each row, as text in the server's words.
    func texts(_ sql: String, _ values: [Argument] = [], isKept: Bool = false) throws -> [String?] {
        var texts: [String?] = []
        try execute(WireStatement(sql, values, isKept: isKept)) { texts.append($0.text(0)) }
        return texts
    }

    func integers(_ sql: String, _ values: [Argument] = [], isKept: Bool = false) throws -> [Int] {
        var integers: [Int] = []
        try execute(WireStatement(sql, values, isKept: isKept)) { row in
            if let integer = row.integer(0) { integers.append(integer) }
        }
        return integers
    }

    @discardableResult
    func execute(_ sql: String, _ values: [Argument] = [], isKept: Bool = false) throws -> Int {
        try execute(WireStatement(sql, values, isKept: isKept)) { _ in }
    }

    /// The error of what has to fail.
    func error(_ body: (Self) throws -> Void, sourceLocation: SourceLocation = #_sourceLocation) throws -> WireError {
        try #require(throws: WireError.self, sourceLocation: sourceLocation) { try body(self) }
    }
}
