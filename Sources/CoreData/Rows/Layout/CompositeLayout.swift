import Foundation

/// The slots of a composite attribute's elements. The attribute itself has no value in a row; each
/// element has one.
///
/// Users see the value as a dictionary of the elements' values, with a dictionary for each inner
/// composite. An element that is nil has no entry, and a composite whose elements are all nil is
/// nil.
final class CompositeLayout: Sendable {
    enum Part: Sendable {
        case element(name: String, slot: Int)
        case composite(name: String, CompositeLayout)
    }

    /// The names on the key path to the composite, joined by dots.
    let path: String
    let parts: [Part]
    /// The slots of all elements, including those of inner composites, in declared order.
    let slots: [Int]
    let isOptional: Bool
    /// Whether the composite may have a value with all its elements nil.
    let mayBeEmpty: Bool

    /// - Parameter slot: returns the slot of an element by its path.
    init(_ composite: NSCompositeAttributeDescription, path: String, slot: (String) -> Int?) {
        self.path = path
        isOptional = composite.isOptional
        parts = composite.elements.compactMap { element in
            let elementPath = path + "." + element.name
            if let inner = element as? NSCompositeAttributeDescription {
                return .composite(name: element.name, CompositeLayout(inner, path: elementPath, slot: slot))
            }
            return slot(elementPath).map { .element(name: element.name, slot: $0) }
        }
        slots = parts.flatMap { part in
            switch part {
            case .element(_, let slot): [slot]
            case .composite(_, let inner): inner.slots
            }
        }
        // An enumeration always has one of its cases.
        mayBeEmpty = !composite.isEnumeration && composite.elements.allSatisfy(\.isOptional)
    }

    /// Returns the inner composite at a path of names; nil for an element and for an unknown name.
    func composite(at names: ArraySlice<String>) -> CompositeLayout? {
        guard let first = names.first else { return self }
        for case .composite(name: first, let inner) in parts { return inner.composite(at: names.dropFirst()) }
        return nil
    }

    // MARK: Values

    func dictionary(_ value: (Int) throws -> Any?) rethrows -> [String: Any]? {
        var result: [String: Any] = [:]
        for part in parts {
            switch part {
            case .element(let name, let slot): if let value = try value(slot) { result[name] = value }
            case .composite(let name, let inner): if let value = try inner.dictionary(value) { result[name] = value }
            }
        }
        return result.isEmpty ? nil : result
    }

    /// Returns the values of the elements in a dictionary, in declared order; for nil, all of them
    /// are nil.
    ///
    /// - Throws: a problem for anything that is not a dictionary and for a name that no element
    ///   has.
    func elements(of value: Any?) throws(CompositeProblem) -> [(slot: Int, value: Any?)] {
        guard let value = PropertyConversion.present(value) else {
            return slots.map { ($0, nil) }
        }
        guard let dictionary = Self.dictionary(value) else { throw .noDictionary(path) }
        var result: [(slot: Int, value: Any?)] = []
        var known = 0
        for part in parts {
            switch part {
            case .element(let name, let slot):
                let value = dictionary[name]
                if value != nil { known += 1 }
                result.append((slot, value))
            case .composite(let name, let inner):
                let value = dictionary[name]
                if value != nil { known += 1 }
                result += try inner.elements(of: value)
            }
        }
        if known < dictionary.count {
            let names = Set(parts.map(\.name))
            throw .unknownElement(path, dictionary.keys.filter { !names.contains($0) }.min() ?? "")
        }
        return result
    }

    /// Returns a dictionary with names as keys, whatever types it has for keys and values.
    static func dictionary(_ value: Any) -> [String: Any]? {
        if let dictionary = value as? [String: Any] { return dictionary }
        guard let dictionary = value as? NSDictionary else { return nil }
        var result: [String: Any] = [:]
        for (key, value) in dictionary {
            guard let name = key as? String else { return nil }
            result[name] = value
        }
        return result
    }
}

extension CompositeLayout.Part {
    var name: String {
        switch self {
        case .element(let name, _), .composite(let name, _): name
        }
    }
}

/// The reason why a value does not fit a composite attribute.
enum CompositeProblem: Error {
    case noDictionary(String)
    case unknownElement(String, String)
    case wrongType(String, expected: String, given: String)

    /// The reason as the end of a sentence.
    var reason: String {
        switch self {
        case .noDictionary(let path): "'\(path)' takes a dictionary of its elements' values"
        case .unknownElement(let path, let name): "'\(path)' has no element '\(name)'"
        case .wrongType(let path, let expected, let given): "'\(path)' takes \(expected), not \(given)"
        }
    }
}
