import Foundation

/// What the user info of an attribute asks of the indexes that have its texts.
///
/// A database that has no such indexes makes those of the values alone: the answers are the same.
package struct SQLTextIndexOptions {
    /// What comparisons leave out: `c`, `d` or `cd`, or several of them.
    static let foldingKey = "ocd.fold"
    /// `trigram`: parts of the texts are looked for.
    static let searchKey = "ocd.search"
    /// The selectors of sort descriptors, as `localizedStandardCompare:`.
    static let orderKey = "ocd.order"

    package private(set) var foldings: [NSComparisonPredicate.Options] = []
    package private(set) var findsParts = false
    private(set) var orders: [SQLCollation] = []
    /// Keys with a word that means nothing.
    private(set) var unknown: [(key: String, word: String)] = []

    /// - Parameter property: what a column was made for.
    init(_ property: NSPropertyDescription) {
        guard let userInfo = property.userInfo, !userInfo.isEmpty else { return }
        func words(_ key: String) -> [String] {
            (userInfo[key] as? String ?? "").split { $0 == " " || $0 == "," }.map(String.init)
        }
        for word in words(Self.foldingKey) {
            switch word {
            case "c": foldings.append(.caseInsensitive)
            case "d": foldings.append(.diacriticInsensitive)
            case "cd", "dc": foldings.append([.caseInsensitive, .diacriticInsensitive])
            default: unknown.append((Self.foldingKey, word))
            }
        }
        for word in words(Self.searchKey) {
            if word == "trigram" { findsParts = true } else { unknown.append((Self.searchKey, word)) }
        }
        for word in words(Self.orderKey) {
            if let order = SQLCollation(selector: word) { orders.append(order) } else { unknown.append((Self.orderKey, word)) }
        }
    }
}

extension SQLCollation {
    /// The order that a sort descriptor with a selector asks for; nil for none of its own.
    init?(selector: String) {
        switch selector {
        case "caseInsensitiveCompare:": self = .caseInsensitive
        case "localizedCompare:": self = .localized
        case "localizedCaseInsensitiveCompare:": self = .localizedCaseInsensitive
        case "localizedStandardCompare:": self = .localizedStandard
        default: return nil
        }
    }

    /// What an index in this order is called.
    var name: String {
        switch self {
        case .caseInsensitive: "caseInsensitive"
        case .localized: "localized"
        case .localizedCaseInsensitive: "localizedCaseInsensitive"
        case .localizedStandard: "localizedStandard"
        }
    }
}

extension SQLTerm {
    /// What is asked of the indexes of a column; nil for what is computed.
    package var indexOptions: SQLTextIndexOptions? { isColumn ? slot.map { SQLTextIndexOptions($0.property) } : nil }
}
