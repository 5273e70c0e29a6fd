import Foundation
import Testing

@testable import CoreDataToolKit

/// Numbers as they are written, without a floating-point number in between.
struct ExactNumberTests {
    @Test(arguments: [
        ("0", "0"), ("-0", "0"), ("0.000", "0"), ("0e99", "0"), ("12", "12"), ("-12.0", "-12"), ("1.5e1", "15"),
        ("120e-1", "12"), ("9223372036854775807", "9223372036854775807"), ("1e19", "10000000000000000000"),
    ])
    func wholeNumbersAreRecognized(_ number: String, _ wanted: String) {
        #expect(ExactNumber(number)?.integerText == wanted)
    }

    @Test(arguments: ["0.5", "1e-1", "1e20", "1e9999", "12345678901234567890.5"])
    func othersAreNotWhole(_ number: String) { #expect(ExactNumber(number)?.integerText == nil) }

    @Test(arguments: [
        "99999999999999999999999999999999999999", "0.12345678901234567890123456789012345678", "-1e127",
        "1e-100", "0", "12.50",
    ])
    func decimalsAreExact(_ number: String) {
        #expect(ExactNumber(number)?.decimal == Decimal(string: number))
        #expect(ExactNumber(number)?.decimal != nil)
    }

    @Test(arguments: [
        "1e200", "1e-200", "1234567890123456789012345678901234567890.5", "1e99999999999999999999",
        "0.1234567890123456789012345678901234567890123",
    ])
    func numbersBeyondDecimalsAreNone(_ number: String) { #expect(ExactNumber(number)?.decimal == nil) }
}
