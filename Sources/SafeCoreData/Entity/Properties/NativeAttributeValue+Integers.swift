// Each type calls the engine's own accessor, so that the compiler selects its overload: nothing is
// boxed or converted twice.

extension Int16: NativeAttributeValue {
    public static var _attributeType: NSAttributeType { .integer16AttributeType }
    @inlinable @inline(__always)
    public static func _get(_ object: NSManagedObject, _ name: StaticString) -> Int16 {
        object._managedValue(forSlotNamed: name)
    }
    @inlinable @inline(__always)
    public static func _getOptional(_ object: NSManagedObject, _ name: StaticString) -> Int16? {
        object._managedValue(forSlotNamed: name)
    }
    @inlinable @inline(__always)
    public static func _set(_ value: Int16, _ object: NSManagedObject, _ name: StaticString) {
        object._setManagedValue(value, forSlotNamed: name)
    }
    @inlinable @inline(__always)
    public static func _setOptional(_ value: Int16?, _ object: NSManagedObject, _ name: StaticString) {
        object._setManagedValue(value, forSlotNamed: name)
    }
    @inlinable @inline(__always)
    public static func _get(_ row: _StoredRow, _ name: StaticString) -> Int16? {
        row._integer(name).map { Int16(truncatingIfNeeded: $0) }
    }
    @inlinable
    public static var _empty: Int16 { 0 }
}

extension Int32: NativeAttributeValue {
    public static var _attributeType: NSAttributeType { .integer32AttributeType }
    @inlinable @inline(__always)
    public static func _get(_ object: NSManagedObject, _ name: StaticString) -> Int32 {
        object._managedValue(forSlotNamed: name)
    }
    @inlinable @inline(__always)
    public static func _getOptional(_ object: NSManagedObject, _ name: StaticString) -> Int32? {
        object._managedValue(forSlotNamed: name)
    }
    @inlinable @inline(__always)
    public static func _set(_ value: Int32, _ object: NSManagedObject, _ name: StaticString) {
        object._setManagedValue(value, forSlotNamed: name)
    }
    @inlinable @inline(__always)
    public static func _setOptional(_ value: Int32?, _ object: NSManagedObject, _ name: StaticString) {
        object._setManagedValue(value, forSlotNamed: name)
    }
    @inlinable @inline(__always)
    public static func _get(_ row: _StoredRow, _ name: StaticString) -> Int32? {
        row._integer(name).map { Int32(truncatingIfNeeded: $0) }
    }
    @inlinable
    public static var _empty: Int32 { 0 }
}

extension Int64: NativeAttributeValue {
    public static var _attributeType: NSAttributeType { .integer64AttributeType }
    @inlinable @inline(__always)
    public static func _get(_ object: NSManagedObject, _ name: StaticString) -> Int64 {
        object._managedValue(forSlotNamed: name)
    }
    @inlinable @inline(__always)
    public static func _getOptional(_ object: NSManagedObject, _ name: StaticString) -> Int64? {
        object._managedValue(forSlotNamed: name)
    }
    @inlinable @inline(__always)
    public static func _set(_ value: Int64, _ object: NSManagedObject, _ name: StaticString) {
        object._setManagedValue(value, forSlotNamed: name)
    }
    @inlinable @inline(__always)
    public static func _setOptional(_ value: Int64?, _ object: NSManagedObject, _ name: StaticString) {
        object._setManagedValue(value, forSlotNamed: name)
    }
    @inlinable @inline(__always)
    public static func _get(_ row: _StoredRow, _ name: StaticString) -> Int64? {
        row._integer(name).map { Int64(truncatingIfNeeded: $0) }
    }
    @inlinable
    public static var _empty: Int64 { 0 }
}

