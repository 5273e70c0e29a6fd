import Foundation

// `@Managed` properties expand to calls of these methods. The compiler chooses the overload by the
// property's type, so that no value is boxed. A property whose type does not fit the model's
// attribute takes the slower general path, which converts the value or explains the error.

extension NSManagedObject {
    // MARK: Integers

    // Always inlined: otherwise a function that reads many properties, especially through views,
    // would soon be too large for the optimizer.
    @inlinable @inline(__always)
    public final func _managedValue(forSlotNamed name: StaticString) -> Int64 {
        if let row {
            let known = accessorTable.first(name)
            if known.isInteger { return Int64(bitPattern: row[known.slot]) }
        }
        return readInteger(name)
    }
    @inline(never) @usableFromInline
    final func readInteger(_ name: StaticString) -> Int64 {
        let known = accessorTable.find(name)
        if flags.contains(.fault) { fireFault(known.isFound ? known.slot : -1) }
        if let row, known.isInteger { return Int64(bitPattern: row[known.slot]) }
        guard let resolved = layout.objects.slot(forLiteral: name) else { return undeclared(name, default: 0) }
        return integerValue(resolved.slot) ?? 0
    }
    @inlinable
    public final func _managedValue(forSlotNamed name: StaticString) -> Int32 {
        Int32(truncatingIfNeeded: _managedValue(forSlotNamed: name) as Int64)
    }
    @inlinable
    public final func _managedValue(forSlotNamed name: StaticString) -> Int16 {
        Int16(truncatingIfNeeded: _managedValue(forSlotNamed: name) as Int64)
    }
    @inlinable
    public final func _managedValue(forSlotNamed name: StaticString) -> Int {
        Int(truncatingIfNeeded: _managedValue(forSlotNamed: name) as Int64)
    }
    @inlinable
    public final func _managedValue(forSlotNamed name: StaticString) -> Bool {
        if let row {
            let known = accessorTable.first(name)
            if known.isInteger { return row[known.slot] != 0 }
        }
        return readBool(name)
    }
    @inline(never) @usableFromInline
    final func readBool(_ name: StaticString) -> Bool {
        // A probe must know that a Boolean was requested.
        flags.contains(.probe) ? undeclared(name, default: false) : readInteger(name) != 0
    }
    public final func _managedValue<Integer: FixedWidthInteger>(forSlotNamed name: StaticString) -> Integer {
        Integer(truncatingIfNeeded: _managedValue(forSlotNamed: name) as Int64)
    }
    public final func _managedValue<Integer: FixedWidthInteger>(forSlotNamed name: StaticString) -> Integer? {
        guard let resolved = layout.objects.slot(forLiteral: name) else { return undeclared(name, default: nil) }
        return integerValue(resolved.slot).map { Integer(truncatingIfNeeded: $0) }
    }
    public final func _managedValue(forSlotNamed name: StaticString) -> Bool? {
        guard let resolved = layout.objects.slot(forLiteral: name) else { return undeclared(name, default: nil) }
        return integerValue(resolved.slot).map { $0 != 0 }
    }
    public final func _setManagedValue(_ value: Int64, forSlotNamed name: StaticString) { setInteger(value, name) }
    public final func _setManagedValue(_ value: Int32, forSlotNamed name: StaticString) {
        setInteger(Int64(value), name)
    }
    public final func _setManagedValue(_ value: Int16, forSlotNamed name: StaticString) {
        setInteger(Int64(value), name)
    }
    public final func _setManagedValue(_ value: Int, forSlotNamed name: StaticString) { setInteger(Int64(value), name) }
    public final func _setManagedValue(_ value: Bool, forSlotNamed name: StaticString) {
        setInteger(value ? 1 : 0, name)
    }
    public final func _setManagedValue<Integer: FixedWidthInteger>(_ value: Integer, forSlotNamed name: StaticString) {
        setInteger(Int64(truncatingIfNeeded: value), name)
    }
    public final func _setManagedValue<Integer: FixedWidthInteger>(_ value: Integer?, forSlotNamed name: StaticString) {
        if let value { setInteger(Int64(truncatingIfNeeded: value), name) } else { setNull(name) }
    }
    public final func _setManagedValue(_ value: Bool?, forSlotNamed name: StaticString) {
        if let value { setInteger(value ? 1 : 0, name) } else { setNull(name) }
    }

    // MARK: Floating point

