import Foundation

// Functions that the overloads of the accessors share.

extension NSManagedObject {
    final func integerValue(_ slot: Int) -> Int64? {
        fireFaultIfNeeded(slot)
        if let row, slot < layout.storedCount, layout.slots[slot].kind.isInteger {
            return layout.isNull(row, slot) ? nil : Int64(bitPattern: row[slot])
        }
        switch currentValue(slot) {
        case .stored(.integer(let integer)): return integer
        case .stored(.double(let double)): return Int64(exactly: double.rounded(.towardZero))
        case .stored(.decimal(let decimal)): return NSDecimalNumber(decimal: decimal).int64Value
        case .custom(let custom): return (custom.value as? NSNumber)?.int64Value
        default: return nil
        }
    }

    /// Whether an integer is nil, as every integer is in an object whose row or context is gone.
    final func hasNoInteger(_ name: StaticString) -> Bool {
        layout.objects.slot(forLiteral: name).map { integerValue($0.slot) == nil } ?? false
    }

    final func doubleValue(_ slot: Int) -> Double? {
        fireFaultIfNeeded(slot)
        if let row, slot < layout.storedCount, layout.slots[slot].kind.isFloatingPoint {
            return layout.isNull(row, slot) ? nil : Double(bitPattern: row[slot])
        }
        switch currentValue(slot) {
        case .stored(.double(let double)): return double
        case .stored(.integer(let integer)): return Double(integer)
        case .stored(.decimal(let decimal)): return NSDecimalNumber(decimal: decimal).doubleValue
        case .custom(let custom): return (custom.value as? NSNumber)?.doubleValue
        default: return nil
        }
    }

    /// Returns any property as any type, by key-value coding; nil for nil.
    final func general<Value>(_ slot: Int, _ name: StaticString) -> Value? {
        guard let object = objectValue(slot) else { return nil }
        if let value = object as? Value { return value }
        // A to-many relationship may be declared as the mutable collection.
        if layout.slots[slot].kind.isToMany {
            let name = layout.slots[slot].name
            let members: Any = object is NSSet ? mutableSetValue(forKey: name) : mutableOrderedSetValue(forKey: name)
            if let members = members as? Value { return members }
        }
        preconditionFailure(
            "\(layout.name).\(name) is declared as \(Value.self), but the model's value is a \(Swift.type(of: object))."
        )
    }

    final func setInteger(_ value: Int64, _ name: StaticString) {
        let resolved = entry(name)
        guard resolved.isFound, resolved.kind.isInteger else { return setGeneral(value, name) }
        prepareForChange()
        storeTracked(.integer(value), slot: resolved.slot)
    }

    final func setDouble(_ value: Double, _ name: StaticString) {
        let resolved = entry(name)
        // A date may be declared as its seconds.
        guard resolved.isFound, resolved.kind == .double || resolved.kind == .float || resolved.kind == .date else {
            return setGeneral(value, name)
        }
        prepareForChange()
        storeTracked(.double(resolved.kind == .float ? Double(Float(value)) : value), slot: resolved.slot)
    }

    final func setNull(_ name: StaticString) {
        guard let resolved = layout.objects.slot(forLiteral: name) else { return setGeneral(nil, name) }
        if resolved.kind.isToMany { return setToMany([], slot: resolved.slot) }
        extras?.setDecoded(resolved.slot, nil)
        setTracked(.null, slot: resolved.slot)
    }

    /// The table entry of a property named by a literal; not found if there is none.
    @inline(__always)
    final func entry(_ name: StaticString) -> AccessorTable.Entry {
        let known = accessorTable.find(name)
        return known.isFound ? known : layout.objects.slot(forLiteral: name) ?? known
    }

    @inline(__always)
    final func set(
        _ name: StaticString, _ kind: ValueKind, _ value: StoredValue, _ object: @autoclosure () -> Any
    ) {
        let resolved = entry(name)
        guard resolved.isFound, resolved.kind == kind else { return setGeneral(object(), name) }
        prepareForChange()
        storeTracked(value, slot: resolved.slot)
    }

    final func setGeneral(_ value: Any?, _ name: StaticString) {
        guard let resolved = layout.objects.slot(forLiteral: name) else {
            guard let key = layout.keyOfPrimitive(name) else { return undeclaredStop(name) }
            return setPrimitiveValue(value, forKey: key)
        }
        setObjectValue(value, slot: resolved.slot)
    }

