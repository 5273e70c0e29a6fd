import Foundation

/// The decimal that a floating point cell of a decimal column stands for.
enum DecimalText {
    /// 15 digits where they are as good as the number itself, all digits where it has more.
    ///
    /// Real stores hold numbers that lie a unit in the last place beside the decimal that was saved (3.3333333333 in
    /// SampleModel2 of CoreDataPlus), because the conversion that wrote them was inexact: 15 digits give it back. A decimal
    /// of 16 or 17 digits lies farther from its 15 digits.
    static func text(of number: Double) -> String {
        let short = String(format: "%.15g", number)
        if let rounded = Double(short), abs(rounded - number) <= 2 * number.ulp { return short }
        return "\(number)"
    }
}
