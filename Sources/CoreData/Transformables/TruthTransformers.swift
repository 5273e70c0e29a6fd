import Foundation

final class NegateBooleanTransformer: ValueTransformer, @unchecked Sendable {
    // Sendable: no state.
    override class func transformedValueClass() -> AnyClass { NSNumber.self }

    override func transformedValue(_ value: Any?) -> Any? {
        NSNumber(value: !((value as? NSNumber)?.boolValue ?? false))
    }

    override func reverseTransformedValue(_ value: Any?) -> Any? { transformedValue(value) }
}

class IsNilTransformer: ValueTransformer, @unchecked Sendable {
    // Sendable: no state.
    override class func transformedValueClass() -> AnyClass { NSNumber.self }

    override class func allowsReverseTransformation() -> Bool { false }

    override func transformedValue(_ value: Any?) -> Any? { NSNumber(value: value == nil || value is NSNull) }

    override func reverseTransformedValue(_ value: Any?) -> Any? { nil }
}

final class IsNotNilTransformer: IsNilTransformer, @unchecked Sendable {
    // Sendable: no state.
    override func transformedValue(_ value: Any?) -> Any? { NSNumber(value: value != nil && !(value is NSNull)) }
}
