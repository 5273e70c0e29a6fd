import Foundation

/// A value in the form that comparisons use: one case for Swift's and Foundation's types of a kind.
package enum ComparableValue {
    case null
    case integer(Int64)
    case double(Double)
    case decimal(Decimal)
    case string(String)
    /// Seconds since the reference date.
    case date(Double)
    /// An array, set, ordered set or dictionary.
    case collection(Any)
    case object(Any)

    package init(_ value: Any?) {
        guard let value else {
            self = .null
            return
        }
        self = ComparableValue.common(value) ?? ComparableValue.rare(value)
    }

    /// Converts the types that almost every value has. They are found by identity, far faster than
    /// by a cast.
    private static func common(_ value: Any) -> ComparableValue? {
        let type = Swift.type(of: value)
        if type == String.self { return .string(value as! String) }
        if type == Int.self { return .integer(Int64(value as! Int)) }
        if type == Int64.self { return .integer(value as! Int64) }
        if type == Double.self { return .double(value as! Double) }
        if type == Bool.self { return .integer(value as! Bool ? 1 : 0) }
        if type == Date.self { return .date((value as! Date).timeIntervalSinceReferenceDate) }
        if type == Int32.self { return .integer(Int64(value as! Int32)) }
        if type == Int16.self { return .integer(Int64(value as! Int16)) }
        if type == Decimal.self { return .decimal(value as! Decimal) }
        if type == UUID.self || type == Data.self || type == URL.self { return .object(value) }
        return nil
    }

    /// Whether values of a type are neither collections nor objects nor Optionals, so that no cast
    /// is tried.
    static func isPlain(_ type: Any.Type) -> Bool {
        type == String.self || type == Int.self || type == Double.self || type == Bool.self || type == Date.self
            || type == Int64.self || type == Int32.self || type == Int16.self || type == Decimal.self
            || type == UUID.self
    }

    private static func rare(_ value: Any) -> ComparableValue {
        if type(of: value) is NSObject.Type, let object = value as? NSObject { return foundation(object) }
        if type(of: value) == AnyHashable.self { return ComparableValue((value as! AnyHashable).base) }
        switch value {
        case let optional as any OptionalValue: return ComparableValue(optional.wrappedValue)
        case let value as any BinaryInteger: return wholeNumber(value)
        case let value as Float: return .double(Double(value))
        case let value as CGFloat: return .double(Double(value))
        #if arch(arm64) || !os(macOS)
            case let value as Float16: return .double(Double(value))
        #endif
        case let value as Substring: return .string(String(value))
        case let value as Character: return .string(String(value))
        default:
            if CollectionElements.isCollection(value) { return .collection(value) }
            // An enumeration is compared by its raw value.
            guard !(type(of: value) is AnyClass), !(value is any PredicateFunctionTarget),
                let raw = value as? any RawRepresentable
            else {
                return .object(value)
            }
            return ComparableValue(raw.rawValue)
        }
    }

    private static func foundation(_ object: NSObject) -> ComparableValue {
        switch object {
        case is NSNull: return .null
        case let number as NSDecimalNumber: return .decimal(number.decimalValue)
        case let number as NSNumber:
            switch UInt8(bitPattern: number.objCType.pointee) {
            case UInt8(ascii: "d"), UInt8(ascii: "f"): return .double(number.doubleValue)
            case UInt8(ascii: "Q"): return wholeNumber(number.uint64Value)
            default: return .integer(number.int64Value)
            }
        case let string as NSString: return .string(String._unconditionallyBridgeFromObjectiveC(string))
        case let date as NSDate: return .date(date.timeIntervalSinceReferenceDate)
        case let id as NSUUID: return .object(UUID(uuidString: id.uuidString) as Any? ?? id)
        case let url as NSURL: return .object(URL(string: url.absoluteString) as Any? ?? url)
        case let data as NSData: return .object(Data(referencing: data))
        case is NSArray, is NSSet, is NSOrderedSet, is NSDictionary: return .collection(object)
        default: return .object(object)
        }
    }

    private static func wholeNumber(_ value: any BinaryInteger) -> ComparableValue {
        if let number = Int64(exactly: value) { return .integer(number) }
        if let number = UInt64(exactly: value) { return .decimal(Decimal(number)) }
        return .decimal(Decimal(string: "\(value)") ?? .nan)
    }

    var isNull: Bool {
        if case .null = self { return true }
        return false
    }

    var isCollection: Bool {
        if case .collection = self { return true }
        return false
    }

    /// The number, when the value is one.
    var doubleValue: Double? {
        switch self {
        case .integer(let number): Double(number)
        case .double(let number): number
        case .decimal(let number): Double("\(number)")
        default: nil
        }
    }

    /// The number, when the value is one that a decimal can hold. NaN is none.
    var decimalValue: Decimal? {
        switch self {
        case .integer(let number): Decimal(number)
        case .double(let number):
            Int64(exactly: number).map { Decimal($0) } ?? (number.isFinite ? Decimal(string: "\(number)") : nil)
        case .decimal(let number): number.isNaN ? nil : number
        default: nil
        }
    }

    /// The text for string operators: strings, and numbers, URLs and UUIDs as they print.
    package var stringValue: String? {
        switch self {
        case .string(let text): text
        case .integer(let number): String(number)
        case .double(let number): NSNumber(value: number).stringValue
        case .decimal(let number): "\(number)"
        case .object(let url as URL): url.absoluteString
        case .object(let id as UUID): id.uuidString
        default: nil
        }
    }
}

/// An Optional of any type. A value of type `Any` can be cast to it.
package protocol OptionalValue {
    static var wrappedType: Any.Type { get }
    var wrappedValue: Any? { get }
}

extension Optional: OptionalValue {
    package static var wrappedType: Any.Type { Wrapped.self }
    package var wrappedValue: Any? {
        switch self {
        case .some(let value): value
        case .none: nil
        }
    }
}
