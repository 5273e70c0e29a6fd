/// The codes of validation errors, in `NSCocoaErrorDomain`, for the limits of a model.
enum ValidationCode {
    static let numberTooLarge = 1610
    static let numberTooSmall = 1620
    static let dateTooLate = 1630
    static let dateTooSoon = 1640
    static let stringTooLong = 1660
    static let stringTooShort = 1670
    static let patternMatching = 1680
}
