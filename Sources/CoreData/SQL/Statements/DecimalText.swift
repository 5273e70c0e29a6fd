import Foundation

/// Converts a floating-point cell of a decimal column to the text of a decimal.
package enum DecimalText {
    /// Returns 15 digits where they describe the number as well as all digits do; otherwise all
    /// digits.
    ///
    /// Real stores hold numbers that differ in the last place from the decimal that was saved
    /// (3.3333333333 in SampleModel2 of CoreDataPlus), because the conversion that wrote them was
    /// inexact. 15 digits restore the decimal. A decimal of 16 or 17 digits differs more from its
    /// first 15 digits, so it keeps them all.
    package static func text(of number: Double) -> String {
        let short = String(format: "%.15g", number)
        if let rounded = Double(short), abs(rounded - number) <= 2 * number.ulp { return short }
        return "\(number)"
    }

    /// Returns the least cell that is read as a number; nil for a number without such cells.
    static func leastCell(of value: StoredValue) -> Double? { lastCell(of: value, \.nextDown) }

    /// Returns the greatest cell that is read as a number; nil for a number without such cells.
    static func greatestCell(of value: StoredValue) -> Double? { lastCell(of: value, \.nextUp) }

    private static func lastCell(of value: StoredValue, _ next: (Double) -> Double) -> Double? {
        guard var cell = nearestCell(of: value) else { return nil }
        let text = text(of: cell)
        while self.text(of: next(cell)) == text { cell = next(cell) }
        return cell
    }

    /// Returns the cell nearest to a number. Nil for a number that a cell of whole numbers may hold
    /// with more digits, for those near or beyond the ends of the range of decimals, and for one
    /// with more digits than a cell is read with: it is compared as it was written.
    private static func nearestCell(of value: StoredValue) -> Double? {
        switch value {
        case .decimal(let decimal):
            guard let nearest = Double(decimal.description), hasCells(nearest),
                Decimal(string: text(of: nearest)) == decimal
            else { return nil }
            return nearest
        case .integer(let integer): return nearestCell(of: .decimal(Decimal(integer)))
        case .double(let double): return hasCells(double) && Double(text(of: double)) == double ? double : nil
        default: return nil
        }
    }

    private static func hasCells(_ number: Double) -> Bool {
        let size = abs(number)
        return size > 1e-100 && size < 1e100 && (size < 1e15 || number != number.rounded() || size > 0x1p63)
    }
}
