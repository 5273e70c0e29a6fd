extension Bool: NativeAttributeValue {
    public static var _attributeType: NSAttributeType { .booleanAttributeType }
    @inlinable @inline(__always)
    public static func _get(_ object: NSManagedObject, _ name: StaticString) -> Bool {
        object._managedValue(forSlotNamed: name)
    }
    @inlinable @inline(__always)
    public static func _getOptional(_ object: NSManagedObject, _ name: StaticString) -> Bool? {
        object._managedValue(forSlotNamed: name)
    }
    @inlinable @inline(__always)
    public static func _set(_ value: Bool, _ object: NSManagedObject, _ name: StaticString) {
        object._setManagedValue(value, forSlotNamed: name)
    }
    @inlinable @inline(__always)
    public static func _setOptional(_ value: Bool?, _ object: NSManagedObject, _ name: StaticString) {
        object._setManagedValue(value, forSlotNamed: name)
    }
    @inlinable @inline(__always)
    public static func _get(_ row: _StoredRow, _ name: StaticString) -> Bool? {
        row._integer(name).map { $0 != 0 }
    }
    @inlinable public static var _empty: Bool { false }
}

extension Double: NumberOrDate {
    public static var _attributeType: NSAttributeType { .doubleAttributeType }
    @inlinable @inline(__always)
    public static func _get(_ object: NSManagedObject, _ name: StaticString) -> Double {
        object._managedValue(forSlotNamed: name)
    }
    @inlinable @inline(__always)
    public static func _getOptional(_ object: NSManagedObject, _ name: StaticString) -> Double? {
        object._managedValue(forSlotNamed: name)
    }
    @inlinable @inline(__always)
    public static func _set(_ value: Double, _ object: NSManagedObject, _ name: StaticString) {
        object._setManagedValue(value, forSlotNamed: name)
    }
    @inlinable @inline(__always)
    public static func _setOptional(_ value: Double?, _ object: NSManagedObject, _ name: StaticString) {
        object._setManagedValue(value, forSlotNamed: name)
    }
    @inlinable @inline(__always)
    public static func _get(_ row: _StoredRow, _ name: StaticString) -> Double? {
        row._double(name)
    }
}

extension Float: NumberOrDate {
    public static var _attributeType: NSAttributeType { .floatAttributeType }
    @inlinable @inline(__always)
    public static func _get(_ object: NSManagedObject, _ name: StaticString) -> Float {
        object._managedValue(forSlotNamed: name)
    }
    @inlinable @inline(__always)
    public static func _getOptional(_ object: NSManagedObject, _ name: StaticString) -> Float? {
        object._managedValue(forSlotNamed: name)
    }
    @inlinable @inline(__always)
    public static func _set(_ value: Float, _ object: NSManagedObject, _ name: StaticString) {
        object._setManagedValue(value, forSlotNamed: name)
    }
    @inlinable @inline(__always)
    public static func _setOptional(_ value: Float?, _ object: NSManagedObject, _ name: StaticString) {
        object._setManagedValue(value, forSlotNamed: name)
    }
    @inlinable @inline(__always)
    public static func _get(_ row: _StoredRow, _ name: StaticString) -> Float? {
        row._double(name).map { Float($0) }
    }
}

extension String: NativeAttributeValue {
    public static var _attributeType: NSAttributeType { .stringAttributeType }
    @inlinable @inline(__always)
    public static func _get(_ object: NSManagedObject, _ name: StaticString) -> String {
        object._managedValue(forSlotNamed: name)
    }
    @inlinable @inline(__always)
    public static func _getOptional(_ object: NSManagedObject, _ name: StaticString) -> String? {
        object._managedValue(forSlotNamed: name)
    }
    @inlinable @inline(__always)
    public static func _setOptional(_ value: String?, _ object: NSManagedObject, _ name: StaticString) {
        object._setManagedValue(value, forSlotNamed: name)
    }
    @inlinable @inline(__always)
    public static func _get(_ row: _StoredRow, _ name: StaticString) -> String? {
        row._string(name)
    }
    @inlinable public static var _empty: String { "" }
}