extension Int: NativeAttributeValue {
    public static var _attributeType: NSAttributeType { .integer64AttributeType }
    @inlinable @inline(__always)
    public static func _get(_ object: NSManagedObject, _ name: StaticString) -> Int {
        object._managedValue(forSlotNamed: name)
    }
    @inlinable @inline(__always)
    public static func _getOptional(_ object: NSManagedObject, _ name: StaticString) -> Int? {
        object._managedValue(forSlotNamed: name)
    }
    @inlinable @inline(__always)
    public static func _set(_ value: Int, _ object: NSManagedObject, _ name: StaticString) {
        object._setManagedValue(value, forSlotNamed: name)
    }
    @inlinable @inline(__always)
    public static func _setOptional(_ value: Int?, _ object: NSManagedObject, _ name: StaticString) {
        object._setManagedValue(value, forSlotNamed: name)
    }
    @inlinable @inline(__always)
    public static func _get(_ row: _StoredRow, _ name: StaticString) -> Int? {
        row._integer(name).map { Int(truncatingIfNeeded: $0) }
    }
    @inlinable
    public static var _empty: Int { 0 }
}

extension Int8: NativeAttributeValue {
    public static var _attributeType: NSAttributeType { .integer16AttributeType }
    @inlinable @inline(__always)
    public static func _get(_ object: NSManagedObject, _ name: StaticString) -> Int8 {
        object._managedValue(forSlotNamed: name)
    }
    @inlinable @inline(__always)
    public static func _getOptional(_ object: NSManagedObject, _ name: StaticString) -> Int8? {
        object._managedValue(forSlotNamed: name)
    }
    @inlinable @inline(__always)
    public static func _set(_ value: Int8, _ object: NSManagedObject, _ name: StaticString) {
        object._setManagedValue(value, forSlotNamed: name)
    }
    @inlinable @inline(__always)
    public static func _setOptional(_ value: Int8?, _ object: NSManagedObject, _ name: StaticString) {
        object._setManagedValue(value, forSlotNamed: name)
    }
    @inlinable @inline(__always)
    public static func _get(_ row: _StoredRow, _ name: StaticString) -> Int8? {
        row._integer(name).map { Int8(truncatingIfNeeded: $0) }
    }
    @inlinable
    public static var _empty: Int8 { 0 }
}

extension UInt8: NativeAttributeValue {
    public static var _attributeType: NSAttributeType { .integer16AttributeType }
    @inlinable @inline(__always)
    public static func _get(_ object: NSManagedObject, _ name: StaticString) -> UInt8 {
        object._managedValue(forSlotNamed: name)
    }
    @inlinable @inline(__always)
    public static func _getOptional(_ object: NSManagedObject, _ name: StaticString) -> UInt8? {
        object._managedValue(forSlotNamed: name)
    }
    @inlinable @inline(__always)
    public static func _set(_ value: UInt8, _ object: NSManagedObject, _ name: StaticString) {
        object._setManagedValue(value, forSlotNamed: name)
    }
    @inlinable @inline(__always)
    public static func _setOptional(_ value: UInt8?, _ object: NSManagedObject, _ name: StaticString) {
        object._setManagedValue(value, forSlotNamed: name)
    }
    @inlinable @inline(__always)
    public static func _get(_ row: _StoredRow, _ name: StaticString) -> UInt8? {
        row._integer(name).map { UInt8(truncatingIfNeeded: $0) }
    }
    @inlinable
    public static var _empty: UInt8 { 0 }
}

extension UInt16: NativeAttributeValue {
    public static var _attributeType: NSAttributeType { .integer32AttributeType }
    @inlinable @inline(__always)
    public static func _get(_ object: NSManagedObject, _ name: StaticString) -> UInt16 {
        object._managedValue(forSlotNamed: name)
    }
    @inlinable @inline(__always)
    public static func _getOptional(_ object: NSManagedObject, _ name: StaticString) -> UInt16? {
        object._managedValue(forSlotNamed: name)
    }
    @inlinable @inline(__always)
    public static func _set(_ value: UInt16, _ object: NSManagedObject, _ name: StaticString) {
        object._setManagedValue(value, forSlotNamed: name)
    }
    @inlinable @inline(__always)
    public static func _setOptional(_ value: UInt16?, _ object: NSManagedObject, _ name: StaticString) {
        object._setManagedValue(value, forSlotNamed: name)
    }
    @inlinable @inline(__always)
    public static func _get(_ row: _StoredRow, _ name: StaticString) -> UInt16? {
        row._integer(name).map { UInt16(truncatingIfNeeded: $0) }
    }
    @inlinable
    public static var _empty: UInt16 { 0 }
}

