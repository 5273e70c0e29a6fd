import CPostgreSQL
import CoreData
import Foundation

/// The parameters of a connection in the order in which the library takes them: the last value of a
/// parameter counts.
struct ConnectionParameters {
    private(set) var list: [(keyword: String, value: String)] = []

    /// - Parameter environment: the environment variables that the library also reads, by their
    ///   names.
    init(_ target: WireTarget, environment: [String: String] = ProcessInfo.processInfo.environment) throws {
        let said = try Self.read(target.connection)
        let sources = ParameterSources(
            connection: target.connection, said: said.merging(target.overriding) { $1 }, environment: environment)
        for (keyword, value) in target.standard.sorted(by: { $0.key < $1.key }) where sources.areSilent(about: keyword)
        {
            list.append((keyword, value))
        }
        list.append(("dbname", target.connection))
        if target.isEncryptedOffMachine, sources.leaveOpenToEncrypt() { list.append(("sslmode", "require")) }
        list += target.overriding.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        if let password = target.password {
            do {
                list.append(("password", try password()))
            } catch {
                throw WireError(
                    message: "no password could be had for the connection: \(error)", isConnectionLost: true)
            }
        }
        list.append(("client_encoding", "UTF8"))
        // C ends a text there: the rest would be lost without an error.
        for (keyword, value) in list where value.utf8.contains(0) || keyword.utf8.contains(0) {
            throw WireError(message: "the connection's parameter \(keyword) contains U+0000", isConnectionLost: true)
        }
    }

    /// Returns the parameters in a connection string, by the library's keywords.
    private static func read(_ connection: String) throws -> [String: String] {
        // Without any of these marks it is the name of a database.
        guard connection.contains("=") || connection.hasPrefix("postgresql://") || connection.hasPrefix("postgres://")
        else { return [:] }
        var text: UnsafeMutablePointer<CChar>?
        guard let options = PQconninfoParse(connection, &text) else {
            let reason = text.map { String(cString: $0).trimmed } ?? "there is no memory"
            PQfreemem(text)
            throw WireError(
                message: "the connection string cannot be read: \(withoutQuotations(reason))", isConnectionLost: true)
        }
        defer { PQconninfoFree(options) }
        let said = values(of: options)
        // The rest of a password: the library would show it as the name of a host that it does not
        // find.
        if let host = said["host"], host.dropFirst().contains("@") {
            throw WireError(
                message: "the connection string's host contains \"@\": write it as %40 where it belongs to a password",
                isConnectionLost: true)
        }
        return said
    }

    /// Returns the values in one of the library's lists, by keyword.
    static func values(of options: UnsafeMutablePointer<PQconninfoOption>) -> [String: String] {
        var values: [String: String] = [:]
        var option = options
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val { values[String(cString: keyword)] = String(cString: value) }
            option += 1
        }
        return values
    }

    /// Returns a message of the library without its quotations: a part of a wrong connection string
    /// may belong to the password.
    private static func withoutQuotations(_ message: String) -> String {
        let parts = message.split(separator: "\"", omittingEmptySubsequences: false)
        return parts.enumerated().map { $0 % 2 == 1 && $1.count > 1 ? "…" : String($1) }.joined(separator: "\"")
    }

    /// Calls a function of the library with the parameters in the form that it takes.
    func withKeywordsAndValues<Result>(
        _ body: (UnsafePointer<UnsafePointer<CChar>?>, UnsafePointer<UnsafePointer<CChar>?>) -> Result
    ) -> Result {
        Self.withKeywordsAndValues(of: list, body)
    }

    static func withKeywordsAndValues<Result>(
        of list: [(keyword: String, value: String)],
        _ body: (UnsafePointer<UnsafePointer<CChar>?>, UnsafePointer<UnsafePointer<CChar>?>) -> Result
    ) -> Result {
        var texts = list.map { (strdup($0.keyword), strdup($0.value)) }
        texts.append((nil, nil))
        defer {
            for (keyword, value) in texts {
                free(keyword)
                free(value)
            }
        }
        return body(texts.map { UnsafePointer($0.0) }, texts.map { UnsafePointer($0.1) })
    }
}

