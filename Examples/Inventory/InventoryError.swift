import Foundation

/// What can go wrong in an inventory, in words for the person at the terminal.
enum InventoryError: LocalizedError {
    case usage(String)
    case noItem(String)
    case severalItems(String, [String])
    case notEnough(item: String, wanted: Int, available: Int)
    case badNumber(String, option: String)
    case badPredicate(String)

    var errorDescription: String? {
        switch self {
        case .usage(let problem): "\(problem) 'inventory help' shows how it is used."
        case .noItem(let name): "There is no item '\(name)'. 'inventory list' shows all items."
        case .severalItems(let name, let names):
            "'\(name)' may be \(names.joined(separator: " or ")). Write the whole name."
        case .notEnough(let item, let wanted, let available):
            "\(wanted) of '\(item)' cannot be sold: only \(available) \(available == 1 ? "is" : "are") in stock. "
                + "Restock first."
        case .badNumber(let text, let option): "'\(text)' is not a number for \(option)."
        case .badPredicate(let problem): "This is not a predicate: \(problem)"
        }
    }
}
