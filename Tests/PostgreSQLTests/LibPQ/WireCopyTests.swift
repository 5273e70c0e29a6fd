import CoreData
import Foundation
import TestSupport
import Testing

@testable import CoreDataPostgreSQL

/// `COPY … FROM STDIN`.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server"))
struct WireCopyTests {
    private static let copy = "COPY t FROM STDIN (FORMAT binary)"

    private func connection() throws -> LibPQConnection {
        let connection = try WireConnection.openWithSchema()
        try connection.run("CREATE TABLE t (id int8 CONSTRAINT t_key PRIMARY KEY, name text)")
        return connection
    }

    private func send(_ writer: WireBytes, _ send: (UnsafeRawBufferPointer) throws -> Void) rethrows {
        try writer.bytes.withUnsafeBytes(send)
    }

    private var header: WireBytes {
        WireBytes(bytes: Array("PGCOPY\n".utf8) + [255, 13, 10, 0] + Array(repeating: 0, count: 8))
    }

    private func row(_ id: Int64, _ name: String?) -> WireBytes {
        var writer = WireBytes()
        writer.append(Int16(2))
        writer.append(Int32(8))
        writer.append(id)
        if let name {
            let start = writer.beginValue()
            writer.append(utf8: name)
            writer.endValue(start)
        } else {
            writer.appendNull()
        }
        return writer
    }

    private var trailer: WireBytes {
        var writer = WireBytes()
        writer.append(Int16(-1))
        return writer
    }

    @Test func aCopyInSmallPiecesArrives() throws {
        let connection = try connection()
        let count = try connection.copy(Self.copy) { send in
            try self.send(header, send)
            for id in 1...20_000 { try self.send(row(Int64(id), id % 3 == 0 ? nil : "name \(id)"), send) }
            try self.send(trailer, send)
        }
        #expect(count == 20_000)
        #expect(try connection.integers("SELECT count(*) FROM t WHERE name = 'name ' || id") == [13_334])
        #expect(try connection.integers("SELECT count(*) FROM t WHERE name IS NULL AND id % 3 = 0") == [6_666])
    }

    @Test func aCopyInOneLargePieceArrives() throws {
        let connection = try connection()
        var all = header
        for id in 1...3_000 {
            row(Int64(id), String(repeating: "y", count: 1_000)).bytes.withUnsafeBufferPointer { all.append($0) }
        }
        all.append(Int16(-1))
        #expect(try connection.copy(Self.copy) { try self.send(all, $0) } == 3_000)
        #expect(try connection.integers("SELECT sum(length(name)) FROM t") == [3_000_000])
    }

    @Test(arguments: [10, 50_000])
    func whatTheBodyThrowsComesOutAndNothingIsCopied(rows: Int) throws {
        struct Enough: Error {}
        let connection = try connection()
        #expect(throws: Enough.self) {
            try connection.copy(Self.copy) { send in
                try self.send(header, send)
                for id in 1...rows { try self.send(row(Int64(id), "name"), send) }
                throw Enough()
            }
        }
        #expect(connection.isUsable)
        #expect(try connection.integers("SELECT count(*) FROM t") == [0])
    }

    @Test(arguments: [2, 200_000])
    func aDuplicateKeyIsTheServersError(rows: Int) throws {
        let connection = try connection()
        try connection.execute("INSERT INTO t VALUES (2, 'there')")
        let error = try connection.error { connection in
            try connection.copy(Self.copy) { send in
                try self.send(header, send)
                for id in 1...rows { try self.send(row(Int64(id), "name"), send) }
                try self.send(trailer, send)
            }
        }
        #expect(error.sqlState == "23505")
        #expect(error.constraint == "t_key")
        #expect(error.statement == Self.copy)
        #expect(connection.isUsable)
        #expect(try connection.texts("SELECT name FROM t") == ["there"])
    }

    @Test func aFailedCopyLeavesATransactionThatGoesBackToItsSavepoint() throws {
        let connection = try connection()
        try connection.run("BEGIN; INSERT INTO t VALUES (1, 'one'); SAVEPOINT before")
        _ = try connection.error { connection in
            try connection.copy(Self.copy) { send in
                try self.send(header, send)
                try self.send(row(1, "again"), send)
                try self.send(trailer, send)
            }
        }
        try connection.run("ROLLBACK TO before; COMMIT")
        #expect(try connection.texts("SELECT name FROM t") == ["one"])
    }

    @Test func whatIsNoCopyIsRefused() throws {
        let connection = try connection()
        for sql in ["SELECT 1", "COPY t TO STDOUT", "CREATE TABLE u (id int8)", "COPY nothing FROM STDIN", ""] {
            var isAsked = false
            _ = try connection.error { try $0.copy(sql) { _ in isAsked = true } }
            #expect(!isAsked, "\(sql)")
            #expect(try connection.integers("SELECT 7") == [7], "\(sql)")
        }
    }

    @Test func malformedBytesAreTheServersError() throws {
        let connection = try connection()
        let error = try connection.error { connection in
            try connection.copy(Self.copy) { try self.send(WireBytes(bytes: Array("nonsense".utf8)), $0) }
        }
        #expect(error.sqlState == "22P04")
        #expect(connection.isUsable)
    }
}
