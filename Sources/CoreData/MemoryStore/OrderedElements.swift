/// Elements by key, in the order in which their keys were added.
///
/// Finding, adding and removing take constant time on average.
struct OrderedElements<Key: Hashable & Sendable, Element: Sendable>: Sendable {
    /// The elements in order; nil where an element was removed.
    private(set) var places: ContiguousArray<Element?> = []
    private var placeOfKey: [Key: Int] = [:]

    var count: Int { placeOfKey.count }

    subscript(key: Key) -> Element? { placeOfKey[key].flatMap { places[$0] } }

    func contains(_ key: Key) -> Bool { placeOfKey[key] != nil }

    /// Adds an element at the end, or replaces the element of the same key in its place.
    mutating func put(_ element: Element, for key: Key) {
        if let place = placeOfKey[key] {
            places[place] = element
        } else {
            placeOfKey[key] = places.count
            places.append(element)
        }
    }

    /// - Parameter key: the key of the element to remove.
    mutating func remove(_ key: Key, keyOf: (Element) -> Key) {
        guard let place = placeOfKey.removeValue(forKey: key) else { return }
        places[place] = nil
        guard places.count > 64, placeOfKey.count * 2 < places.count else { return }
        places.removeAll { $0 == nil }
        for (place, element) in places.enumerated() {
            if let element { placeOfKey[keyOf(element)] = place }
        }
    }
}
