import Foundation

// Composite attributes: dictionaries for users, stored in the slots of their elements.

extension NSManagedObject {
    /// The dictionary of a composite attribute's current elements; fires the fault.
    final func compositeValue(_ composite: CompositeLayout) -> [String: Any]? {
        fireFaultIfNeeded(composite.slots.first ?? -1)
        return composite.dictionary { objectValue($0) }
    }

    /// Sets every element of a composite attribute. Elements that the dictionary does not contain
    /// become nil.
    ///
    /// - Parameter isTracked: Whether the change is recorded.
    final func setComposite(_ value: Any?, _ composite: CompositeLayout, isTracked: Bool = true) {
        let elements: [(slot: Int, value: AttributeValue)]
        do {
            elements = try layout.elementValues(of: value, composite)
        } catch {
            preconditionFailure("Unacceptable value for \(layout.name).\(composite.path): \(error.reason).")
        }
        prepareForChange()
        for (slot, value) in elements {
            extras?.setDecoded(slot, nil)
            store(PropertyValue(value), slot: slot)
            if isTracked { noteChange(slot) }
        }
    }

    /// Sets the property at the end of a path of names; the property may be an element of a
    /// composite attribute: `address.city`. Does nothing if an object on the path is nil.
    ///
    /// If a composite attribute is nil, its other elements become nil.
    ///
    /// ```swift
    /// order.setValue("Graz", forKeyPath: "address.city")      // the other elements stay
    /// ```
    public final func setValue(_ value: Any?, forKeyPath keyPath: String) {
        var names = keyPath.pathNames
        var object = self
        while names.count > 1 {
            if object.layout.composite(at: [names[0]]) != nil { return object.setElement(value, at: names, keyPath) }
            guard let slot = object.layout.slotByName[names[0]], object.layout.slots[slot].kind == .toOne else { break }
            guard let next = object.value(forKey: names.removeFirst()) as? NSManagedObject else { return }
            object = next
        }
        KeyValue.setValue(value, forKeyPath: names.joined(separator: "."), of: object)
    }

    private func setElement(_ value: Any?, at names: [String], _ keyPath: String) {
        if let slot = layout.slotByPath[names.joined(separator: ".")] { return setObjectValue(value, slot: slot) }
        guard let composite = layout.composite(at: names) else {
            preconditionFailure(
                "The composite attribute \(layout.name).\(names[0]) has no element "
                    + "\"\(names.dropFirst().joined(separator: "."))\" "
                    + "(\(keyPath)).")
        }
        setComposite(value, composite)
    }
}
