import CPostgreSQL
import CoreData
import Foundation

/// The parameters of a connection in the order in which the library takes them: the last that is said of one counts.
struct ConnectionParameters {
    private(set) var list: [(keyword: String, value: String)] = []

    /// - Parameter environment: what the library reads besides, by the names of its variables.
    init(_ target: WireTarget, environment: [String: String] = ProcessInfo.processInfo.environment) throws {
        let said = try Self.read(target.connection)
        let sources = ParameterSources(said: said.merging(target.overriding) { $1 }, environment: environment)
        for (keyword, value) in target.standard.sorted(by: { $0.key < $1.key }) where sources.areSilent(about: keyword) {
            list.append((keyword, value))
        }
        list.append(("dbname", target.connection))
        if target.isEncryptedOffMachine, sources.leaveOpenToEncrypt(list) { list.append(("sslmode", "require")) }
        list += target.overriding.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        if let password = target.password {
            do {
                list.append(("password", try password()))
            } catch {
                throw WireError(message: "no password could be had for the connection: \(error)", isConnectionLost: true)
            }
        }
        list.append(("client_encoding", "UTF8"))
        // C ends a text there: the rest would be lost without a word.
        for (keyword, value) in list where value.utf8.contains(0) || keyword.utf8.contains(0) {
            throw WireError(message: "the connection's parameter \(keyword) contains U+0000", isConnectionLost: true)
        }
    }

    /// What a connection string says, by the library's keywords.
    private static func read(_ connection: String) throws -> [String: String] {
        // Without any of these marks it is the name of a database.
        guard connection.contains("=") || connection.hasPrefix("postgresql://") || connection.hasPrefix("postgres://") else { return [:] }
        var text: UnsafeMutablePointer<CChar>?
        guard let options = PQconninfoParse(connection, &text) else {
            let reason = text.map { String(cString: $0).trimmed } ?? "there is no memory"
            PQfreemem(text)
            throw WireError(message: "the connection string cannot be read: \(withoutQuotations(reason))", isConnectionLost: true)
        }
        defer { PQconninfoFree(options) }
        let said = values(of: options)
        // A password's rest: the library would show it as the name of a host that it does not find.
        if let host = said["host"], host.dropFirst().contains("@") {
            throw WireError(
                message: "the connection string's host contains \"@\": write it as %40 where it belongs to a password",
                isConnectionLost: true)
        }
        return said
    }

    /// What a list of the library's holds, by keyword.
    static func values(of options: UnsafeMutablePointer<PQconninfoOption>) -> [String: String] {
        var values: [String: String] = [:]
        var option = options
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val { values[String(cString: keyword)] = String(cString: value) }
            option += 1
        }
        return values
    }

    /// A message of the library without what it quotes: a wrong connection string's part may belong to the password.
    private static func withoutQuotations(_ message: String) -> String {
        let parts = message.split(separator: "\"", omittingEmptySubsequences: false)
        return parts.enumerated().map { $0 % 2 == 1 && $1.count > 1 ? "…" : String($1) }.joined(separator: "\"")
    }

    /// Calls a function of the library with the parameters as it takes them.
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

/// Who says something of a connection.
private struct ParameterSources {
    /// What the connection string says, and what goes before it, by the library's keywords.
    let said: [String: String]
    let environment: [String: String]

    /// Whether a parameter is left to what goes behind everything else. What a service file has is not known here, so it goes before.
    func areSilent(about keyword: String) -> Bool { said[keyword] == nil && !hasService && variable(keyword) == nil }

    private var hasService: Bool { said["service"] != nil || variable("service") != nil }

    /// What the environment says.
    private func variable(_ keyword: String) -> String? {
        guard let name = Self.variables[keyword], let value = environment[name], !value.isEmpty else { return nil }
        return value
    }

    /// The variables of the environment that the library reads, by its keywords.
    private static let variables: [String: String] = {
        var variables: [String: String] = [:]
        guard let options = PQconndefaults() else { return [:] }
        defer { PQconninfoFree(options) }
        var option = options
        while let keyword = option.pointee.keyword {
            if let variable = option.pointee.envvar { variables[String(cString: keyword)] = String(cString: variable) }
            option += 1
        }
        return variables
    }()

    // MARK: Encryption

    /// Whether the connection leaves the machine, and nobody has said how it is encrypted.
    ///
    /// - Parameter list: the parameters so far.
    func leaveOpenToEncrypt(_ list: [(keyword: String, value: String)]) -> Bool {
        if said["sslmode"] != nil || variable("sslmode") != nil { return false }
        func value(_ keyword: String) -> String? { said[keyword] ?? variable(keyword) }
        if !hasService { return Self.leavesMachine(hosts: value("host"), addresses: value("hostaddr")) }
        // What the file says the library alone knows, as soon as it begins to connect. Its own choice is what nobody has made.
        guard let connection = ConnectionParameters.withKeywordsAndValues(of: list, { PQconnectStartParams($0, $1, 1) }) else {
            return true
        }
        defer { PQfinish(connection) }
        guard let options = PQconninfo(connection) else { return true }
        defer { PQconninfoFree(options) }
        let resolved = ConnectionParameters.values(of: options)
        return resolved["sslmode"] == "prefer" && Self.leavesMachine(hosts: resolved["host"], addresses: resolved["hostaddr"])
    }

    /// Whether any of the hosts is another machine. None is a socket of this one. Where there are addresses, the names are not looked up.
    private static func leavesMachine(hosts: String?, addresses: String?) -> Bool {
        let names = hosts.map { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) } ?? []
        let numbers = addresses.map { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) } ?? []
        return (0..<max(names.count, numbers.count)).contains { place in
            let number = place < numbers.count ? numbers[place] : ""
            let host = number.isEmpty ? (place < names.count ? names[place] : "") : number
            return !host.isEmpty && !host.hasPrefix("/") && !host.hasPrefix("@") && host != "localhost" && host != "::1"
                && !(host.hasPrefix("127.") && host.allSatisfy { $0.isNumber || $0 == "." })
        }
    }
}
