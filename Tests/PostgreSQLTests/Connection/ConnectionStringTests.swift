import CPostgreSQL
import CoreData
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CoreDataPostgreSQL

/// Connection strings: hosts, users, parameters and service files.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server"))
struct ConnectionStringTests {
    private func server() throws -> PostgreSQLServer { try WireConnection.server() }

    private func refusal(_ target: WireTarget, sourceLocation: SourceLocation = #_sourceLocation) throws -> WireError {
        try #require(throws: WireError.self, sourceLocation: sourceLocation) { _ = try LibPQDriver.connect(target) }
    }

    @Test func urlsAndListsOfKeywordsLeadToTheDatabase() throws {
        let server = try server()
        let folder = server.socketFolder
        for connection in [
            server.url().absoluteString, server.connectionString(), "postgres://app@/app?host=\(folder)",
            "postgresql://app@\(folder.replacingOccurrences(of: "/", with: "%2F"))/app",
            // The first answers not.
            "host=/tmp/nobody,\(folder) dbname=app user=app target_session_attrs=read-write",
        ] {
            let connection = try LibPQDriver.connect(WireTarget(connection: connection))
            #expect(connection.facts.database == "app")
            #expect(connection.facts.host == folder)
        }
    }

    @Test func parametersGoBeforeTheConnectionStringOrBehindIt() throws {
        var target = WireTarget(connection: try server().connectionString() + " application_name=said")
        target.standard = ["application_name": "standard", "options": "-c statement_timeout=1234ms"]
        let said = try LibPQDriver.connect(target)
        #expect(try said.texts("SHOW application_name") == ["said"])
        #expect(try said.texts("SHOW statement_timeout") == ["1234ms"])
        target.overriding = ["application_name": "overriding", "options": "-c statement_timeout=4321ms"]
        let overriding = try LibPQDriver.connect(target)
        #expect(try overriding.texts("SHOW application_name") == ["overriding"])
        #expect(try overriding.texts("SHOW statement_timeout") == ["4321ms"])
    }

    @Test func textIsUTF8WhateverIsAskedFor() throws {
        var target = WireTarget(connection: try server().connectionString() + " client_encoding=LATIN1")
        target.overriding = ["client_encoding": "LATIN1"]
        #expect(try LibPQDriver.connect(target).texts("SHOW client_encoding") == ["UTF8"])
    }

    @Test func aDatabaseThatIsNotThereIsNamed() throws {
        let server = try server()
        let error = try refusal(WireTarget(connection: "host=\(server.socketFolder) user=app dbname=nothing"))
        #expect(error.sqlState == "3D000")
        #expect(error.message.contains("\"nothing\""))
        #expect(error.isConnectionLost)
    }

    @Test func aServerThatIsNotThereIsNamed() throws {
        let error = try refusal(WireTarget(connection: "host=/tmp/nobody user=app dbname=app"))
        #expect(error.sqlState == nil)
        #expect(error.message.contains("/tmp/nobody"))
        #expect(error.isConnectionLost)
    }

    // MARK: Encryption

    private func encryption(_ connection: String, _ environment: [String: String] = [:]) throws -> [String] {
        var target = WireTarget(connection: connection)
        target.isEncryptedOffMachine = true
        return try ConnectionParameters(target, environment: environment).list.filter { $0.keyword == "sslmode" }.map(
            \.value)
    }

    @Test(arguments: [
        "postgresql://db.example.org/shop", "postgresql://10.0.0.1:5433/shop?connect_timeout=3", "host=db.example.org",
        "host = 'db.example.org' dbname=shop", "host=localhost,db.example.org", "host=/tmp,db.example.org",
        "hostaddr=10.0.0.1",
        "host=localhost hostaddr=10.0.0.1", "postgresql://[2001:db8::1]/shop", "postgresql:///shop?host=db.example.org",
        "host=127.0.0.1.example.org",
    ])
    func aConnectionToAnotherMachineIsEncrypted(connection: String) throws {
        #expect(try encryption(connection) == ["require"])
        #expect(try encryption(connection, ["PGSSLMODE": "disable"]) == [])
        let separator = connection.hasPrefix("postgresql:") ? connection.contains("?") ? "&" : "?" : " "
        #expect(try encryption("\(connection)\(separator)sslmode=prefer") == [])
    }

