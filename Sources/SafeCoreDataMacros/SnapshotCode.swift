import SwiftSyntax
import SwiftSyntaxBuilder

/// Writes the snapshot type of an `@Entity` class.
struct SnapshotCode {
    let entity: EntityClass
    let places: PropertyPlaces

    var members: [DeclSyntax] { [structure, snapshotType] + (entity.inheritsEntity ? [method] : []) }

    /// Transient properties are in no store and in no snapshot.
    private var properties: [EntityProperty] { entity.properties.filter { !$0.isTransient } }

    private var inherited: String? {
        entity.inheritsEntity ? entity.superclass.map { "\($0.description).Snapshot" } : nil
    }

    private var structure: DeclSyntax {
        let access = entity.access.prefix
        let lookup = inherited == nil ? "" : "@dynamicMemberLookup "
        var lines: [String] = ["\(access)typealias Object = \(entity.name)", "\(access)var objectID: ObjectReference"]
        if let inherited {
            lines = [lines[0]] + objectIDOfSuperclass(access) + ["\(access)var _inherited: \(inherited)"]
        }
        lines += properties.map { property in
            places.placing(
                "@SnapshotProperty(\(property.kind.description)) \(propertyAccess(property))var \(property.identifier)",
                at: property)
        }
        lines.append("")
        lines += initializers(access)
        lines += visitor(access)
        if let inherited { lines += lookups(access, inherited) }
        return """
            /// The values of a `\(raw: entity.name)` at one time.
            \(raw: lookup)\(raw: access)struct Snapshot: EntitySnapshot {
                \(raw: lines.joined(separator: "\n    "))
            }
            """
    }

    private func objectIDOfSuperclass(_ access: String) -> [String] {
        [
            "\(access)var objectID: ObjectReference {", "    get { _inherited.objectID }",
            "    set { _inherited.objectID = newValue }", "}",
        ]
    }

    private func initializers(_ access: String) -> [String] {
        let identity = inherited.map { "_inherited = \($0)(objectID)" } ?? "self.objectID = objectID"
        let source = inherited.map { "_inherited = \($0)(_reading: reader)" } ?? "objectID = reader._reference"
        return ["\(access)init(_ objectID: ObjectReference = .new(\(entity.name).self)) {", "    \(identity)", "}"]
            + ["\(access)init(_reading reader: borrowing SnapshotReader) {", "    \(source)"]
            + properties.map { "    _\($0.name)._read(reader, \"\($0.name)\")" } + ["}"]
    }

    private func visitor(_ access: String) -> [String] {
        ["\(access)mutating func _visit<Visitor: SnapshotVisitor>(_ visitor: inout Visitor) throws {"]
            + (inherited == nil ? [] : ["    try _inherited._visit(&visitor)"])
            + properties.map { property in
                "    try visitor.visit(&_\(property.name), \"\(property.name)\", isDerived: \(property.isDerived))"
            } + ["}"]
    }

    /// The properties of the superclass's snapshot are this one's as well.
    private func lookups(_ access: String, _ inherited: String) -> [String] {
        [
            "\(access)subscript<Value>(dynamicMember keyPath: WritableKeyPath<\(inherited), Value>) -> Value {",
            "    get { _inherited[keyPath: keyPath] }", "    set { _inherited[keyPath: keyPath] = newValue }", "}",
        ]
    }

    private func propertyAccess(_ property: EntityProperty) -> String {
        let access = Access(property.variable.modifiers)
        return access <= .fileprivate ? "fileprivate " : min(access, entity.access).prefix
    }

    private var snapshotType: DeclSyntax {
        let override = entity.inheritsEntity ? "override " : ""
        let kind = entity.isFinal && !entity.inheritsEntity ? "static" : "class"
        let access = entity.isFinal ? entity.access : entity.overrideAccess
        return """
            \(raw: access.prefix)\(raw: override)\(raw: kind) var _snapshotType: any EntitySnapshot.Type {
                Snapshot.self
            }
            """
    }

    /// The superclass's method gives the superclass's type.
    private var method: DeclSyntax {
        """
        /// The object's values, unsaved changes included; with key paths only of those properties.
        \(raw: entity.access.prefix)func snapshot(_ keyPaths: PartialKeyPath<\(raw: entity.name)>...) -> Snapshot {
            _snapshot(Snapshot.self, keyPaths)
        }
        """
    }
}