    /// Handles an accessor of a property that the entity does not have.
    ///
    /// A probe records the property, the name of a primitive accessor reads the storage, and any
    /// other name is a programmer's error.
    final func undeclared<Value>(_ name: StaticString, default value: Value) -> Value {
        guard flags.contains(.probe), let probe = extras?.probe else {
            guard layout.keyOfPrimitive(name) != nil else { return undeclaredStop(name) }
            return primitive(name) ?? value
        }
        // The type is written out: an Optional must be recorded as one.
        let recorded: Value? = probe.record(name.description, on: self)
        return recorded ?? value
    }

    /// Handles an accessor of a relationship that the entity does not have; a probe records it.
    final func probeDestination<Destination: NSManagedObject>(
        _ name: StaticString, _ type: Destination.Type, isOptional: Bool
    ) -> Destination {
        guard flags.contains(.probe), let probe = extras?.probe else { return undeclaredStop(name) }
        return probe.record(name.description, on: self, to: type, isOptional: isOptional)
    }

    /// Records that a property of a probe is read. Returns a placeholder, or one of the values if
    /// the type has none.
    public final func _recordProbe<Value>(_ name: StaticString, among values: @autoclosure () -> [Value]) -> Value? {
        extras?.probe?.record(name.description, on: self) ?? _replaceProbeValue(among: values())
    }

    /// Records that the property of a probe that was read last returns one of these values, as its
    /// placeholder does not have the property's type.
    public final func _replaceProbeValue<Value>(among values: [Value]) -> Value? {
        extras?.probe?.replaceLast(among: values)
    }

    /// Returns the default of a property that is not Optional, which stands for nil.
    final func filledIn<Value>(_ value: Value) -> Value {
        if flags.contains(.probe) { extras?.probe?.recordDefault() }
        return value
    }

    final func isPrimitive(_ name: StaticString) -> Bool {
        !flags.contains(.probe) && layout.keyOfPrimitive(name) != nil
    }

    /// The stored value of `x` for the name `primitiveX`; nil for any other name.
    final func primitive<Value>(_ name: StaticString) -> Value? {
        guard let key = layout.keyOfPrimitive(name), let slot = layout.slotByName[key], !flags.contains(.fault),
            let object = objectValue(slot)
        else { return nil }
        if let value = object as? Value { return value }
        // A to-many relationship may be declared as the mutable collection.
        if let value = primitiveValue(forKey: key) as? Value { return value }
        preconditionFailure(
            "\(Swift.type(of: self)).\(name) is declared as \(Value.self), but the value of \(layout.name).\(key) is a "
                + "\(Swift.type(of: object)).")
    }

    /// Stops the program: no value can stand for nil in a property that is not Optional.
    final func missingStop<Value>(_ name: StaticString, _ type: Value.Type) -> Never {
        let property = layout.slotByName[name.description].map { layout.slots[$0] }
        let cause =
            property?.isOptional == false
            ? "The model requires it: it was not set yet, or others have emptied it in the store, where the row has "
                + "to be corrected."
            : "The model lets it be nil."
        preconditionFailure(
            "\(layout.name).\(name) is nil, but is declared as \(type) (\(descriptionOfIdentity)). \(cause) "
                + "value(forKey:) gives nil for it, and validateForUpdate() throws where it is required; or declare "
                + "the property optional."
        )
    }

    /// Stops the program: a probe has no placeholder of a property's type.
    final func probeStop<Value>(_ name: StaticString) -> Value {
        preconditionFailure(
            "A key path cannot name \(Swift.type(of: self)).\(name), as no \(Value.self) could be made up to read: "
                + "write the name in a "
                + "predicate's format or a sort descriptor's key, or make the property optional.")
    }

    final func undeclaredStop<Value>(_ name: StaticString) -> Value {
        preconditionFailure(
            "\(Swift.type(of: self)) declares the managed property \"\(name)\", but the entity \(layout.name) has "
                + "none of this "
                + "name (\(layout.propertySlots.map(\.name).joined(separator: ", "))).")
    }
}

extension EntityLayout {
    /// The property `x` that an accessor named `primitiveX` stands for, if there is one.
    final func keyOfPrimitive(_ name: StaticString) -> String? {
        let name = name.description
        guard name.hasPrefix("primitive"), let first = name.dropFirst("primitive".count).first else { return nil }
        let rest = name.dropFirst("primitive".count + 1)
        return [first.lowercased() + rest, String(first) + rest].first { slotByName[$0] != nil }
    }

    @inline(__always)
    final func isNull(_ row: RowPointer, _ slot: Int) -> Bool {
        row.isNull(slot, wordCount: wordCount)
    }
}
