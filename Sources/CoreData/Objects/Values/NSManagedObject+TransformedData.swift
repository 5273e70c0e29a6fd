import Foundation

extension NSManagedObject {
    /// The bytes of a transformable attribute's value, as a store keeps them; nil for nil, and if
    /// the transformer returns nil.
    ///
    /// - Throws: code 1550 if the attribute's transformer is missing or returns something other
    ///   than data.
    package final func transformedData(forKey key: String) throws -> Data? {
        guard let slot = layout.slotByName[key], let attribute = layout.slots[slot].attribute else { return nil }
        fireFaultIfNeeded(slot)
        switch currentValue(slot) {
        case .stored(.data(let data)): return data
        case .custom(let custom): return try Transformation.data(from: custom.value, attribute: attribute)
        default: return nil
        }
    }

    /// Returns the same bytes without throwing: nil for a value that cannot be transformed. A
    /// warning is printed once for each attribute. A save throws the cause.
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

    /// Sets a transformable attribute to the value that the bytes encode. If they cannot be decoded
    /// here, the bytes themselves are stored, and the attribute reads as nil.
    package final func setTransformedData(_ data: Data?, forKey key: String) {
        guard let slot = layout.slotByName[key], let attribute = layout.slots[slot].attribute else { return }
        let value = data.flatMap { Transformation.value(from: $0, attribute: attribute) }
        guard value == nil, let data else { return setObjectValue(value, slot: slot) }
        extras?.setDecoded(slot, nil)
        setTracked(.stored(.data(data)), slot: slot)
    }
}
