/// A value in SQL, with its known properties.
package struct SQLTerm {
    package var text: SQLText
    /// The kind of value; nil where it is not known.
    package var kind: ValueKind?
    /// The attribute or relationship that the value comes from.
    var slot: PropertySlot?
    /// Whether it is the plain column of an attribute or to-one relationship, so that the column's
    /// affinity applies.
    package var isColumn = false
    /// The bound value, if the term is a constant.
    package var constant: SQLArgument?
    /// Whether it is the constant nil.
    package var isNull = false
    /// Whether it can be nil.
    var canBeNull = true
    /// The column, where the text is a function of a column. It also tells whether there is a
    /// value.
    var stored: SQLText?
    /// For a computed number or date: the value with all its digits and the type that it has at run
    /// time. `text` then gives the nearest value of `kind`.
    package var exact: SQLText?
    /// For a computed whole number: the most bits that it takes, besides its sign.
    package var bits: Int?
    /// Whether a computed whole number becomes a double where it exceeds 64 bits.
    var mayOverflow = false
    /// For a row: the root of its entity's hierarchy. Keys identify rows within it.
    var rootIndex: Int?
    /// For a row: its entity.
    var rowEntity: SQLRowEntity?
    /// Whether it is the number of a row's entity.
    package var isEntity = false
    /// The composite value, if the term is one.
    var composite: SQLComposite?

    /// Whether it is a bound value.
    package var isConstant: Bool { constant != nil }

    /// Whether it is the constant NaN, which is bound as nil but is no nil.
    var isNotANumber: Bool { !isNull && constant?.value.isNull == true }

    /// The class of values by which the term is compared.
    var valueClass: SQLValueClass {
        if isEntity { return .entity }
        guard let kind else { return .unknown }
        return SQLValueClass(kind)
    }
}

/// The entity of the row that a term represents.
enum SQLRowEntity {
    /// Every row is of the entity with this layout index.
    case one(Int)
    /// The number of the row's entity.
    case number(SQLText)
}

/// The class of a value in comparisons.
///
/// SQL itself compares values of one class. Values of different classes are unequal, except where a
/// rule converts them.
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

extension SQLTerm {
    package init(text: SQLText, kind: ValueKind?) {
        self.text = text
        self.kind = kind
    }

    func made(_ form: SQLConstant.Form) -> SQLTerm {
        guard let argument = constant, case .constant(let constant, _) = argument.role else { return self }
        var term = self
        var other = argument
        other.role = .constant(constant, form)
        term.constant = other
        term.text = text.replacing(argument: other)
        return term
    }

    /// The constant, marked so that the statement is not used for other values: the SQL depends on
    /// this value.
    package var forThisStatement: SQLTerm {
        guard var argument = constant else { return self }
        argument.role = .once
        var term = self
        term.constant = argument
        term.text = text.replacing(argument: argument)
        return term
    }

    /// Returns another form of a constant as a value to bind; nil where the constant has no such
    /// form.
    package func derived(_ form: SQLConstant.Form) -> SQLText? {
        guard let argument = constant, let value = SQLConstant.argument(argument.value, form) else { return nil }
        guard case .constant(let constant, _) = argument.role else { return SQLText(value: value) }
        return SQLText(SQLArgument(value, role: .constant(constant, form)))
    }
}
