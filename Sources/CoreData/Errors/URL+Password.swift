import Foundation

extension URL {
    /// The URL as everybody may see it: without the password that the URL of a server may have before the host or among its parameters.
    var withoutPassword: URL {
        if isFileURL { return self }
        var text = absoluteString
        let isServer = Self.serverSchemes.contains(scheme?.lowercased() ?? "")
        if let secret = Self.password(in: text, isServer) { text.removeSubrange(secret) }
        if let question = text.firstIndex(of: "?") {
            let parameters = text[text.index(after: question)...].split(separator: "&")
            let shown = parameters.filter { isServer ? Self.isHarmless($0) : !Self.isSecret($0) }
            if shown.count < parameters.count {
                text = String(text[..<question]) + (shown.isEmpty ? "" : "?" + shown.joined(separator: "&"))
            }
        }
        // Rather nothing of it than the password.
        return URL(string: text) ?? URL(string: "\(scheme ?? "")://") ?? URL(fileURLWithPath: "/")
    }

    /// Where a password stands before the host, with the colon before it.
    ///
    /// In a URL of PostgreSQL it may have characters that end a host, where somebody has not escaped them: its client library takes all for
    /// the user and the password that stands before an @ and has no slash, and what it refuses is shown, too.
    private static func password(in text: String, _ isServer: Bool) -> Range<String.Index>? {
        guard let schemeEnd = text.firstIndex(of: ":") else { return nil }
        let rest = text[text.index(after: schemeEnd)...].drop { $0 == "/" }
        let parts = isServer ? [rest.prefix { $0 != "?" }, rest.prefix { $0 != "/" }] : [rest.prefix { !"/?#".contains($0) }]
        for part in parts {
            if let colon = part.firstIndex(of: ":"), let at = part[colon...].lastIndex(of: "@") { return colon..<at }
        }
        return nil
    }

    private static let serverSchemes: Set = ["postgresql", "postgres"]

    /// Parameters of the client library that say how to reach a server and what to ask of it, and nothing secret; those of the store.
    private static let harmless: Set = [
        "application_name", "channel_binding", "client_encoding", "connect_timeout", "dbname", "fallback_application_name", "gssdelegation",
        "gssencmode", "gsslib", "host", "hostaddr", "keepalives", "keepalives_count", "keepalives_idle", "keepalives_interval",
        "krbsrvname", "load_balance_hosts", "max_protocol_version", "min_protocol_version", "options", "passfile", "port", "replication",
        "require_auth", "requirepeer", "requiressl", "service", "servicefile", "ssl", "ssl_max_protocol_version",
        "ssl_min_protocol_version", "sslcert", "sslcertmode", "sslcompression", "sslcrl", "sslcrldir", "sslkey", "sslkeylogfile", "sslmode",
        "sslnegotiation",
        "sslrootcert", "sslsni", "target_session_attrs", "tcp_user_timeout", "user", "ocd.keys", "ocd.schema", "ocd.server",
    ]

    /// Whether a parameter is known and no secret. One that nobody knows may be a password whose name is misspelt, or the rest of one.
    private static func isHarmless(_ parameter: Substring) -> Bool { harmless.contains(name(parameter)) }

    /// Whether a parameter of another kind of server is a password.
    private static func isSecret(_ parameter: Substring) -> Bool { name(parameter).lowercased().contains("password") }

    private static func name(_ parameter: Substring) -> String {
        parameter.split(separator: "=").first.map { $0.removingPercentEncoding ?? String($0) } ?? ""
    }
}
