import CoreData

/// Names of tables and columns, as people who write SQL by hand would choose them.
struct SnakeCaseNaming: TableNaming {
    var key: String { "id" }
    var entity: String { "entity" }
    var numbersSingleEntities: Bool { false }
    var followsNumbers: Bool { false }
    var numbersAllNames: Bool { true }
    var version: String { "version" }
    var reservedColumns: [String] { ["tableoid", "xmin", "cmin", "xmax", "cmax", "ctid"] }
    var reservedTables: [String: String] {
        Dictionary(PostgreSQLHousekeeping.all.map { ($0, "OpenCoreData") }, uniquingKeysWith: { first, _ in first })
    }

    /// PostgreSQL cuts names at 63 bytes; some room is left for the numbers that repeated names
    /// get.
    private static let longestName = 56

    /// Returns a name that is not cut: for a longer name its beginning, and a number that tells it
    /// from other names.
    static func limited(_ name: String, to longest: Int = longestName) -> String {
        guard name.utf8.count > longest else { return name }
        var start = ""
        let end = "_" + String(hash(name), radix: 36)
        for character in name {
            if start.utf8.count + character.utf8.count + end.utf8.count > longest { break }
            start.append(character)
        }
        return start + end
    }

    /// Returns a number for a name, the same in every run of every program (FNV-1a).
    static func hash(_ name: String) -> UInt64 {
        name.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }

    /// Returns a name in small letters with underscores between its words: `imageURL` is
    /// `image_url`.
    static func words(_ name: String) -> String {
        let characters = Array(name.replacingOccurrences(of: ".", with: "_"))
        var result = ""
        for (index, character) in characters.enumerated() {
            if character.isUppercase, index > 0 {
                let isAfterWord = !characters[index - 1].isUppercase
                let endsAcronym = index + 1 < characters.count && characters[index + 1].isLowercase
                if isAfterWord || endsAcronym { result += "_" }
            }
            result += character.lowercased()
        }
        return result
    }

    private static func name(_ parts: String...) -> String { limited(parts.joined(separator: "_")) }

    /// Returns the name of a foreign key column without its ending `_id`.
    private static func stem(_ column: String) -> String {
        column.hasSuffix("_id") ? String(column.dropLast(3)) : column
    }

    /// Returns the name of the table for a hierarchy, from the name of its root entity.
    static func table(named root: String) -> String { limited(words(root)) }

    func table(_ root: EntityLayout) -> String { Self.table(named: root.name) }
    func column(_ property: PropertySlot) -> String {
        Self.limited(Self.words(property.name), to: Self.longestName - 3) + (property.kind == .toOne ? "_id" : "")
    }
    func hiddenKey(_ relationship: PropertySlot, of owner: SQLEntity) -> String {
        Self.limited(Self.words(owner.layout.name) + "_" + Self.words(relationship.name), to: Self.longestName - 3)
            + "_id"
    }
    func entityColumn(ofKey column: String, to destinationNumber: Int) -> String {
        Self.name(Self.stem(column), "entity")
    }
    func positionColumn(ofKey column: String) -> String { Self.name(Self.stem(column), "pos") }
    func joinTable(_ relationship: NSRelationshipDescription, of owner: SQLEntity) -> String {
        Self.name(Self.words(owner.layout.name), Self.words(relationship.name))
    }
    /// Returns `item_id` beside `tag_id`. Where both sides are of one entity, the name is that of
    /// the relationship that refers back to the side.
    func joinColumn(_ relationship: NSRelationshipDescription, inverse: NSRelationshipDescription, of owner: SQLEntity)
        -> String
    {
        let isOfOneEntity = relationship.destinationEntity === relationship.owningEntity
        return Self.limited(Self.words(isOfOneEntity ? inverse.name : owner.layout.name), to: Self.longestName - 3)
            + "_id"
    }
    var numbersJoinColumns: Bool { false }
    func reflexiveColumns(_ column: String) -> (owner: String, destination: String) { ("owner_id", column) }
    func positionColumn(ofJoinColumn column: String) -> String { Self.name(Self.stem(column), "pos") }
    func keyIndex(_ table: String, _ column: String) -> String { Self.name(table, column) }
    func entityIndex(_ table: String) -> String { Self.name(table, "entity") }
    func joinIndex(_ table: String, _ column: String) -> String { Self.name(table, column) }
    func index(_ name: String, of entity: String) -> String { Self.name(Self.words(entity), Self.words(name)) }
    func uniqueIndex(_ constraint: [String], of entity: String) -> String {
        Self.limited(Self.words(entity) + "_unique_" + constraint.map(Self.words).joined(separator: "_"))
    }
    func ownIndexes(of tables: [String]) -> [String] {
        (tables + PostgreSQLHousekeeping.all).map { $0 + "_pkey" } + PostgreSQLHousekeeping.uniqueIndexes
    }
    /// The functions of triggers have this name too, with a word added.
    func trigger(_ attribute: PropertySlot, of table: String) -> String {
        Self.limited("\(table)_\(Self.words(attribute.name))", to: 50)
    }
}
