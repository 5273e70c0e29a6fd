import Foundation

/// Conversions between the values that users see (`Any`, at the edge that key-value coding
/// prescribes) and stored values.
enum PropertyConversion {
    /// Returns the value to keep for an attribute; nil when the type of `object` does not fit the
    /// attribute's.
    ///
    /// Numbers convert between numeric kinds as NSNumber does. Bridged values and Swift values are
    /// both accepted.
    static func value(from object: Any?, kind: ValueKind) -> AttributeValue? {
        switch kind {
        case .transformable, .composite, .undefined:
            guard let object = present(object) else { return .null }
            return .custom(CustomValue(object))
        default: return storedValue(from: object, kind: kind).map(AttributeValue.stored)
        }
    }

    /// Returns the value for an attribute that is kept without a transformer; nil for any other
    /// kind, too.
    static func storedValue(from object: Any?, kind: ValueKind) -> StoredValue? {
        guard let object = present(object) else { return .null }
        switch kind {
        case .int16:
            guard let number = integer(object) else { return nil }
            return .integer(Int64(Int16(truncatingIfNeeded: number)))
        case .int32:
            guard let number = integer(object) else { return nil }
            return .integer(Int64(Int32(truncatingIfNeeded: number)))
        case .int64:
            guard let number = integer(object) else { return nil }
            return .integer(number)
        case .boolean:
            if let bool = object as? Bool { return .integer(bool ? 1 : 0) }
            guard let number = integer(object) else { return nil }
            return .integer(number != 0 ? 1 : 0)
        case .double:
            guard let number = double(object) else { return nil }
            return .double(number)
        case .float:
            guard let number = double(object) else { return nil }
            return .double(Double(Float(number)))
        case .date:
            guard let date = object as? Date else { return nil }
            return .double(date.timeIntervalSinceReferenceDate)
        case .decimal:
            guard let number = decimal(object) else { return nil }
            return .decimal(number)
        case .string:
            guard let string = object as? String else { return nil }
            return .string(string)
        case .data, .json:
            guard let data = object as? Data else { return nil }
            return .data(data)
        case .uuid:
            guard let uuid = object as? UUID else { return nil }
            return .uuid(uuid)
        case .uri:
            guard let url = object as? URL else { return nil }
            return .string(url.absoluteString)
        case .transformable, .composite, .undefined: return nil
        // Contexts convert objects.
        case .toOne, .toMany, .orderedToMany, .fetched: return nil
        }
    }

    /// Returns a value as an object of a kind; nil without a value or a kind, and for a value of
    /// another kind.
    static func object(_ value: Any?, as kind: ValueKind?) -> Any? {
        guard let kind, let value, let converted = self.value(from: value, kind: kind) else { return nil }
        switch converted {
        case .stored(let stored): return object(from: stored, kind: kind)
        case .custom(let custom): return custom.value
        }
    }

    /// Returns the value in the form of key-value coding: NSNumber for numbers, String, Date, Data,
    /// UUID, URL, NSDecimalNumber.
    ///
    /// - Returns: nil for `.null` and for references, which only a context can resolve.
    static func object(from value: StoredValue, kind: ValueKind) -> Any? {
        switch value {
        case .null, .reference: return nil
        case .integer(let integer):
            switch kind {
            case .boolean: return NSNumber(value: integer != 0)
            case .int16: return NSNumber(value: Int16(truncatingIfNeeded: integer))
            case .int32: return NSNumber(value: Int32(truncatingIfNeeded: integer))
            case .double, .float: return NSNumber(value: Double(integer))
            case .date: return Date(timeIntervalSinceReferenceDate: Double(integer))
            default: return NSNumber(value: integer)
            }
        case .double(let double):
            switch kind {
            case .date: return Date(timeIntervalSinceReferenceDate: double)
            case .float: return NSNumber(value: Float(double))
            default: return NSNumber(value: double)
            }
        case .string(let string):
            return kind == .uri ? URL(string: string) : string
        case .data(let data): return data
        case .uuid(let uuid): return uuid
        case .decimal(let decimal): return NSDecimalNumber(decimal: decimal)
        }
    }

