extension String {
    /// The names of a key path. A point without a name beside it gives an empty name. No object has
    /// a property of that name, so `a..b` and `.a` are rejected wherever a path with an unknown
    /// name is.
    package var pathNames: [String] { split(separator: ".", omittingEmptySubsequences: false).map(String.init) }
}

extension Unicode.Scalar {
    var isASCIIDigit: Bool { self >= "0" && self <= "9" }
    private var isASCIILetter: Bool { (self >= "a" && self <= "z") || (self >= "A" && self <= "Z") }
    // Only non-ASCII scalars use the property tables, which take longer than all the rest.
    var startsName: Bool { isASCII ? isASCIILetter || self == "_" : properties.isIDStart }
    var continuesName: Bool {
        isASCII ? isASCIILetter || isASCIIDigit || self == "_" : properties.isIDContinue
    }
}
