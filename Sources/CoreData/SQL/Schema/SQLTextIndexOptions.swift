import Foundation

/// The requests in an attribute's user info for indexes of its texts.
///
/// A database without such indexes creates only indexes of the plain values; the answers are the
/// same.
package struct SQLTextIndexOptions {
    /// The key for the differences that comparisons ignore: `c`, `d` or `cd`, or several of them.
    static let foldingKey = "ocd.fold"
    /// The key for searches of parts of the texts: `trigram`.
    static let searchKey = "ocd.search"
    /// The key for orders: the selectors of sort descriptors, such as `localizedStandardCompare:`.
    static let orderKey = "ocd.order"

    package private(set) var foldings: [NSComparisonPredicate.Options] = []
    package private(set) var findsParts = false
    private(set) var orders: [SQLCollation] = []
    /// Keys with a word that is not known.
    private(set) var unknown: [(key: String, word: String)] = []

    /// - Parameter property: the property that a column was created for.
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
            if let order = SQLCollation(selector: word) {
                orders.append(order)
            } else {
                unknown.append((Self.orderKey, word))
            }
        }
    }
}

extension SQLCollation {
    /// Creates the order that a sort descriptor's selector requests; nil for other selectors.
    init?(selector: String) {
        switch selector {
        case "caseInsensitiveCompare:": self = .caseInsensitive
        case "localizedCompare:": self = .localized
        case "localizedCaseInsensitiveCompare:": self = .localizedCaseInsensitive
        case "localizedStandardCompare:": self = .localizedStandard
        default: return nil
        }
    }

    /// The name of this order in the names of indexes.
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
    /// The index requests of a column; nil for a computed value.
    package var indexOptions: SQLTextIndexOptions? { isColumn ? slot.map { SQLTextIndexOptions($0.property) } : nil }
}
