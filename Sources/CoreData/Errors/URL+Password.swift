import Foundation

extension URL {
    /// The URL as everybody may see it: without the password that the URL of a server may have before the host or among its parameters.
    var withoutPassword: URL {
        if isFileURL { return self }
        var text = absoluteString
        if let start = text.range(of: "://")?.upperBound {
            // The client library takes all before the first @ for the user and the password, also what ends a host elsewhere.
            let beforePath = text[start...].prefix { $0 != "/" }
            let authority = beforePath.prefix { $0 != "?" && $0 != "#" }
            if let at = authority.lastIndex(of: "@") ?? beforePath.firstIndex(of: "@"), let colon = text[start..<at].firstIndex(of: ":") {
                text.removeSubrange(colon..<at)
            }
        }
        if let question = text.firstIndex(of: "?") {
            let parameters = text[text.index(after: question)...].split(separator: "&")
            let shown = parameters.filter { !Self.isSecret($0) }
            if shown.count < parameters.count {
                text = String(text[..<question]) + (shown.isEmpty ? "" : "?" + shown.joined(separator: "&"))
            }
        }
        // Rather nothing of it than the password.
        return URL(string: text) ?? URL(string: "\(scheme ?? "")://") ?? URL(fileURLWithPath: "/")
    }

    /// Whether a parameter is a password, or the address of a server, which may hold one.
    private static func isSecret(_ parameter: Substring) -> Bool {
        let name = parameter.split(separator: "=").first.map { $0.removingPercentEncoding ?? String($0) } ?? ""
        return name.lowercased().contains("password") || name == "ocd.direct"
    }
}
