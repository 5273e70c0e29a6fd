extension String {
    /// The names of a key path. The name beside a point that has none is empty: no object has a property of that name, so that `a..b` and
    /// `.a` are refused wherever a path with an unknown name is.
    package var pathNames: [String] { split(separator: ".", omittingEmptySubsequences: false).map(String.init) }
}

extension Unicode.Scalar {
    var isASCIIDigit: Bool { self >= "0" && self <= "9" }
    private var isASCIILetter: Bool { (self >= "a" && self <= "z") || (self >= "A" && self <= "Z") }
    // The tables of properties are asked for what is not ASCII only: they take longer than all the rest.
    /// Whether a name in a predicate format may begin with it.
    var startsName: Bool { isASCII ? isASCIILetter || self == "_" : properties.isIDStart }
    /// Whether a name in a predicate format may go on with it.
    var continuesName: Bool {
        isASCII ? isASCIILetter || isASCIIDigit || self == "_" : properties.isIDContinue
    }
}
