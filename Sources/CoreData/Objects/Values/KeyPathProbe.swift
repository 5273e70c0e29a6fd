import Foundation
import Synchronization

/// Finds the name of the property that a key path reads, by reading it from an object that only
/// records.
///
/// Swift key paths of computed properties carry no name. A probe is an object of the class without
/// context or values: its accessors record the literal with which they were called and return a
/// placeholder. A property that the class itself declares and that computes its value from managed
/// properties has no name. Such a property returns something other than the placeholder, so every
/// key path is read twice, with different placeholders.
final class KeyPathProbe {
    /// The set of placeholders that the accessors return.
    enum Round {
        case first
        /// Other placeholders, and nil for optionals.
        case second
    }

    private let round: Round
    private var components: [String] = []
    private var retained: [NSManagedObject] = []
    /// The object at the end of the path: a property read from it extends the path.
    private var current: NSManagedObject?
    /// The value that the last accessor returned.
    private var last: Any?
    private var lastIsOptional = false
    /// Whether a property that is not Optional returned its default for nil.
    private var filledIn = false
    private var passedOptional = false
    private var isComputed = false

    private init(_ round: Round) { self.round = round }

    // MARK: Recording

    /// An attribute or a collection was read: the path ends.
    func record<Value>(_ name: String, on object: NSManagedObject) -> Value? {
        follow(name, on: object)
        current = nil
        lastIsOptional = Value.self is any ExpressibleByNilLiteral.Type
        let value = ProbeValues.placeholder(of: Value.self, round)
        last = value
        return value
    }

    /// A relationship was read: the path continues at its destination.
    func record<Destination: NSManagedObject>(
        _ name: String, on object: NSManagedObject, to type: Destination.Type, isOptional: Bool
    ) -> Destination {
        follow(name, on: object)
        let destination = probeDestination(type)
        current = destination
        last = destination
        lastIsOptional = isOptional
        return destination
    }

    /// Replaces the last value, an integer that is not a raw value of the property's type.
    func replaceLast<Value>() -> Value? {
        let value = ProbeValues.placeholder(of: Value.self, round)
        last = value
        return value
    }

    /// Replaces the last value, which was of another type; nil if there are none.
    func replaceLast<Value>(among values: [Value]) -> Value? {
        guard let value = round == .first ? values.first : values.last else { return nil }
        last = value
        lastIsOptional = Value.self is any ExpressibleByNilLiteral.Type
        return value
    }

    /// Records that a property whose type is not Optional returned its default for nil.
    func recordDefault() { filledIn = true }

    private func follow(_ name: String, on object: NSManagedObject) {
        if object !== current { isComputed = true }
        if lastIsOptional { passedOptional = true }
        components.append(name)
    }

    /// Creates a recording object of a class.
    func probeDestination<Object: NSManagedObject>(_ objectClass: Object.Type) -> Object {
        // The class that was passed, which may be a subclass of `Object`.
        let object = objectClass.init(entity: ProbeModel.shared.entity, insertInto: nil)
        object.becomeProbe()
        object.makeExtras().probe = self
        retained.append(object)
        return object
    }

    // MARK: Naming

    /// The name of the property, or the dotted path.
    ///
    /// Nil if the path reads no managed property, or computes something from one.
    ///
    /// Cost: some microseconds the first time, then a look-up.
    static func name(of keyPath: AnyKeyPath, in objectClass: NSManagedObject.Type) -> String? {
        // Key paths are immutable, and compared with the values they capture.
        let key = Unchecked(CacheKey(keyPath: keyPath, objectClass: ObjectIdentifier(objectClass)))
        if let known = names.withLock({ $0[key.value] }) { return known.isEmpty ? nil : known }
        let name = findName(of: keyPath, in: objectClass)
        names.withLock { $0[key.value] = name ?? "" }
        return name
    }

    private struct CacheKey: Hashable {
        let keyPath: AnyKeyPath
        let objectClass: ObjectIdentifier
    }

    /// Guards the names found so far; the name is empty for a key path without one.
    private static let names = Mutex<[CacheKey: String]>([:])

    /// The result of one round of reading.
    private struct Reading {
        let properties: [String]
        /// The elements on the way from the last property, a composite one, to the value.
        var elements: [String] = []
        /// Whether the last property was nil and therefore has no elements.
        var isNil = false
    }

    private static func findName(of keyPath: AnyKeyPath, in objectClass: NSManagedObject.Type) -> String? {
        if entersValue(keyPath) { return nil }
        guard let first = read(keyPath, in: objectClass, .first), let second = read(keyPath, in: objectClass, .second),
            first.properties == second.properties, first.elements == second.elements || second.isNil
        else { return nil }
        return (first.properties + first.elements).joined(separator: ".")
    }

    /// Whether a key path continues inside a text, data or a list, as `\\Person.tags[0]` does.
    ///
    /// No property is found there, and reading it would ask a placeholder for elements that it may
    /// not have. The text of a key path contains the type of each step.
    private static func entersValue(_ keyPath: AnyKeyPath) -> Bool {
        let steps = "\(keyPath)".components(separatedBy: ".<computed ").dropFirst().dropLast()
        return steps.contains { step in
            guard let open = step.firstIndex(of: "(") else { return false }
            let type = step[step.index(after: open)...]
            let wrapped = type.hasPrefix("Optional<") ? type.dropFirst("Optional<".count) : type
            return ["Array<", "ArraySlice<", "ContiguousArray<", "Data", "String"].contains { name in
                guard wrapped.hasPrefix(name) else { return false }
                return name.hasSuffix("<") || wrapped.dropFirst(name.count).first.map { ")>".contains($0) } ?? false
            }
        }
    }

    private static func read(_ keyPath: AnyKeyPath, in objectClass: NSManagedObject.Type, _ round: Round) -> Reading? {
        let probe = KeyPathProbe(round)
        let object = probe.probeDestination(objectClass)
        probe.current = object
        guard let value = object[keyPath: keyPath] else { return nil }
        if let objectID = PropertyConversion.unwrapped(value) as? NSManagedObjectID {
            guard let current = probe.current, objectID === current.objectID, !probe.isComputed else { return nil }
            return Reading(properties: probe.components + ["objectID"])
        }
        let isOptional = type(of: keyPath).valueType is any ExpressibleByNilLiteral.Type
        guard !probe.components.isEmpty, !probe.isComputed,
            let elements = CompositeProbe.elements(
                from: probe.last, to: value, by: keyPath, of: probe.components.last ?? "")
        else { return nil }
        if !isOptional {
            // A default replaced nil, in the property's accessor or in code that computes.
            if round == .second, probe.lastIsOptional, !probe.filledIn { return nil }
            if probe.passedOptional, !"\(keyPath)".contains("!") { return nil }
        }
        return Reading(
            properties: probe.components, elements: elements, isNil: PropertyConversion.unwrapped(probe.last) == nil)
    }
}

private final class ProbeModel: Sendable {
    static let shared = ProbeModel()
    let model = NSManagedObjectModel()
    /// An entity without properties, so that every accessor asks for an undeclared one.
    let entity = NSEntityDescription()
    let layout: ModelLayout

    private init() {
        entity.name = "KeyPathProbe"
        model.entities = [entity]
        layout = model.objectLayouts()
    }
}
