import Foundation

/// The values that stand for nil in properties that are not Optional.
enum ProbeValues {
    static func value<Value>(of type: Value.Type) -> Value? {
        if let optional = type as? any ExpressibleByNilLiteral.Type { return optional.init(nilLiteral: ()) as? Value }
        return switch type {
        case is String.Type: "" as? Value
        case is Data.Type: Data() as? Value
        case is Date.Type: Date(timeIntervalSinceReferenceDate: 0) as? Value
        case is Decimal.Type: Decimal(0) as? Value
        case is NSDecimalNumber.Type: NSDecimalNumber.zero as? Value
        case is NSNumber.Type: NSNumber(value: 0) as? Value
        case is UUID.Type: UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)) as? Value
        case is URL.Type: URL(fileURLWithPath: "/") as? Value
        case is NSSet.Type: NSSet() as? Value
        case is NSOrderedSet.Type: NSOrderedSet() as? Value
        case let array as any EmptyInitializable.Type: array.init() as? Value
        default: nil
        }
    }
}

// The placeholders that a probe's accessors return.
extension ProbeValues {
    /// A value that a computation is likely to change; nil for a type without one.
    static func placeholder<Value>(of type: Value.Type, _ round: KeyPathProbe.Round) -> Value? {
        let isFirst = round == .first
        if let optional = type as? any OptionalPlaceholder.Type {
            return isFirst ? optional.placeholder() as? Value : value(of: type)
        }
        if let integer = type as? any FixedWidthInteger.Type { return integer.init(isFirst ? 77 : 19) as? Value }
        let placeholder: Any? =
            switch type {
            case is Bool.Type: isFirst
            case is Double.Type: isFirst ? 77.625 : -19.375
            case is Float.Type: isFirst ? Float(77.625) : Float(-19.375)
            case is String.Type: isFirst ? "Pr\u{f6}be 77" : "pR\u{d6}BE 19"
            case is Data.Type: Data([77, isFirst ? 1 : 2])
            case is Date.Type: Date(timeIntervalSinceReferenceDate: isFirst ? 77.625 : 19.375)
            case is Decimal.Type: Decimal(isFirst ? 77 : 19)
            case is UUID.Type: UUID(uuid: (77, isFirst ? 1 : 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
            case is URL.Type: URL(fileURLWithPath: isFirst ? "/probe/77" : "/probe/19")
            default: value(of: type)
            }
        let cases = placeholder == nil ? EnumerationCases.all(of: type) : []
        return placeholder as? Value ?? (isFirst ? cases.first : cases.last) ?? zeroed(type)
    }

    /// The case that an enumeration property without a value reads as; nil for other types.
    static func firstCase<Value>() -> Value? { EnumerationCases.all(of: Value.self).first }

    /// A value whose bits are all zero, of a type without references, such as an enumeration. It is
    /// valid if the type has any valid value.
    private static func zeroed<Value>(_ type: Value.Type) -> Value? {
        guard _isPOD(type) else { return nil }
        return withUnsafeTemporaryAllocation(
            byteCount: max(MemoryLayout<Value>.size, 1), alignment: MemoryLayout<Value>.alignment
        ) { bytes in
            _ = bytes.initializeMemory(as: UInt8.self, repeating: 0)
            return bytes.load(as: Value.self)
        }
    }

    /// Whether a key path returned the value that the accessor returned.
    static func areSame(_ value: Any, _ placeholder: Any?) -> Bool {
        guard let value = unwrapped(value) else { return unwrapped(placeholder) == nil }
        guard let placeholder = unwrapped(placeholder) else { return isDefault(value) }
        if let placeholder = placeholder as? NSManagedObject { return leads(value, to: placeholder) }
        if let value = value as? AnyHashable, let placeholder = placeholder as? AnyHashable, value == placeholder {
            return true
        }
        if let raw = value as? any RawRepresentable, !(placeholder is any RawRepresentable) {
            return areSame(raw.rawValue, placeholder)
        }
        if let number = value as? NSDecimalNumber, let decimal = placeholder as? Decimal {
            return number.decimalValue == decimal
        }
        return !(placeholder is AnyHashable) && type(of: value) == type(of: placeholder)
    }

    /// Whether a value is this object or a collection of this object alone.
    private static func leads(_ value: Any, to object: NSManagedObject) -> Bool {
        switch value {
        case let value as NSManagedObject: value === object
        case let set as Set<NSManagedObject>: set == [object]
        case let array as [NSManagedObject]: array == [object]
        default: false
        }
    }

    private static func unwrapped(_ value: Any?) -> Any? { PropertyConversion.unwrapped(value) }

    /// Whether a value is the one that stands for nil.
    private static func isDefault(_ value: Any) -> Bool {
        if let raw = value as? any RawRepresentable { return isDefault(raw.rawValue) }
        func isDefault<Actual>(_ value: Actual) -> Bool {
            // Unwrapped first: an Optional makes another AnyHashable.
            guard let standard = self.value(of: Actual.self) else { return false }
            return (value as? AnyHashable).map { $0 == standard as? AnyHashable } ?? false
        }
        return _openExistential(value, do: isDefault)
    }
}

private protocol EmptyInitializable { init() }
extension Array: EmptyInitializable {}
extension Dictionary: EmptyInitializable {}
extension Set: EmptyInitializable {}

private protocol OptionalPlaceholder {
    static func placeholder() -> Any?
}

extension Optional: OptionalPlaceholder {
    fileprivate static func placeholder() -> Any? { ProbeValues.placeholder(of: Wrapped.self, .first) }
}