    /// Returns an attribute's value in the form that a store keeps.
    ///
    /// - Throws: a validation error when a transformable cannot be transformed.
    static func storeValue(_ value: AttributeValue, slot: PropertySlot) throws -> StoredValue {
        switch value {
        case .stored(let value): return value
        case .custom(let custom):
            guard let attribute = slot.attribute else { return .null }
            return try Transformation.data(from: custom.value, attribute: attribute).map(StoredValue.data) ?? .null
        }
    }

    /// Returns the innermost value of nested optionals.
    static func unwrapped(_ value: Any?) -> Any? {
        guard let value else { return nil }
        // A mirror takes longer than all other work on a value.
        let type = type(of: value)
        if type == String.self || type == Int.self || type == Double.self || type == Bool.self || type == Date.self
            || type == Int64.self || type == Int32.self || type == Int16.self || type == Float.self
            || type == Data.self || type == UUID.self || type == URL.self || type == Decimal.self
            || type is AnyClass
        {
            return value
        }
        let mirror = Mirror(reflecting: value)
        guard mirror.displayStyle == .optional else { return value }
        return unwrapped(mirror.children.first?.value)
    }

    /// Returns the innermost value; nil for `NSNull`, which stands for nil, too.
    static func present(_ value: Any?) -> Any? {
        guard let value = unwrapped(value) else { return nil }
        // A cast to a class is slow for values of other types.
        let mayBeNull = type(of: value) is AnyClass || type(of: value) == AnyHashable.self
        return mayBeNull && value is NSNull ? nil : value
    }

    private static func integer(_ object: Any) -> Int64? {
        // A cast to a class first tries to make an object of the number.
        if type(of: object) == Int64.self, let value = object as? Int64 { return value }
        switch object {
        case let value as Int: return Int64(value)
        case let value as NSNumber: return whole(value)
        case let value as Int64: return value
        case let value as Int32: return Int64(value)
        case let value as Int16: return Int64(value)
        case let value as any BinaryInteger: return Int64(truncatingIfNeeded: value)
        case let value as Bool: return value ? 1 : 0
        case let value as Double: return Int64(exactly: value.rounded(.towardZero))
        case let value as Float: return Int64(exactly: value.rounded(.towardZero))
        case let value as Decimal: return NSDecimalNumber(decimal: value).int64Value
        default: return nil
        }
    }

    /// Returns a number without its fraction. A floating-point number beyond 64 bits gives the
    /// nearest 64-bit whole number, as a cast in SQL does.
    private static func whole(_ number: NSNumber) -> Int64 {
        guard "df".utf8.contains(UInt8(bitPattern: number.objCType[0])) else { return number.int64Value }
        return switch number.doubleValue {
        case 0x1p63...: .max
        case ...(-0x1p63): .min
        default: number.int64Value
        }
    }

    private static func double(_ object: Any) -> Double? {
        switch object {
        case let value as Double: return value
        case let value as NSNumber: return value.doubleValue
        case let value as Float: return Double(value)
        case let value as any BinaryInteger: return Double(value)
        case let value as Bool: return value ? 1 : 0
        case let value as Decimal: return NSDecimalNumber(decimal: value).doubleValue
        default: return nil
        }
    }

    private static func decimal(_ object: Any) -> Decimal? {
        switch object {
        case let value as Decimal: return value
        case let value as NSDecimalNumber: return value.decimalValue
        case let value as NSNumber: return value.decimalValue
        case let value as any BinaryInteger: return Decimal(Int64(truncatingIfNeeded: value))
        case let value as Double: return Decimal(value)
        case let value as Float: return Decimal(Double(value))
        default: return nil
        }
    }
}