    @inlinable
    public final func _managedValue(forSlotNamed name: StaticString) -> Double {
        if let row {
            let known = accessorTable.first(name)
            if known.isFloatingPoint { return Double(bitPattern: row[known.slot]) }
        }
        return readDouble(name)
    }
    @inline(never) @usableFromInline
    final func readDouble(_ name: StaticString) -> Double {
        let known = accessorTable.find(name)
        if flags.contains(.fault) { fireFault(known.isFound ? known.slot : -1) }
        if let row, known.isFloatingPoint { return Double(bitPattern: row[known.slot]) }
        guard let resolved = layout.objects.slot(forLiteral: name) else { return undeclared(name, default: 0) }
        return doubleValue(resolved.slot) ?? 0
    }
    @inlinable
    public final func _managedValue(forSlotNamed name: StaticString) -> Float {
        Float(_managedValue(forSlotNamed: name) as Double)
    }
    public final func _managedValue(forSlotNamed name: StaticString) -> Double? {
        guard let resolved = layout.objects.slot(forLiteral: name) else { return undeclared(name, default: nil) }
        return doubleValue(resolved.slot)
    }
    public final func _managedValue(forSlotNamed name: StaticString) -> Float? {
        (_managedValue(forSlotNamed: name) as Double?).map { Float($0) }
    }
    public final func _setManagedValue(_ value: Double, forSlotNamed name: StaticString) { setDouble(value, name) }
    public final func _setManagedValue(_ value: Float, forSlotNamed name: StaticString) {
        setDouble(Double(value), name)
    }
    public final func _setManagedValue(_ value: Double?, forSlotNamed name: StaticString) {
        if let value { setDouble(value, name) } else { setNull(name) }
    }
    public final func _setManagedValue(_ value: Float?, forSlotNamed name: StaticString) {
        if let value { setDouble(Double(value), name) } else { setNull(name) }
    }

    // MARK: Dates

    public final func _managedValue(forSlotNamed name: StaticString) -> Date? {
        if let row {
            let known = accessorTable.find(name)
            if known.isFound, known.kind == .date {
                if layout.isNull(row, known.slot) { return nil }
                return Date(timeIntervalSinceReferenceDate: Double(bitPattern: row[known.slot]))
            }
        }
        guard let resolved = layout.objects.slot(forLiteral: name) else { return undeclared(name, default: nil) }
        guard resolved.kind == .date else { return general(resolved.slot, name) }
        return doubleValue(resolved.slot).map(Date.init(timeIntervalSinceReferenceDate:))
    }
    public final func _managedValue(forSlotNamed name: StaticString) -> Date {
        (_managedValue(forSlotNamed: name) as Date?) ?? filledIn(Date(timeIntervalSinceReferenceDate: 0))
    }
    public final func _setManagedValue(_ value: Date?, forSlotNamed name: StaticString) {
        guard let value else { return setNull(name) }
        set(name, .date, .double(value.timeIntervalSinceReferenceDate), value)
    }

    // MARK: Text

    public final func _managedValue(forSlotNamed name: StaticString) -> String? {
        if let row {
            let known = accessorTable.find(name)
            if known.isFound, known.kind == .string { return string(row, known.slot) }
        }
        return readString(name)
    }
    @inline(__always)
    private final func string(_ row: RowPointer, _ slot: Int) -> String? {
        // A word of 0 is nil or an empty text; every other word is a text.
        if row[slot] == 0, layout.isNull(row, slot) { return nil }
        let bytes = row.rowPage.withObject { $0.bytes(row, slot) }
        return String(decoding: bytes, as: UTF8.self)
    }
    @inline(never)
    private final func readString(_ name: StaticString) -> String? {
        guard let resolved = layout.objects.slot(forLiteral: name) else { return undeclared(name, default: nil) }
        guard resolved.kind == .string else { return general(resolved.slot, name) }
        fireFaultIfNeeded(resolved.slot)
        if let row { return string(row, resolved.slot) }
        if case .stored(.string(let string)) = currentValue(resolved.slot) { return string }
        return nil
    }
    public final func _managedValue(forSlotNamed name: StaticString) -> String {
        (_managedValue(forSlotNamed: name) as String?) ?? filledIn("")
    }
    public final func _setManagedValue(_ value: String?, forSlotNamed name: StaticString) {
        guard let value else { return setNull(name) }
        set(name, .string, .string(value), value)
    }

    // MARK: Bytes, UUIDs, URLs, decimals