/// The sources of a connection's parameters.
private struct ParameterSources {
    /// The parameters in the connection string, and those that override it, by the library's
    /// keywords.
    private let said: [String: String]
    private let environment: [String: String]
    /// All parameters together with a service file, as the library understands them, and with its
    /// own defaults; nil without a service.
    private let resolved: [String: String]?

    init(connection: String, said: [String: String], environment: [String: String]) {
        self.said = said
        self.environment = environment
        resolved =
            said["service"] ?? Self.variable("service", environment) == nil
            ? nil : Self.resolve(connection, service: said["service"])
    }

    /// Whether no source sets a parameter.
    func areSilent(about keyword: String) -> Bool {
        if said[keyword] != nil || Self.variable(keyword, environment) != nil { return false }
        return resolved?[keyword].map { $0 == Self.options[keyword]?.standard } ?? true
    }

    /// Returns the value that the environment sets.
    private static func variable(_ keyword: String, _ environment: [String: String]) -> String? {
        guard let name = options[keyword]?.variable, let value = environment[name], !value.isEmpty else { return nil }
        return value
    }

    /// The environment variables that the library reads, and its defaults, by its keywords.
    private static let options: [String: (variable: String?, standard: String?)] = {
        var options: [String: (variable: String?, standard: String?)] = [:]
        guard let list = PQconndefaults() else { return [:] }
        defer { PQconninfoFree(list) }
        var option = list
        while let keyword = option.pointee.keyword {
            options[String(cString: keyword)] = (
                option.pointee.envvar.map { String(cString: $0) }, option.pointee.compiled.map { String(cString: $0) }
            )
            option += 1
        }
        return options
    }()

    /// Returns the parameters with those of a service file.
    ///
    /// Only the library can read the file, and it gives the values only for a connection. This
    /// connection is not begun: a parameter that the library refuses prevents that.
    ///
    /// - Parameter service: the name of the service, where it is not in the connection string.
    private static func resolve(_ connection: String, service: String?) -> [String: String] {
        var list = [(keyword: "dbname", value: connection)]
        if let service { list.append(("service", service)) }
        list.append(("channel_binding", "none, for nothing is connected"))
        guard let connection = ConnectionParameters.withKeywordsAndValues(of: list, { PQconnectStartParams($0, $1, 1) })
        else { return [:] }
        defer { PQfinish(connection) }
        guard let options = PQconninfo(connection) else { return [:] }
        defer { PQconninfoFree(options) }
        return ConnectionParameters.values(of: options)
    }

    // MARK: Encryption

    /// Whether the connection leaves the machine, and no source sets its encryption.
    func leaveOpenToEncrypt() -> Bool {
        guard areSilent(about: "sslmode") else { return false }
        func value(_ keyword: String) -> String? {
            said[keyword] ?? resolved?[keyword] ?? Self.variable(keyword, environment)
        }
        return Self.leavesMachine(hosts: value("host"), addresses: value("hostaddr"))
    }

    /// Whether any of the hosts is another machine. No host means a socket of this machine. Where
    /// there are addresses, the names are not looked up.
    private static func leavesMachine(hosts: String?, addresses: String?) -> Bool {
        let names = hosts.map { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) } ?? []
        let numbers =
            addresses.map { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) } ?? []
        return (0..<max(names.count, numbers.count)).contains { place in
            let number = place < numbers.count ? numbers[place] : ""
            let host = number.isEmpty ? (place < names.count ? names[place] : "") : number
            return !host.isEmpty && !host.hasPrefix("/") && !host.hasPrefix("@") && host != "localhost" && host != "::1"
                && !(host.hasPrefix("127.") && host.allSatisfy { $0.isNumber || $0 == "." })
        }
    }
}
