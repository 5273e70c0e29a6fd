import Foundation

extension URL {
    /// The URL in the form that may be shown: without a password.
    ///
    /// The URL of a server may have a password before the host or among its parameters.
    package var withoutPassword: URL {
        if isFileURL { return self }
        var text = absoluteString
        let form = ServerURLForm.of(self)
        if let secret = Self.password(in: text, isServer: form != nil) { text.removeSubrange(secret) }
        if let question = text.firstIndex(of: "?") {
            let parameters = text[text.index(after: question)...].split(separator: "&")
            let shown = parameters.filter { parameter in
                form.map { $0.shownParameters.contains(Self.name(parameter)) } ?? !Self.isSecret(parameter)
            }
            if shown.count < parameters.count {
                text = String(text[..<question]) + (shown.isEmpty ? "" : "?" + shown.joined(separator: "&"))
            }
        }
        // If the shortened text is no URL, show almost nothing rather than the password.
        return URL(string: text) ?? URL(string: "\(scheme ?? "")://") ?? URL(fileURLWithPath: "/")
    }

    /// The range of a password before the host, including the colon before it.
    ///
    /// In the URL of a server it may contain unescaped characters that normally end a host: a
    /// client library may treat everything before an @ that contains no slash as user and password,
    /// and a URL that it refuses is shown, too.
    private static func password(in text: String, isServer: Bool) -> Range<String.Index>? {
        guard let schemeEnd = text.firstIndex(of: ":") else { return nil }
        let rest = text[text.index(after: schemeEnd)...].drop { $0 == "/" }
        let parts =
            isServer ? [rest.prefix { $0 != "?" }, rest.prefix { $0 != "/" }] : [rest.prefix { !"/?#".contains($0) }]
        for part in parts {
            if let colon = part.firstIndex(of: ":"), let at = part[colon...].lastIndex(of: "@") { return colon..<at }
        }
        return nil
    }

    /// Whether a parameter of a URL that belongs to no type of store is a password.
    private static func isSecret(_ parameter: Substring) -> Bool { name(parameter).lowercased().contains("password") }

    private static func name(_ parameter: Substring) -> String {
        parameter.split(separator: "=").first.map { $0.removingPercentEncoding ?? String($0) } ?? ""
    }
}
