/// Lines up columns of text.
struct TextTable {
    enum Alignment {
        case left
        case right
    }

    private let columns: [(title: String, alignment: Alignment)]
    private var rows: [[String]] = []

    init(_ columns: [(title: String, alignment: Alignment)]) { self.columns = columns }

    /// Adds a row: one text for each column.
    mutating func add(_ row: [String]) { rows.append(row) }

    /// The table with its header.
    var text: String {
        let header = columns.map(\.title)
        let widths = columns.indices.map { column in
            ([header] + rows).map { $0[column].count }.max() ?? 0
        }
        let lines = ([header, widths.map { String(repeating: "-", count: $0) }] + rows).map { row in
            var line = ""
            for (column, text) in row.enumerated() {
                let padding = String(repeating: " ", count: widths[column] - text.count)
                line += columns[column].alignment == .left ? text + padding : padding + text
                line += "  "
            }
            while line.last == " " { line.removeLast() }
            return line
        }
        return lines.joined(separator: "\n")
    }
}
