import SwiftSyntax
import SwiftSyntaxBuilder

/// Generates the snapshot type of an `@Entity` class.
struct SnapshotCode {
    let entity: EntityClass
    let places: PropertyPlaces

    var members: [DeclSyntax] { [structure, snapshotType] + subclasses + methods }

    /// The declaration that all snapshots of a final root class have this one type. For other
    /// classes the protocol's default allows several types.
    private var subclasses: [DeclSyntax] {
        if !entity.isFinal || entity.inheritsEntity { return [] }
        return ["\(raw: entity.access.prefix)typealias _Subclasses = Never"]
    }

    /// The properties of the snapshot: transient properties are neither in a store nor in a
    /// snapshot.
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
            + ["\(access)init(_reading reader: borrowing _SnapshotReader) {", "    \(source)"]
            + properties.map { "    _\($0.name)._read(reader, \"\($0.name)\")" } + ["}"]
    }

    private func visitor(_ access: String) -> [String] {
        ["\(access)mutating func _visit<Visitor: _SnapshotVisitor>(_ visitor: inout Visitor) throws {"]
            + (inherited == nil ? [] : ["    try _inherited._visit(&visitor)"])
            + properties.map { property in
                "    try visitor.visit(&_\(property.name), \"\(property.name)\", isDerived: \(property.isDerived))"
            } + ["}"]
    }

    /// Returns subscripts that make the properties of the superclass's snapshot properties of this
    /// one.
    private func lookups(_ access: String, _ inherited: String) -> [String] {
        [
            "\(access)subscript<Value>(dynamicMember keyPath: WritableKeyPath<\(inherited), Value>) -> Value {",
            "    get { _inherited[keyPath: keyPath] }", "    set { _inherited[keyPath: keyPath] = newValue }", "}",
        ]
    }

    private func propertyAccess(_ property: EntityProperty) -> String {
        let access = Access(property.variable.modifiers)
        if access == .private, entity.hasPrivateType(property) { return "private " }
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

    /// Methods that return the class's own snapshot type, where the protocol's methods would return
    /// that of a superclass.
    ///
    /// A method that differs from a superclass's only in its result is ambiguous to the compiler.
    /// The superclass's method is therefore overridden and disfavoured. For that, each class that
    /// may have subclasses has such a method.
    private var methods: [DeclSyntax] {
        if entity.isFinal, !entity.inheritsEntity { return [] }
        let access = (entity.isFinal ? entity.access : entity.overrideAccess).prefix
        let own: [DeclSyntax] = [
            """
            /// The object's values, unsaved changes included.
            \(raw: access)func snapshot() -> Snapshot {
                _snapshot(Snapshot.self, [])
            }
            """,
            """
            /// The object's snapshot and those of the objects up to a number of steps away.
            \(raw: access)func snapshotGraph(depth: Int) -> SnapshotGraph<Snapshot> {
                _snapshotGraph(Snapshot.self, depth)
            }
            """,
        ]
        guard let inherited else { return own }
        return own + [
            """
            /// The object's values of the superclass's properties.
            @_disfavoredOverload \(raw: access)override func snapshot() -> \(raw: inherited) {
                _snapshot(\(raw: inherited).self, [])
            }
            """,
            """
            /// The same with the object's values of the superclass's properties.
            @_disfavoredOverload \(raw: access)override func snapshotGraph(depth: Int) -> \
            SnapshotGraph<\(raw: inherited)> {
                _snapshotGraph(\(raw: inherited).self, depth)
            }
            """,
            """
            /// The object's values of some properties only, unsaved changes included.
            \(raw: entity.access.prefix)func snapshot(
                _ keyPath: PartialKeyPath<\(raw: entity.name)>, _ others: PartialKeyPath<\(raw: entity.name)>...
            ) -> Snapshot {
                _snapshot(Snapshot.self, [keyPath] + others)
            }
            """,
        ]
    }
}
