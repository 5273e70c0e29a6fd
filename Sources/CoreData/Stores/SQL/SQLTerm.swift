/// A value in SQL, and what is known of it.
package struct SQLTerm {
    package var text: SQLText
    /// The kind of value; nil where it is not known.
    package var kind: ValueKind?
    /// The attribute or relationship it comes from.
    var slot: PropertySlot?
    /// Whether it is the bare column of an attribute or to-one relationship, so that the column's affinity applies.
    package var isColumn = false
    /// The bound value that it is.
    package var constant: SQLArgument?
    /// Whether it is the constant nil.
    package var isNull = false
    /// Whether it can be nil.
    var canBeNull = true
    /// Where the text is a function of a column: the column, which tells as well whether there is a value.
    var stored: SQLText?
    /// For a computed number or date: the same with all of its digits and the type that it has at run time, where the text gives the value
    /// of the kind that is nearest to it.
    package var exact: SQLText?
    /// For a computed whole number: how many bits it takes at most, beside its sign.
    package var bits: Int?
    /// Whether a computed whole number is a double where 64 bits do not hold it.
    var mayOverflow = false
    /// For a row: the root of its entity's hierarchy, whose rows are told apart by their keys.
    var rootIndex: Int?
    /// For a row: its entity.
    var rowEntity: SQLRowEntity?
    /// Whether it is the number of a row's entity.
    package var isEntity = false
    /// The composite attribute that it is.
    package var composite: SQLComposite?

    package init(
        text: SQLText, kind: ValueKind? = nil, slot: PropertySlot? = nil, isColumn: Bool = false, constant: SQLArgument? = nil,
        isNull: Bool = false, canBeNull: Bool = true, stored: SQLText? = nil, exact: SQLText? = nil, bits: Int? = nil,
        mayOverflow: Bool = false, rootIndex: Int? = nil, rowEntity: SQLRowEntity? = nil, isEntity: Bool = false,
        composite: SQLComposite? = nil
    ) {
        self.text = text
        self.kind = kind
        self.slot = slot
        self.isColumn = isColumn
        self.constant = constant
        self.isNull = isNull
        self.canBeNull = canBeNull
        self.stored = stored
        self.exact = exact
        self.bits = bits
        self.mayOverflow = mayOverflow
        self.rootIndex = rootIndex
        self.rowEntity = rowEntity
        self.isEntity = isEntity
        self.composite = composite
    }

    /// Whether it is a bound value.
    package var isConstant: Bool { constant != nil }

    /// What the value is compared as.
    var valueClass: SQLValueClass {
        if isEntity { return .entity }
        guard let kind else { return .unknown }
        return SQLValueClass(kind)
    }
}

/// The entity of a row that a term stands for.
package enum SQLRowEntity {
    /// Every row is of the entity with this layout index.
    case one(Int)
    /// The number of the row's entity.
    case number(SQLText)
}

/// Values of one class are compared by SQL itself; values of different classes are unequal, but where a rule brings them together.
enum SQLValueClass {
    case number, date, text, id, data, json, object, entity, archived, unknown

    init(_ kind: ValueKind) {
        switch kind {
        case .int16, .int32, .int64, .boolean, .double, .float, .decimal: self = .number
        case .date: self = .date
        case .string, .uri: self = .text
        case .uuid: self = .id
        case .data: self = .data
        case .json: self = .json
        case .toOne: self = .object
        case .transformable, .composite: self = .archived
        case .toMany, .orderedToMany, .fetched, .undefined: self = .unknown
        }
    }
}
