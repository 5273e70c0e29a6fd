import Foundation

/// Finds the name of the property that a key path reads, by reading it from an object that only records.
///
/// Swift key paths of computed properties carry no name. A probe is an object of the class without context or values: its
/// accessors note the literal they were called with and give a placeholder.
final class KeyPathProbe {
    private(set) var components: [String] = []
    private var retained: [NSManagedObject] = []

    func record(_ name: String) { components.append(name) }

    /// The name of the property, or the dotted path; nil when the path reads no managed property.
    static func name(of keyPath: AnyKeyPath, in objectClass: NSManagedObject.Type) -> String? {
        let probe = KeyPathProbe()
        let object = probe.probeDestination(objectClass)
        _ = object[keyPath: keyPath]
        return probe.components.isEmpty ? nil : probe.components.joined(separator: ".")
    }

    /// A recording object of a class.
    func probeDestination<Object: NSManagedObject>(_ objectClass: Object.Type) -> Object {
        let object = Object(entity: Self.entity, insertInto: nil)
        object.flags.insert(.probe)
        object.makeExtras().probe = self
        retained.append(object)
        return object
    }

    /// An entity without properties, so that every accessor asks for an undeclared one.
    private static var entity: NSEntityDescription { ProbeModel.shared.entity }
}

private final class ProbeModel: @unchecked Sendable {
    // Sendable: made once, frozen, then only read.
    static let shared = ProbeModel()
    let model = NSManagedObjectModel()
    let entity = NSEntityDescription()
    let layout: ModelLayout

    private init() {
        entity.name = "KeyPathProbe"
        model.entities = [entity]
        layout = model.layout()
    }
}

/// Placeholders for non-optional types: what a probe gives, and what nil reads as through a non-optional property.
enum ProbeValues {
    static func value<Value>(of type: Value.Type) -> Value? {
        if let optional = type as? any ExpressibleByNilLiteral.Type { return optional.init(nilLiteral: ()) as? Value }
        return switch type {
        case is String.Type: "" as? Value
        case is Data.Type: Data() as? Value
        case is Date.Type: Date(timeIntervalSinceReferenceDate: 0) as? Value
        case is Decimal.Type: Decimal(0) as? Value
        case is NSDecimalNumber.Type: NSDecimalNumber.zero as? Value
        case is NSNumber.Type: NSNumber(value: 0) as? Value
        case is UUID.Type: UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)) as? Value
        case is URL.Type: URL(fileURLWithPath: "/") as? Value
        case is NSSet.Type: NSSet() as? Value
        case is NSOrderedSet.Type: NSOrderedSet() as? Value
        case let array as any EmptyInitializable.Type: array.init() as? Value
        default: nil
        }
    }
}

private protocol EmptyInitializable { init() }
extension Array: EmptyInitializable {}
extension Dictionary: EmptyInitializable {}
extension Set: EmptyInitializable {}