extension Date: NumberOrDate {
    public static var _attributeType: NSAttributeType { .dateAttributeType }
    @inlinable @inline(__always)
    public static func _get(_ object: NSManagedObject, _ name: StaticString) -> Date {
        object._managedValue(forSlotNamed: name)
    }
    @inlinable @inline(__always)
    public static func _getOptional(_ object: NSManagedObject, _ name: StaticString) -> Date? {
        object._managedValue(forSlotNamed: name)
    }
    @inlinable @inline(__always)
    public static func _setOptional(_ value: Date?, _ object: NSManagedObject, _ name: StaticString) {
        object._setManagedValue(value, forSlotNamed: name)
    }
    @inlinable @inline(__always)
    public static func _get(_ row: _StoredRow, _ name: StaticString) -> Date? {
        row._double(name).map { Date(timeIntervalSinceReferenceDate: $0) }
    }
    @inlinable public static var _empty: Date { Date(timeIntervalSinceReferenceDate: 0) }
}

extension Data: NativeAttributeValue {
    public static var _attributeType: NSAttributeType { .binaryDataAttributeType }
    @inlinable @inline(__always)
    public static func _get(_ object: NSManagedObject, _ name: StaticString) -> Data {
        object._managedValue(forSlotNamed: name)
    }
    @inlinable @inline(__always)
    public static func _getOptional(_ object: NSManagedObject, _ name: StaticString) -> Data? {
        object._managedValue(forSlotNamed: name)
    }
    @inlinable @inline(__always)
    public static func _setOptional(_ value: Data?, _ object: NSManagedObject, _ name: StaticString) {
        object._setManagedValue(value, forSlotNamed: name)
    }
    @inlinable @inline(__always)
    public static func _get(_ row: _StoredRow, _ name: StaticString) -> Data? {
        row._data(name)
    }
    @inlinable public static var _empty: Data { Data() }
}

extension UUID: NativeAttributeValue {
    public static var _attributeType: NSAttributeType { .UUIDAttributeType }
    @inlinable @inline(__always)
    public static func _get(_ object: NSManagedObject, _ name: StaticString) -> UUID {
        object._managedValue(forSlotNamed: name)
    }
    @inlinable @inline(__always)
    public static func _getOptional(_ object: NSManagedObject, _ name: StaticString) -> UUID? {
        object._managedValue(forSlotNamed: name)
    }
    @inlinable @inline(__always)
    public static func _setOptional(_ value: UUID?, _ object: NSManagedObject, _ name: StaticString) {
        object._setManagedValue(value, forSlotNamed: name)
    }
    @inlinable @inline(__always)
    public static func _get(_ row: _StoredRow, _ name: StaticString) -> UUID? {
        row._uuid(name)
    }
    @inlinable public static var _empty: UUID { UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)) }
}

extension URL: NativeAttributeValue {
    public static var _attributeType: NSAttributeType { .URIAttributeType }
    @inlinable @inline(__always)
    public static func _get(_ object: NSManagedObject, _ name: StaticString) -> URL {
        object._managedValue(forSlotNamed: name)
    }
    @inlinable @inline(__always)
    public static func _getOptional(_ object: NSManagedObject, _ name: StaticString) -> URL? {
        object._managedValue(forSlotNamed: name)
    }
    @inlinable @inline(__always)
    public static func _setOptional(_ value: URL?, _ object: NSManagedObject, _ name: StaticString) {
        object._setManagedValue(value, forSlotNamed: name)
    }
    @inlinable @inline(__always)
    public static func _get(_ row: _StoredRow, _ name: StaticString) -> URL? {
        row._string(name).flatMap { URL(string: $0) }
    }
    @inlinable public static var _empty: URL { URL(fileURLWithPath: "/") }
}

extension Decimal: NumberOrDate {
    public static var _attributeType: NSAttributeType { .decimalAttributeType }
    @inlinable @inline(__always)
    public static func _get(_ object: NSManagedObject, _ name: StaticString) -> Decimal {
        object._managedValue(forSlotNamed: name)
    }
    @inlinable @inline(__always)
    public static func _getOptional(_ object: NSManagedObject, _ name: StaticString) -> Decimal? {
        object._managedValue(forSlotNamed: name)
    }
    @inlinable @inline(__always)
    public static func _setOptional(_ value: Decimal?, _ object: NSManagedObject, _ name: StaticString) {
        object._setManagedValue(value, forSlotNamed: name)
    }
    @inlinable @inline(__always)
    public static func _get(_ row: _StoredRow, _ name: StaticString) -> Decimal? {
        row._decimal(name)
    }
}
