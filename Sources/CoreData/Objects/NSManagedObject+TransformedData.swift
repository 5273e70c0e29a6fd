import Foundation

extension NSManagedObject {
    /// The bytes of a transformable attribute's value, as a store keeps them; nil for nil, and where the transformer gives nil.
    ///
    /// - Throws: code 1550 when the attribute's transformer is missing or gives something else than data.
    package final func transformedData(forKey key: String) throws -> Data? {
        guard let slot = layout.slotByName[key], let attribute = layout.slots[slot].attribute else { return nil }
        fireFaultIfNeeded(slot)
        switch currentValue(slot) {
        case .stored(.data(let data)): return data
        case .custom(let custom): return try Transformation.data(from: custom.value, attribute: attribute)
        default: return nil
        }
    }

    /// The same where nothing can be thrown: nil for a value that gives no bytes, which is said once for each attribute. A save throws why.
    package final func transformedDataIfAny(forKey key: String) -> Data? {
        do {
            return try transformedData(forKey: key)
        } catch {
            let place = "\(layout.name).\(key)"
            Warnings.sayOnce(about: "transformed value of \(place)") {
                "A value of \(place) is nil in snapshots: \(error.localizedDescription)"
            }
            return nil
        }
    }

    /// Sets a transformable attribute to the value that bytes stand for, or to the bytes themselves where they cannot be read
    /// here: they read as nil then, but are stored.
    package final func setTransformedData(_ data: Data?, forKey key: String) {
        guard let slot = layout.slotByName[key], let attribute = layout.slots[slot].attribute else { return }
        let value = data.flatMap { Transformation.value(from: $0, attribute: attribute) }
        guard value == nil, let data else { return setObjectValue(value, slot: slot) }
        extras?.setDecoded(slot, nil)
        setTracked(.stored(.data(data)), slot: slot)
    }
}
