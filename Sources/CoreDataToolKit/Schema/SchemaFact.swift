/// One statement about a part of a model, such as the default value of an attribute.
///
/// Text, JSON and comparisons of models are made from the same facts.
struct SchemaFact: Equatable {
    let key: String
    /// The name of the fact in a sentence.
    let label: String
    let value: JSONValue
    /// The value in a sentence.
    let text: String
    /// The fact in a list about its part.
    let phrase: String

    static func flag(_ key: String, _ label: String, _ isSet: Bool = true) -> SchemaFact {
        SchemaFact(key: key, label: label, value: .bool(isSet), text: "", phrase: isSet ? label : "")
    }

    static func text(_ key: String, _ label: String, _ text: String) -> SchemaFact {
        value(key, label, .string(text), text)
    }

    /// - Parameter phrase: nil for the label and the value.
    static func value(
        _ key: String, _ label: String, _ value: JSONValue, _ text: String, phrase: String? = nil
    ) -> SchemaFact {
        SchemaFact(key: key, label: label, value: value, text: text, phrase: phrase ?? "\(label) \(text)")
    }

    /// Returns the facts of the application's own information; none if there is no information.
    static func userInfo(_ info: [AnyHashable: Any]?) -> [SchemaFact] {
        let entries = (info ?? [:]).map { ("\($0.key)", "\($0.value)") }.sorted { $0 < $1 }
        if entries.isEmpty { return [] }
        let text = entries.map { "\($0.0) = \($0.1)" }.joined(separator: ", ")
        let value = JSONValue.object(entries.map { .init($0.0, .string($0.1)) })
        return [.value("userInfo", "user info", value, text, phrase: "user info (\(text))")]
    }

    static func optional(_ key: String, _ label: String, _ text: String?) -> [SchemaFact] {
        text.map { [.text(key, label, $0)] } ?? []
    }

    private var isFlag: Bool { if case .bool = value, text.isEmpty { true } else { false } }
    private var isSet: Bool { value == .bool(true) }

    // MARK: Comparing

    /// Returns the differences between two lists of facts, as ends of a sentence about their part.
    ///
    /// A new name in a renaming identifier is no difference of its own.
    static func differences(from old: [SchemaFact], to new: [SchemaFact]) -> [String] {
        var keys: [String] = []
        for key in (old + new).map(\.key) where !keys.contains(key) && key != renamingIdentifierKey {
            keys.append(key)
        }
        return keys.compactMap { key in
            difference(from: old.first { $0.key == key }, to: new.first { $0.key == key })
        }
    }

    static let renamingIdentifierKey = "renamingIdentifier"

    private static func difference(from old: SchemaFact?, to new: SchemaFact?) -> String? {
        if let fact = new ?? old, fact.isFlag {
            if old?.isSet ?? false == new?.isSet ?? false { return nil }
            return new?.isSet ?? false ? "is \(fact.label) now" : "is no longer \(fact.label)"
        }
        switch (old, new) {
        case (nil, let new?): return "has the \(new.label) \(new.text) now"
        case (let old?, nil): return "no longer has the \(old.label) \(old.text)"
        case (let old?, let new?) where old.value != new.value:
            return "\(new.label) was \(old.text), is now \(new.text)"
        default: return nil
        }
    }
}
