import Foundation

/// One string comparison of a predicate, prepared for many values.
struct StringMatch {
    let operation: SQLStringOperation
    let options: NSComparisonPredicate.Options
    private let pattern: String
    private let patternBytes: [UInt8]
    private let patternIsASCII: Bool
    private let expression: NSRegularExpression?

    /// - Throws: when the pattern of MATCHES is no regular expression.
    init(operation: SQLStringOperation, options: NSComparisonPredicate.Options, pattern: String) throws {
        self.operation = operation
        self.options = options
        switch operation {
        case .like, .matches:
            var flags: NSRegularExpression.Options = operation == .like ? [.dotMatchesLineSeparators] : []
            if options.contains(.caseInsensitive) { flags.insert(.caseInsensitive) }
            var source = pattern
            if options.contains(.diacriticInsensitive) { source = StringFolding.fold(source, .diacriticInsensitive) }
            if operation == .like { source = Self.regularExpression(fromWildcards: source) }
            expression = try NSRegularExpression(pattern: "\\A(?:" + source + ")\\z", options: flags)
            self.pattern = pattern
        default:
            expression = nil
            self.pattern = StringFolding.fold(pattern, options)
        }
        patternBytes = Array(self.pattern.utf8)
        patternIsASCII = patternBytes.allSatisfy { $0 < 0x80 }
    }

    private static func regularExpression(fromWildcards pattern: String) -> String {
        var result = ""
        var isEscaped = false
        for character in pattern {
            if isEscaped {
                result += NSRegularExpression.escapedPattern(for: String(character))
                isEscaped = false
            } else if character == "\\" {
                isEscaped = true
            } else if character == "*" {
                result += ".*"
            } else if character == "?" {
                result += "."
            } else {
                result += NSRegularExpression.escapedPattern(for: String(character))
            }
        }
        return result
    }

    /// Whether a value, as UTF-8, fulfils the comparison.
    func holds(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        if patternIsASCII, expression == nil, bytes.allSatisfy({ $0 < 0x80 }) { return holdsASCII(bytes) }
        let text = String(decoding: bytes, as: UTF8.self)
        if let expression {
            let value = options.contains(.diacriticInsensitive) ? StringFolding.fold(text, .diacriticInsensitive) : text
            let whole = NSRange(location: 0, length: value.utf16.count)
            return expression.firstMatch(in: value, options: [], range: whole) != nil
        }
        let value = StringFolding.fold(text, options)
        switch operation {
        case .equal: return value == pattern
        case .beginsWith: return value.hasPrefix(pattern)
        case .endsWith: return value.hasSuffix(pattern)
        case .contains: return pattern.isEmpty || value.range(of: pattern, options: .literal) != nil
        case .lessThan: return value < pattern
        case .lessThanOrEqual: return value <= pattern
        case .greaterThan: return value > pattern
        case .greaterThanOrEqual: return value >= pattern
        case .like, .matches: return false
        }
    }

    private func holdsASCII(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        let folds = options.contains(.caseInsensitive)
        @inline(__always) func byte(_ index: Int) -> UInt8 {
            let byte = bytes[index]
            return folds && byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte
        }
        func matches(at start: Int) -> Bool {
            var index = 0
            while index < patternBytes.count {
                if byte(start + index) != patternBytes[index] { return false }
                index += 1
            }
            return true
        }
        switch operation {
        case .equal: return bytes.count == patternBytes.count && matches(at: 0)
        case .beginsWith: return bytes.count >= patternBytes.count && matches(at: 0)
        case .endsWith: return bytes.count >= patternBytes.count && matches(at: bytes.count - patternBytes.count)
        case .contains:
            var start = 0
            while start + patternBytes.count <= bytes.count {
                if matches(at: start) { return true }
                start += 1
            }
            return false
        case .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual:
            var order = bytes.count - patternBytes.count
            for index in 0..<min(bytes.count, patternBytes.count) where byte(index) != patternBytes[index] {
                order = Int(byte(index)) - Int(patternBytes[index])
                break
            }
            switch operation {
            case .lessThan: return order < 0
            case .lessThanOrEqual: return order <= 0
            case .greaterThan: return order > 0
            default: return order >= 0
            }
        case .like, .matches: return false
        }
    }
}

/// Folding of case and diacritics as predicates' options ask for.
enum StringFolding {
    static func fold(_ string: String, _ options: NSComparisonPredicate.Options) -> String {
        var folding: String.CompareOptions = []
        if options.contains(.caseInsensitive) { folding.insert(.caseInsensitive) }
        if options.contains(.diacriticInsensitive) { folding.insert(.diacriticInsensitive) }
        if folding.isEmpty { return string }
        if string.utf8.allSatisfy({ $0 < 0x80 }) {
            return folding.contains(.caseInsensitive) ? string.lowercased() : string
        }
        return string.folding(options: folding, locale: nil)
    }
}

/// The orders behind the sort selectors of strings.
enum StringOrder {
    static func caseInsensitive(_ left: String, _ right: String) -> ComparisonResult {
        let first = StringFolding.fold(left, .caseInsensitive)
        let second = StringFolding.fold(right, .caseInsensitive)
        return first < second ? .orderedAscending : first == second ? .orderedSame : .orderedDescending
    }

    static func localized(_ left: String, _ right: String, _ options: String.CompareOptions) -> ComparisonResult {
        left.compare(right, options: options, range: nil, locale: Locale.current)
    }
}
