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
}