extension UInt32: NativeAttributeValue {
    public static var _attributeType: NSAttributeType { .integer64AttributeType }
    @inlinable @inline(__always)
    public static func _get(_ object: NSManagedObject, _ name: StaticString) -> UInt32 {
        object._managedValue(forSlotNamed: name)
    }
    @inlinable @inline(__always)
    public static func _getOptional(_ object: NSManagedObject, _ name: StaticString) -> UInt32? {
        object._managedValue(forSlotNamed: name)
    }
    @inlinable @inline(__always)
    public static func _set(_ value: UInt32, _ object: NSManagedObject, _ name: StaticString) {
        object._setManagedValue(value, forSlotNamed: name)
    }
    @inlinable @inline(__always)
    public static func _setOptional(_ value: UInt32?, _ object: NSManagedObject, _ name: StaticString) {
        object._setManagedValue(value, forSlotNamed: name)
    }
    @inlinable @inline(__always)
    public static func _get(_ row: _StoredRow, _ name: StaticString) -> UInt32? {
        row._integer(name).map { UInt32(truncatingIfNeeded: $0) }
    }
    @inlinable
    public static var _empty: UInt32 { 0 }
}

extension UInt64: NativeAttributeValue {
    public static var _attributeType: NSAttributeType { .integer64AttributeType }
    @inlinable @inline(__always)
    public static func _get(_ object: NSManagedObject, _ name: StaticString) -> UInt64 {
        object._managedValue(forSlotNamed: name)
    }
    @inlinable @inline(__always)
    public static func _getOptional(_ object: NSManagedObject, _ name: StaticString) -> UInt64? {
        object._managedValue(forSlotNamed: name)
    }
    @inlinable @inline(__always)
    public static func _set(_ value: UInt64, _ object: NSManagedObject, _ name: StaticString) {
        object._setManagedValue(value, forSlotNamed: name)
    }
    @inlinable @inline(__always)
    public static func _setOptional(_ value: UInt64?, _ object: NSManagedObject, _ name: StaticString) {
        object._setManagedValue(value, forSlotNamed: name)
    }
    @inlinable @inline(__always)
    public static func _get(_ row: _StoredRow, _ name: StaticString) -> UInt64? {
        row._integer(name).map { UInt64(truncatingIfNeeded: $0) }
    }
    @inlinable
    public static var _empty: UInt64 { 0 }
}

extension UInt: NativeAttributeValue {
    public static var _attributeType: NSAttributeType { .integer64AttributeType }
    @inlinable @inline(__always)
    public static func _get(_ object: NSManagedObject, _ name: StaticString) -> UInt {
        object._managedValue(forSlotNamed: name)
    }
    @inlinable @inline(__always)
    public static func _getOptional(_ object: NSManagedObject, _ name: StaticString) -> UInt? {
        object._managedValue(forSlotNamed: name)
    }
    @inlinable @inline(__always)
    public static func _set(_ value: UInt, _ object: NSManagedObject, _ name: StaticString) {
        object._setManagedValue(value, forSlotNamed: name)
    }
    @inlinable @inline(__always)
    public static func _setOptional(_ value: UInt?, _ object: NSManagedObject, _ name: StaticString) {
        object._setManagedValue(value, forSlotNamed: name)
    }
    @inlinable @inline(__always)
    public static func _get(_ row: _StoredRow, _ name: StaticString) -> UInt? {
        row._integer(name).map { UInt(truncatingIfNeeded: $0) }
    }
    @inlinable
    public static var _empty: UInt { 0 }
}
