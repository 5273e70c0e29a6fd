/// Finds the names that a person may have meant by a name that does not exist.
enum NearNames {
    /// Returns the names nearest to the given one, best first: at most three, and only near ones.
    static func suggestions(for name: String, among names: some Sequence<String>) -> [String] {
        let wanted = Array(name.lowercased())
        let limit = max(2, wanted.count / 3)
        var ranked: [(distance: Int, name: String)] = []
        for candidate in names {
            let text = candidate.lowercased()
            var distance = editDistance(wanted, Array(text))
            if wanted.count > 2, text.hasPrefix(name.lowercased()) || text.contains(name.lowercased()) {
                distance = min(distance, 1)
            }
            if distance <= limit { ranked.append((distance, candidate)) }
        }
        return ranked.sorted { ($0.distance, $0.name) < ($1.distance, $1.name) }.prefix(3).map(\.name)
    }

    /// Returns "Did you mean …?", or a list of the existing names: the end of a message about an
    /// unknown name.
    static func advice(for name: String, among names: [String], kind: String) -> String {
        let near = suggestions(for: name, among: names)
        if !near.isEmpty { return "Did you mean \(list(near.map { "'\($0)'" }, last: "or"))?" }
        if names.isEmpty { return "There is no \(kind) at all." }
        let shown = names.prefix(12).joined(separator: ", ") + (names.count > 12 ? ", …" : "")
        return "There is \(shown)."
    }

    private static func list(_ words: [String], last: String) -> String {
        guard words.count > 1, let end = words.last else { return words.first ?? "" }
        return words.dropLast().joined(separator: ", ") + " \(last) " + end
    }

    /// Returns the edit distance: how many characters must be inserted, removed or replaced to turn
    /// one text into the other. O(product of lengths).
    private static func editDistance(_ first: [Character], _ second: [Character]) -> Int {
        var previous = Array(0...second.count)
        for (row, character) in first.enumerated() {
            var current = [row + 1]
            for (column, other) in second.enumerated() {
                let replaced = previous[column] + (character == other ? 0 : 1)
                current.append(min(replaced, previous[column + 1] + 1, current[column] + 1))
            }
            previous = current
        }
        return previous[second.count]
    }
}