    public final func _managedValue(forSlotNamed name: StaticString) -> Data? {
        guard let resolved = layout.objects.slot(forLiteral: name) else { return undeclared(name, default: nil) }
        guard resolved.kind == .data else { return general(resolved.slot, name) }
        fireFaultIfNeeded(resolved.slot)
        if case .stored(.data(let data)) = currentValue(resolved.slot) { return data }
        return nil
    }
    public final func _managedValue(forSlotNamed name: StaticString) -> Data {
        (_managedValue(forSlotNamed: name) as Data?) ?? filledIn(Data())
    }
    public final func _setManagedValue(_ value: Data?, forSlotNamed name: StaticString) {
        guard let value else { return setNull(name) }
        set(name, .data, .data(value), value)
    }
    public final func _managedValue(forSlotNamed name: StaticString) -> UUID? {
        guard let resolved = layout.objects.slot(forLiteral: name) else { return undeclared(name, default: nil) }
        guard resolved.kind == .uuid else { return general(resolved.slot, name) }
        fireFaultIfNeeded(resolved.slot)
        if case .stored(.uuid(let uuid)) = currentValue(resolved.slot) { return uuid }
        return nil
    }
    public final func _managedValue(forSlotNamed name: StaticString) -> UUID {
        (_managedValue(forSlotNamed: name) as UUID?)
            ?? filledIn(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)))
    }
    public final func _setManagedValue(_ value: UUID?, forSlotNamed name: StaticString) {
        guard let value else { return setNull(name) }
        set(name, .uuid, .uuid(value), value)
    }
    public final func _managedValue(forSlotNamed name: StaticString) -> URL? {
        guard let resolved = layout.objects.slot(forLiteral: name) else { return undeclared(name, default: nil) }
        return general(resolved.slot, name)
    }
    public final func _setManagedValue(_ value: URL?, forSlotNamed name: StaticString) {
        guard let value else { return setNull(name) }
        set(name, .uri, .string(value.absoluteString), value)
    }
    public final func _managedValue(forSlotNamed name: StaticString) -> Decimal? {
        guard let resolved = layout.objects.slot(forLiteral: name) else { return undeclared(name, default: nil) }
        guard resolved.kind == .decimal else { return general(resolved.slot, name) }
        fireFaultIfNeeded(resolved.slot)
        if case .stored(.decimal(let decimal)) = currentValue(resolved.slot) { return decimal }
        return nil
    }
    public final func _managedValue(forSlotNamed name: StaticString) -> Decimal {
        (_managedValue(forSlotNamed: name) as Decimal?) ?? filledIn(0)
    }
    public final func _setManagedValue(_ value: Decimal?, forSlotNamed name: StaticString) {
        guard let value else { return setNull(name) }
        set(name, .decimal, .decimal(value), value)
    }

    // MARK: Relationships

    public final func _managedValue<Destination: NSManagedObject>(forSlotNamed name: StaticString) -> Destination? {
        destination(name)
    }
    public final func _managedValue<Destination: NSManagedObject>(forSlotNamed name: StaticString) -> Destination {
        guard let destination = destination(name, isRequired: true) as Destination? else {
            missingStop(name, Destination.self)
        }
        return destination
    }
    private final func destination<Destination: NSManagedObject>(
        _ name: StaticString, isRequired: Bool = false
    ) -> Destination? {
        guard let resolved = layout.objects.slot(forLiteral: name) else {
            if isPrimitive(name) { return primitive(name) }
            let destination = probeDestination(name, Destination.self, isOptional: !isRequired)
            return destination
        }
        guard resolved.kind == .toOne else { return general(resolved.slot, name) }
        guard let object = toOne(resolved.slot) else { return nil }
        guard let destination = object as? Destination else {
            preconditionFailure(
                "\(layout.name).\(name) is declared as \(Destination.self), but its object is a "
                    + "\(Swift.type(of: object))."
            )
        }
        return destination
    }
    public final func _setManagedValue<Destination: NSManagedObject>(
        _ value: Destination?, forSlotNamed name: StaticString
    ) {
        guard let resolved = layout.objects.slot(forLiteral: name), resolved.kind == .toOne else {
            return setGeneral(value, name)
        }
        setToOne(value, slot: resolved.slot)
    }
    public final func _managedValue<Destination: NSManagedObject>(forSlotNamed name: StaticString) -> Set<Destination> {
        destinations(name)
    }
    private final func destinations<Destination: NSManagedObject>(_ name: StaticString) -> Set<Destination> {
        guard let resolved = layout.objects.slot(forLiteral: name), resolved.kind.isToMany else {
            if isPrimitive(name) { return primitive(name) ?? [] }
            return [probeDestination(name, Destination.self, isOptional: false)]
        }
        let members = toManySet(resolved.slot)
        if members.isInstances(of: Destination.self) {
            // Sets of classes that share one `hash` and `==` are laid out alike.
            return unsafeBitCast(members.set, to: Set<Destination>.self)
        }
        return Set(members.set.lazy.compactMap { $0 as? Destination })
    }
    public final func _managedValue<Destination: NSManagedObject>(forSlotNamed name: StaticString) -> Set<Destination>?
    {
        .some(destinations(name))
    }
    public final func _managedValue<Destination: NSManagedObject>(forSlotNamed name: StaticString) -> [Destination] {
        guard let resolved = layout.objects.slot(forLiteral: name) else {
            if isPrimitive(name) { return primitive(name) ?? [] }
            return [probeDestination(name, Destination.self, isOptional: false)]
        }
        // A fetched property has an array already.
        guard resolved.kind.isToMany else { return general(resolved.slot, name) ?? [] }
        return toManyMembers(resolved.slot).objects.compactMap { $0 as? Destination }
    }
    public final func _setManagedValue<Destination: NSManagedObject>(
        _ value: Set<Destination>?, forSlotNamed name: StaticString
    ) {
        guard let resolved = layout.objects.slot(forLiteral: name), resolved.kind.isToMany else {
            return setGeneral(value, name)
        }
        setToMany(value.map { Array($0) } ?? [], slot: resolved.slot)
    }
    public final func _setManagedValue<Destination: NSManagedObject>(
        _ value: [Destination], forSlotNamed name: StaticString
    ) {
        guard let resolved = layout.objects.slot(forLiteral: name), resolved.kind.isToMany else {
            return setGeneral(value, name)
        }
        setToMany(value, slot: resolved.slot)
    }

    // MARK: Everything else: NSNumber, NSSet, NSOrderedSet, NSDecimalNumber, transformable types,
    // enumerations

    @_disfavoredOverload
    public final func _managedValue<Value>(forSlotNamed name: StaticString) -> Value { anyValue(name) }
    // For types that are also superclasses of managed objects: otherwise the compiler chooses the
    // overloads of relationships.
    public final func _managedValue(forSlotNamed name: StaticString) -> NSObject? { anyValue(name) }
    public final func _managedValue(forSlotNamed name: StaticString) -> NSObject { anyValue(name) }
    public final func _managedValue(forSlotNamed name: StaticString) -> Any? { anyValue(name) }
    private final func anyValue<Value>(_ name: StaticString) -> Value {
        guard let resolved = layout.objects.slot(forLiteral: name) else {
            if flags.contains(.probe) {
                guard let value = extras?.probe?.record(name.description, on: self) as Value? else {
                    return probeStop(name)
                }
                return value
            }
            guard let value: Value = primitive(name) ?? ProbeValues.value(of: Value.self) else {
                return undeclaredStop(name)
            }
            return value
        }
        if let value: Value = general(resolved.slot, name) { return value }
        if let value = ProbeValues.value(of: Value.self) { return value }
        missingStop(name, Value.self)
    }
    public final func _managedValue<Value: RawRepresentable>(forSlotNamed name: StaticString) -> Value
    where Value.RawValue: FixedWidthInteger {
        let raw: Int64 = _managedValue(forSlotNamed: name)
        guard let value = Value.RawValue(exactly: raw).flatMap(Value.init(rawValue:)) else {
            if flags.contains(.probe), let value = extras?.probe?.replaceLast() as Value? { return value }
            if hasNoInteger(name), let value: Value = ProbeValues.firstCase() { return value }
            preconditionFailure("\(layout.name).\(name) holds \(raw), which is no value of \(Value.self).")
        }
        return value
    }
    @_disfavoredOverload
    public final func _setManagedValue<Value>(_ value: Value, forSlotNamed name: StaticString) {
        setGeneral(value, name)
    }
    public final func _setManagedValue<Value: RawRepresentable>(_ value: Value, forSlotNamed name: StaticString)
    where Value.RawValue: FixedWidthInteger {
        setInteger(Int64(truncatingIfNeeded: value.rawValue), name)
    }
}
