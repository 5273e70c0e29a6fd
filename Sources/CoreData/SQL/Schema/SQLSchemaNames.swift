import Foundation

/// The names of indexes, constraints and triggers in a database with one namespace for each schema.
///
/// Such a database keeps them in one list with the names of tables, so a name that repeats gets a
/// number.
///
/// An existing schema keeps its names: with a repeated name it could not have been created.
struct SQLSchemaNames {
    /// The names by the statements that would create the indexes if no other index existed.
    private var indexes: [String: String] = [:]
    /// The names by the derived attributes.
    private var triggers: [ObjectIdentifier: String] = [:]

    /// Creates names that follow the naming rules unchanged.
    init() {}

    /// - Parameter mapping: a mapping whose tables have their names.
    init(_ mapping: SQLMapping) {
        let (schema, naming) = (SQLSchema(mapping: mapping), mapping.naming)
        let tables = mapping.tables.map(\.name) + mapping.joinTables.map(\.name)
        var names = SQLNames(taken: Set(tables).union(naming.reservedTables.keys).union(naming.ownIndexes(of: tables)))
        let all = mapping.tables.flatMap(schema.indexes)
        // Indexes that only some databases support come last, so that the other names are the same
        // in all databases.
        for index in all.filter({ !$0.isOfOtherForms }) + all.filter(\.isOfOtherForms) {
            let statement = mapping.dialect.createIndex(index)
            if indexes[statement] == nil { indexes[statement] = names.take(index.name) }
        }
        // Functions, after which triggers are named, have a namespace of their own.
        var functions = SQLNames()
        for derivation in schema.derivations() {
            triggers[ObjectIdentifier(derivation.slot.property)] = functions.take(derivation.name)
        }
    }

    /// - Parameter index: the index with the name that it would have if no other index existed.
    func name(of index: SQLIndex, _ dialect: any SQLDialect) -> String {
        indexes.isEmpty ? index.name : indexes[dialect.createIndex(index)] ?? index.name
    }

    /// Returns the name from which a derived attribute's trigger names are made; nil where it
    /// follows the naming rules unchanged.
    func trigger(of attribute: PropertySlot) -> String? { triggers[ObjectIdentifier(attribute.property)] }
}
