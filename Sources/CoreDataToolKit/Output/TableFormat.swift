import Foundation

/// A table that fits the terminal. The first rows decide the widths; what is too long ends in an ellipsis.
struct TableFormat: RowFormat {
    private let columns: [QueryColumn]
    private let width: Int
    /// Rows that wait until the widths are known.
    private var sample: [[String]] = []
    private var widths: [Int]?
    /// How many columns have no room, at the right.
    private var omitted = 0

    private static let sampleSize = 200
    private static let gap = 2
    private static let leastWidth = 6

    init(_ columns: [QueryColumn], width: Int) {
        self.columns = columns
        self.width = width
    }

    mutating func write(_ row: [CellValue], to output: OutputWriter) throws {
        let texts = row.map(\.tableText)
        if let widths { return try output.write(line(texts, widths)) }
        sample.append(texts)
        if sample.count == Self.sampleSize { try writeSample(to: output) }
    }

    mutating func finish(rowCount: Int, to output: OutputWriter) throws {
        try writeSample(to: output)
        try output.write("(\(rowCount) \(rowCount == 1 ? "row" : "rows"))\n")
        guard omitted > 0 else { return }
        let names = columns.suffix(omitted).map { DisplayWidth.printable($0.name) }.joined(separator: ", ")
        try output.write("No room for \(names): choose with --columns, or use --format json.\n")
    }

    private mutating func writeSample(to output: OutputWriter) throws {
        guard widths == nil else { return }
        let fitted = fittedWidths()
        widths = fitted
        let names = columns.map { DisplayWidth.printable($0.name) }
        try output.write(line(names, fitted))
        try output.write(fitted.map { String(repeating: "-", count: $0) }.joined(separator: "  ") + "\n")
        for row in sample { try output.write(line(row, fitted)) }
        sample = []
    }

    /// The natural widths, the widest columns cut down until the line fits.
    private mutating func fittedWidths() -> [Int] {
        var natural = columns.map { DisplayWidth.of(DisplayWidth.printable($0.name)) }
        for row in sample {
            for (index, text) in row.enumerated() { natural[index] = max(natural[index], DisplayWidth.of(text)) }
        }
        func least(_ width: Int) -> Int { min(width, Self.leastWidth) }
        while natural.count > 1, natural.map(least).reduce(0, +) + Self.gap * (natural.count - 1) > width {
            natural.removeLast()
            omitted += 1
        }
        let room = max(width - Self.gap * (natural.count - 1), 1)
        // The greatest width for the widest columns with which the line fits.
        var (low, high) = (1, max(natural.max() ?? 1, 1))
        while low < high {
            let middle = (low + high + 1) / 2
            if natural.map({ min($0, max(middle, least($0))) }).reduce(0, +) <= room {
                low = middle
            } else {
                high = middle - 1
            }
        }
        return natural.map { min($0, max(low, least($0)), width) }
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
}