    @Test(arguments: [
        "postgresql:///shop", "shop", "host=/run/postgresql dbname=shop", "postgresql://localhost/shop",
        "host=127.0.0.1", "host=::1",
        "postgresql://[::1]/shop", "host=@abstract", "postgresql://%2Frun%2Fpostgresql/shop",
        "host=db hostaddr=127.0.0.1",
    ])
    func aConnectionWithinTheMachineNeedsNoEncryption(connection: String) throws {
        #expect(try encryption(connection) == [])
    }

    @Test func theEnvironmentMayNameAnotherMachine() throws {
        #expect(try encryption("postgresql:///shop", ["PGHOST": "db.example.org"]) == ["require"])
        #expect(try encryption("dbname=shop", ["PGHOSTADDR": "10.0.0.1"]) == ["require"])
        #expect(try encryption("postgresql://localhost/shop", ["PGHOST": "db.example.org"]) == [])
        #expect(try encryption("dbname=shop", ["PGHOST": "db.example.org", "PGSSLMODE": "verify-full"]) == [])
        #expect(try encryption("dbname=shop", ["PGHOST": "/run/postgresql"]) == [])
    }

    /// The library reads its service files from where its own environment says.
    @Test func aServiceFileMayNameAnotherMachine() async throws {
        await #expect(processExitsWith: .success) {
            let folder = try TemporaryFolder()
            let file = folder.file("services")
            // Addresses that nobody has.
            try Data(
                """
                [far]
                hostaddr=192.0.2.1
                [near]
                host=/tmp/nobody
                [said]
                hostaddr=192.0.2.1
                sslmode=allow

                """.utf8
            ).write(to: file)
            setenv("PGSERVICEFILE", file.path, 1)
            func encryption(_ connection: String) throws -> [String] {
                var target = WireTarget(connection: connection)
                target.isEncryptedOffMachine = true
                return try ConnectionParameters(target).list.filter { $0.keyword == "sslmode" }.map(\.value)
            }
            #expect(try encryption("service=far dbname=shop") == ["require"])
            #expect(try encryption("service=near dbname=shop") == [])
            #expect(try encryption("service=said dbname=shop") == [])
            #expect(try encryption("service=said sslmode=disable dbname=shop") == [])
            setenv("PGSERVICE", "far", 1)
            #expect(try encryption("dbname=shop") == ["require"])
        }
    }

    @Test func aServiceFileHasTheStandardParametersThatItDoesNotSet() async throws {
        await #expect(processExitsWith: .success) {
            let folder = try TemporaryFolder()
            let file = folder.file("services")
            // Nobody listens there.
            try Data(
                """
                [said]
                host=/tmp/nobody
                connect_timeout=33
                keepalives_idle=44
                target_session_attrs=prefer-standby
                [silent]
                host=/tmp/nobody

                """.utf8
            ).write(to: file)
            setenv("PGSERVICEFILE", file.path, 1)
            func parameters(_ connection: String) throws -> [String: String] {
                var target = WireTarget(connection: connection)
                target.standard = [
                    "connect_timeout": "10", "keepalives_idle": "30", "keepalives_count": "3",
                    "tcp_user_timeout": "35000",
                    "application_name": "OpenCoreData", "target_session_attrs": "read-write",
                ]
                let parameters = try ConnectionParameters(target)
                // As the library understands all of it.
                let connection = try #require(parameters.withKeywordsAndValues { PQconnectStartParams($0, $1, 1) })
                defer { PQfinish(connection) }
                let options = try #require(PQconninfo(connection))
                defer { PQconninfoFree(options) }
                return ConnectionParameters.values(of: options).filter { target.standard[$0.key] != nil }
            }
            var expected = [
                "connect_timeout": "10", "keepalives_idle": "30", "keepalives_count": "3", "tcp_user_timeout": "35000",
                "application_name": "OpenCoreData", "target_session_attrs": "read-write",
            ]
            #expect(try parameters("service=silent dbname=shop") == expected)
            expected.merge(["connect_timeout": "33", "keepalives_idle": "44", "target_session_attrs": "prefer-standby"])
            { $1 }
            #expect(try parameters("service=said dbname=shop") == expected)
            setenv("PGSERVICE", "said", 1)
            #expect(try parameters("postgresql:///shop") == expected)
            expected["connect_timeout"] = "5"
            #expect(try parameters("postgresql:///shop?connect_timeout=5") == expected)
            setenv("PGAPPNAME", "of the environment", 1)
            expected["application_name"] = "of the environment"
            #expect(try parameters("postgresql:///shop?connect_timeout=5") == expected)
        }
    }

    @Test func theLookUpOfAServiceConnectsToNobody() async throws {
        await #expect(processExitsWith: .success) {
            let server = try #require(PostgreSQLServer.shared)
            let proxy = try PostgreSQLProxy(server)
            let folder = try TemporaryFolder()
            let file = folder.file("services")
            try Data("[proxy]\n\(proxy.connectionString.replacingOccurrences(of: " ", with: "\n"))\n".utf8).write(
                to: file)
            setenv("PGSERVICEFILE", file.path, 1)
            var target = WireTarget(connection: "service=proxy")
            target.isEncryptedOffMachine = true
            target.standard = ["application_name": "OpenCoreData"]
            let connection = try LibPQDriver.connect(target)
            #expect(try connection.texts("SHOW application_name") == ["OpenCoreData"])
            #expect(proxy.connections == 1)
        }
    }

    // MARK: Passwords

    @Test(arguments: [false, true])
    func aPasswordIsAskedForEachConnection(isMD5: Bool) throws {
        let server = try server()
        let asked = Counter()
        var target = WireTarget(connection: server.connectionString(user: isMD5 ? server.md5User : server.scramUser))
        target.password = {
            asked.increase()
            return server.password
        }
        for number in 1...2 {
            #expect(
                try LibPQDriver.connect(target).texts("SELECT current_user::text") == [
                    isMD5 ? server.md5User : server.scramUser
                ])
            #expect(asked.value == number)
        }
    }

    @Test(arguments: [false, true])
    func noMessageShowsAWrongPassword(isMD5: Bool) throws {
        let server = try server()
        let user = isMD5 ? server.md5User : server.scramUser
        var asking = WireTarget(connection: server.connectionString(user: user))
        asking.password = { "hunter2 it is" }
        var overriding = WireTarget(connection: server.connectionString(user: user))
        overriding.overriding = ["password": "hunter2 it is"]
        let targets = [
            asking, overriding,
            WireTarget(connection: server.connectionString(user: user) + " password='hunter2 it is'"),
            WireTarget(connection: "postgresql://\(user):hunter2%20it%20is@/app?host=\(server.socketFolder)"),
        ]
        for target in targets {
            let error = try refusal(target)
            #expect(error.sqlState == "28P01")
            #expect(error.message.contains(user))
            #expect(!"\(error)".contains("hunter2"))
        }
        let missing = try refusal(WireTarget(connection: server.connectionString(user: user)))
        #expect(missing.message.contains("password"))
    }

    @Test(arguments: [
        "postgresql://app:hunter2@%zz/app", "postgresql://app:100%hunter2@/app", "host=/tmp password=hunter2 'it is'",
        "host=/tmp password=correct hunter2", "host=/tmp password='hunter2", "host=/tmp password=a hunter2=b",
        "postgresql://app:p@hunter2@/app", "postgresql://app:password@/app?hunter2",
        "postgresql://app:pass@/app?hunter2=1",
        "postgresql://app:[hunter2@[::1/app",
    ])
    func noMessageShowsPartsOfAMalformedConnectionString(connection: String) throws {
        let error = try refusal(WireTarget(connection: connection))
        #expect(!"\(error)".contains("hunter2"), "\(error)")
        #expect(!error.message.isEmpty)
    }

    @Test func whatCannotGiveAPasswordSaysWhy() throws {
        struct Expired: Error {}
        var target = WireTarget(connection: try server().connectionString())
        target.password = { throw Expired() }
        #expect(try refusal(target).message.contains("Expired"))
    }

    @Test func u0000IsRefused() throws {
        var target = WireTarget(connection: try server().connectionString())
        target.overriding = ["application_name": "a\0b"]
        #expect(try refusal(target).message.contains("U+0000"))
    }
}
