import Foundation

/// The names of indexes, constraints and triggers in a database that keeps them, with those of tables, in one list for each schema: a name
/// that repeats gets a number.
///
/// A schema that was made before keeps its names: where one repeats it could not have been made.
struct SQLSchemaNames {
    /// By the statements that would make the indexes if they were alone.
    private var indexes: [String: String] = [:]
    /// By the derived attributes.
    private var triggers: [ObjectIdentifier: String] = [:]

    /// Names that are as the rules have them.
    init() {}

    /// - Parameter mapping: one whose tables have their names.
    init(_ mapping: SQLMapping) {
        let (schema, naming) = (SQLSchema(mapping: mapping), mapping.naming)
        let tables = mapping.tables.map(\.name) + mapping.joinTables.map(\.name)
        var names = SQLNames(taken: Set(tables).union(naming.reservedTables.keys).union(naming.ownIndexes(of: tables)))
        let all = mapping.tables.flatMap(schema.indexes)
        // What only some databases can make comes last, so that the names of the others are the same in all.
        for index in all.filter({ !$0.isOfOtherForms }) + all.filter(\.isOfOtherForms) {
            let statement = mapping.dialect.createIndex(index)
            if indexes[statement] == nil { indexes[statement] = names.take(index.name) }
        }
        // Functions, after which triggers are called, have a list of their own.
        var functions = SQLNames()
        for derivation in schema.derivations() { triggers[ObjectIdentifier(derivation.slot.property)] = functions.take(derivation.name) }
    }

    /// - Parameter index: as it would be if it were alone.
    func name(of index: SQLIndex, _ dialect: any SQLDialect) -> String {
        indexes.isEmpty ? index.name : indexes[dialect.createIndex(index)] ?? index.name
    }

    /// What the triggers of a derived attribute are named after; nil where that is as the rules have it.
    func trigger(of attribute: PropertySlot) -> String? { triggers[ObjectIdentifier(attribute.property)] }
}
