import Foundation

/// The names of sections, which are the values of a key path.
struct SectionName {
    let keyPath: String

    /// The name of an object's section: the value as text, and an empty text for nil.
    func of(_ object: NSObject) -> LiteralText {
        LiteralText(Self.text(KeyValue.comparedValue(forKeyPath: keyPath, of: object)))
    }

    static func text(_ value: Any?) -> String {
        switch value {
        case nil, is NSNull: ""
        case let text as String: text
        // On a Mac a truth value is a number.
        case let flag as Bool: flag ? "1" : "0"
        // On a Mac a whole number has no fraction.
        case let number as Double:
            Int64(exactly: number).map(String.init) ?? (isFloat(value) ? "\(Float(number))" : "\(number)")
        case let uuid as UUID: uuid.uuidString
        case let url as URL: url.absoluteString
        case let value?: "\(value)"
        }
    }

    /// Whether a number is a `Float`, of which a `Double` would show digits never set.
    private static func isFloat(_ value: Any?) -> Bool {
        (value as? NSNumber).map { $0.objCType[0] == CChar(UInt8(ascii: "f")) } ?? false
    }
}
