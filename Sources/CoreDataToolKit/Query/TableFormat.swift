import Foundation

/// A table that fits the terminal, or a block of lines for each row if it cannot.
///
/// All rows are measured before the first one is written. Long values are truncated with an
/// ellipsis, except the identities of objects: a part of one would name another object.
struct TableFormat: RowFormat {
    private let columns: [QueryColumn]
    private let names: [String]
    private let width: Int
    /// The width of each column without truncation.
    private var natural: [Int]
    /// The layout in use; nil before the first row.
    private var layout: Layout?
    /// Whether blocks were asked for, so that nothing is measured.
    private let isOfBlocks: Bool

    private enum Layout {
        case lines([Int])
        /// A block for each row, with the names in a column of this width.
        case blocks(nameWidth: Int)
    }

    private static let gap = 2
    /// The least width of a column that can be truncated.
    private static let leastWidth = 6

    init(_ columns: [QueryColumn], width: Int, isOfBlocks: Bool = false) {
        self.columns = columns
        self.isOfBlocks = isOfBlocks
        self.width = width
        names = columns.map { DisplayWidth.printable($0.name) }
        natural = names.map(DisplayWidth.of)
    }

    var needsAllRows: Bool { !isOfBlocks }

    mutating func measure(_ row: [CellValue]) {
        for (index, value) in row.enumerated() {
            natural[index] = max(natural[index], DisplayWidth.of(value.tableText))
        }
    }

    mutating func write(_ row: [CellValue], to output: OutputWriter) throws {
        let texts = row.map(\.tableText)
        switch try startedLayout(output) {
        case .lines(let widths): try output.write(line(texts, widths))
        case .blocks(let nameWidth): try output.write(block(texts, nameWidth))
        }
    }

    mutating func finish(rowCount: Int, to output: OutputWriter) throws {
        _ = try startedLayout(output)
        try output.write("(\(rowCount) \(rowCount == 1 ? "row" : "rows"))\n")
        guard case .blocks? = layout, rowCount > 0, !isOfBlocks else { return }
        try output.write("Too wide for a table of \(width) columns: choose with --columns, or use --format json.\n")
    }

    // MARK: Layout

    /// Returns the layout; the first call writes the header of a table.
    private mutating func startedLayout(_ output: OutputWriter) throws -> Layout {
        if let layout { return layout }
        let made =
            (isOfBlocks ? nil : fittedWidths()).map { Layout.lines($0) }
            ?? .blocks(nameWidth: names.map(DisplayWidth.of).max() ?? 0)
        layout = made
        if case .lines(let widths) = made {
            try output.write(line(names, widths))
            try output.write(widths.map { String(repeating: "-", count: $0) }.joined(separator: "  ") + "\n")
        }
        return made
    }

    /// Returns the natural widths, with the widest columns reduced until the line fits; nil if it
    /// cannot.
    private func fittedWidths() -> [Int]? {
        let least = zip(columns, natural).map { column, width in column.isIdentity ? width : min(width, Self.leastWidth)
        }
        let room = width - Self.gap * max(natural.count - 1, 0)
        // A single column is always shown as a table.
        guard least.reduce(0, +) <= room || natural.count == 1 else { return nil }
        func widths(_ limit: Int) -> [Int] { zip(natural, least).map { min($0, max(limit, $1)) } }
        // Finds the greatest limit for the widest columns with which the line fits.
        var (low, high) = (1, max(natural.max() ?? 1, 1))
        while low < high {
            let middle = (low + high + 1) / 2
            if widths(middle).reduce(0, +) <= room { low = middle } else { high = middle - 1 }
        }
        return widths(low)
    }

    private func line(_ texts: [String], _ widths: [Int]) -> String {
        var line = ""
        for (index, width) in widths.enumerated() {
            let text = DisplayWidth.truncated(texts[index], to: width)
            let padding = String(repeating: " ", count: max(0, width - DisplayWidth.of(text)))
            if index > 0 { line += "  " }
            line += columns[index].isNumeric ? padding + text : text + padding
        }
        while line.last == " " { line.removeLast() }
        return line + "\n"
    }

    /// Returns a block: a line for each column, and an empty one.
    private func block(_ texts: [String], _ nameWidth: Int) -> String {
        let room = max(width - nameWidth - Self.gap, Self.leastWidth)
        var lines = ""
        for (index, name) in names.enumerated() {
            let text = columns[index].isIdentity ? texts[index] : DisplayWidth.truncated(texts[index], to: room)
            lines += name + String(repeating: " ", count: nameWidth - DisplayWidth.of(name) + Self.gap) + text + "\n"
        }
        return lines + "\n"
    }
}
