import Foundation

/// A value in a form that hashes: two keys are equal exactly when a predicate takes the values for equal.
enum ValueKey: Hashable {
    case integer(Int64)
    case double(Double)
    case string(LiteralText)
    case date(Double)
    case other(AnyHashable)
}

/// Text that is equal to the same code points only, unlike `String`, for which two ways to compose a letter are alike.
struct LiteralText: Hashable {
    let text: String

    static func == (left: LiteralText, right: LiteralText) -> Bool { left.text.utf8.elementsEqual(right.text.utf8) }

    func hash(into hasher: inout Hasher) {
        ASCIIText.bytes(of: text) { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

extension ComparableValue {
    /// `nil` for values whose equality cannot be told by hashing: decimals, collections, objects of unknown classes.
    var key: ValueKey? {
        switch self {
        case .integer(let number): .integer(number)
        case .double(let number): Int64(exactly: number).map { .integer($0) } ?? (number.isNaN ? nil : .double(number))
        case .string(let text): .string(LiteralText(text: text))
        case .date(let seconds): .date(seconds)
        case .object(let id as UUID): .other(id)
        case .object(let data as Data): .other(data)
        case .object(let url as URL): .other(url)
        default: nil
        }
    }
}
