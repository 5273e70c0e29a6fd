import Foundation

/// What databases say differently: the part of SQL that is not common to all of them.
///
/// A dialect is a value without state. It is asked while statements are made, never for a row. Texts that it gets are complete operands or
/// conditions; what it gives is one too, in parentheses where it could be torn apart.
package protocol SQLDialect: Sendable {
    // MARK: Words

    /// What messages call the database.
    var storeName: String { get }
    var limits: SQLLimits { get }
    /// Whether the database has a type for JSON.
    var keepsJSON: Bool { get }

    /// A name, quoted where it has to be.
    func identifier(_ name: String) -> String
    /// What stands for a bound value, counted from 1 within the statement.
    func placeholder(_ number: Int) -> String
    /// The same for a value that a statement binds once and mentions more often.
    func numberedPlaceholder(_ number: Int) -> String
    /// A constant that is written out; nil for a value that cannot be.
    func literal(_ value: StoredValue, _ kind: ValueKind) -> String?
    /// A constant of a predicate in the form in which it is bound.
    ///
    /// - Parameter other: what it is compared with.
    /// - Throws: where the database can bind no such value.
    func constant(
        _ value: StoredValue, _ kind: ValueKind?, like other: SQLTerm?
    ) throws(SQLRefusal) -> (value: StoredValue, kind: ValueKind?)
    /// The same as SQL.
    func text(ofConstant argument: SQLArgument) -> SQLText
    /// Whether a decimal is bound with all of its digits, and not as the number nearest to it.
    var bindsDecimals: Bool { get }
    /// Whether values of some types cannot stand beside values of others.
    var hasStaticTypes: Bool { get }
    /// Whether values that are mentioned several times are bound once.
    var bindsValuesOnce: Bool { get }

    // MARK: Truth and nil

    /// A condition that always or never holds.
    func truth(_ value: Bool) -> String
    /// True where a condition is not: false or unknown.
    func isNotTrue(_ condition: SQLText) -> SQLText
    /// Equality of two values for which nil is a value.
    func isSame(_ left: SQLText, _ right: SQLText) -> SQLText
    func isDifferent(_ left: SQLText, _ right: SQLText) -> SQLText
    /// Something that is nil where all of some values are, which may be of different types.
    func anyValue(of values: [SQLText]) -> SQLText
    /// A value, or another in the place of nil.
    func value(_ value: SQLText, orElse standard: SQLText) -> SQLText

    // MARK: Comparisons

    /// The statements that make a spatial index; none where the database has none.
    func createSpatialIndex(_ index: SQLSpatialIndex) -> [String]
    /// A number of one kind as one of a wider kind; nil where a column of that kind takes it as it is.
    func number(_ value: SQLText, of kind: ValueKind, as wider: ValueKind) -> SQLText?
    /// The number that a text reads as, or else nil.
    func number(inText text: SQLText) -> SQLTerm
    /// A number or an identifier as the text that predicates take it for.
    func text(of term: SQLTerm, _ kind: ValueKind) -> SQLText?
    /// A comparison of texts by the rules of predicates.
    func match(
        _ operation: NSComparisonPredicate.Operator, _ options: NSComparisonPredicate.Options, _ text: SQLTerm, _ pattern: SQLTerm
    ) throws(SQLRefusal) -> SQLText
    /// Whether a text ends with another one, whose length in bytes is bound as a negative number.
    func hasSuffix(_ text: SQLTerm, _ suffix: SQLText, negativeLength: SQLText) -> SQLText
    /// Whether a text has another one in it.
    func contains(_ text: SQLTerm, _ part: SQLText) -> SQLText
    /// Whether a value is among many bound ones; nil when they have to be listed.
    ///
    /// - Parameter isDecimal: whether the value is a decimal.
    func isMember(_ value: SQLText, of list: [SQLArgument], isDecimal: Bool) -> SQLText?
    /// A comparison of numbers or dates that the database's operator does not compare as predicates do; nil where it does.
    func compare(_ left: SQLTerm, _ operation: NSComparisonPredicate.Operator, _ right: SQLTerm) -> SQLText?
    /// A constant that the database must not collect with others like it.
    func singleConstant(_ constant: SQLText) -> SQLText
    /// A value whose index is not to be used.
    func withoutIndex(_ value: SQLText) -> SQLText

    // MARK: Values

    /// The bytes of an attribute with external storage; nil where its column holds them.
    func externalBytes(_ column: SQLText) -> SQLText?
    func text(_ text: SQLText, _ change: SQLTextChange) -> SQLText
    /// Why a text cannot be changed so; nil where it can.
    func refusal(of change: SQLTextChange) -> String?
    /// A text that is none of a column, which is compared and ordered by its code points.
    func computed(_ text: SQLText) -> SQLText
    /// What the operator of the database gives, which is what predicates give for such operands; nil when it is not.
    func arithmetic(_ left: SQLTerm, _ operation: SQLArithmetic, _ right: SQLTerm, _ kind: ValueKind) -> SQLTerm?
    func complement(_ integer: SQLTerm) -> SQLText
    /// A function of predicates by its name in expressions; nil when it cannot be said.
    func calculation(_ name: String, _ values: [SQLTerm], _ kind: ValueKind?) throws(SQLRefusal) -> SQLTerm?
    /// Two values, of which a condition takes one, with all that is known of them; nil where their texts say it.
    ///
    /// - Parameter kind: what they have in common.
    func exact(_ first: SQLTerm, _ second: SQLTerm, _ kind: ValueKind?) -> (SQLText, SQLText)?
    /// A value as one of another kind; nil when there is none.
    func value(_ term: SQLTerm, as kind: ValueKind) -> SQLText?
    func aggregate(_ aggregate: SQLAggregate, _ value: SQLTerm) -> SQLText
    /// The same as a derived attribute has it.
    func storedAggregate(_ aggregate: SQLAggregate, _ value: SQLTerm) -> SQLText
    /// The same, with all digits of a decimal; nil where the other has them.
    func exactAggregate(_ aggregate: SQLAggregate, _ value: SQLTerm) -> SQLText?

    // MARK: Results

    /// One term of an order, where nil comes before every value.
    func order(_ value: SQLText, _ collation: SQLCollation?, ascending: Bool) -> SQLText
    /// Whether columns of texts may have another order than that of code points, so that it has to be asked for.
    var ordersColumnsByLanguage: Bool { get }
    /// A value as it is put in order with others.
    func ordered(_ term: SQLTerm) -> SQLText
    /// Why rows cannot be ordered so; nil where they can.
    func refusal(of collation: SQLCollation) -> String?
    /// Whether different rows may be ordered by what is made of their values, which is not among them.
    var ordersDistinctRowsByExpressions: Bool { get }
    /// Whether values that rows are grouped by are named by their places among the results: said again they would be others.
    var groupsByPlaces: Bool { get }
    /// ` LIMIT … OFFSET …`; a limit of 0 is none.
    func limits(_ limit: Int, offset: Int) -> SQLText
    /// A query in the place of a table.
    func table(of query: SQLText) -> SQLText
    /// Leaves out rows with some keys.
    func isNoKey(_ column: String, in keys: Set<Int64>) -> SQLText
    /// What follows a column of keys, with one value for each placeholder.
    func keyCondition(_ form: SQLKeys.Form) -> String
    /// Keys as the one value of a condition of the form `list`.
    func keyList(_ keys: some Sequence<Int64>) -> SQLArgument

    // MARK: Rows

    /// A row's version as snapshots keep it: 32 bits, whatever the column holds.
    func version(_ column: String) -> String
    /// An INSERT that does nothing for rows that are there already.
    ///
    /// - Parameter source: `VALUES (…)`, or a query.
    func insertIfMissing(into table: String, _ columns: String, _ source: SQLText) -> SQLText
    /// The end of an INSERT that does nothing for a row whose unique values another row has.
    var skipsUniqueRow: String { get }
    /// What follows an INSERT, before ` SET …`, that updates the row that has the unique values instead.
    ///
    /// - Parameters:
    ///   - columns: those of a uniqueness constraint.
    ///   - isOnly: whether rows that meet others by another constraint are refused.
    func updatesUniqueRow(_ columns: [String], isOnly: Bool) -> String
    /// A number without the digits behind the point.
    func truncated(_ number: SQLText) -> SQLText

    // MARK: Schema

    func createTable(_ table: SQLTable) -> [String]
    func createTable(_ join: SQLJoinTable) -> [String]
    /// The statements that say more about the columns of a table that was made.
    func columnForms(of table: SQLTable) -> [String]
    func createIndex(_ index: SQLIndex) -> String
    /// Why an index of texts cannot be made; nil where it can.
    func refusal(of index: SQLIndex) -> String?
    /// The tables that every store has.
    var housekeeping: [String] { get }
    /// What keeps a derived attribute up to date.
    func triggers(_ derivation: SQLDerivation) throws -> [String]
    /// A table that the value of a derived attribute is read from, and a column of it.
    func derivationSource(_ table: String) -> String
    func derivationColumn(_ column: String) -> String
    /// The time of a statement, as columns hold it.
    var now: String { get }

    // MARK: Migration

    /// Whether a table can be made another one where it stands: columns renamed, added, dropped and widened without touching its rows.
    var altersTables: Bool { get }
    /// An element of a composite attribute whose dictionary is archived in one column.
    func archivedElement(_ archive: SQLText, path: String) -> SQLText
    /// Bytes as an attribute with external storage holds them; nil where it holds them as they are.
    func externalValue(ofPlain value: SQLText) -> SQLText?
    /// The bytes that an attribute with external storage holds; nil where it holds them as they are.
    func plainValue(ofExternal value: SQLText) -> SQLText?
    /// What numbers the rows of a table in the order in which they lie.
    ///
    /// - Parameter key: the table's key column; of a join table the one of the owners' keys.
    func rowNumber(key: String) -> String
    /// In a query of groups: the value of the row that has the least of another value in its group.
    func value(_ value: String, ofRowWithLeast other: String) -> String
    /// Gives the rows of an ordered relationship positions in the order of their keys.
    ///
    /// - Parameters:
    ///   - owner: the column by which rows belong together.
    ///   - key: the column in whose order the rows of an owner stand.
    ///   - step: the distance between neighbours; the first stands at twice as much.
    func numberRows(of table: String, by owner: String, inOrderOf key: String, in position: String, step: Int) -> [String]
}

// The columns that a store makes are ordered as it needs them.
extension SQLDialect {
    package var keepsJSON: Bool { false }
    package var ordersColumnsByLanguage: Bool { false }
    package func ordered(_ term: SQLTerm) -> SQLText { term.text }
    package func derivationSource(_ table: String) -> String { identifier(table) }
    package func derivationColumn(_ column: String) -> String { identifier(column) }
}

/// Why a database cannot say something.
package struct SQLRefusal: Error {
    let reason: String

    package init(reason: String) {
        self.reason = reason
    }
}

/// How much of something a database takes in one statement, or takes well.
package struct SQLLimits {
    /// The most tables that are joined for one table of a query.
    let joins: Int
    /// Conditions that nest deeper are said as a list of decisions.
    let nesting: Int
    /// From this number of operands on, constants are bound singly.
    let operands: Int
    /// How many operands stand in one group of parentheses.
    let groupSize: Int
    /// Longer lists are bound as one value.
    let listedElements: Int

    package init(joins: Int, nesting: Int, operands: Int, groupSize: Int, listedElements: Int) {
        self.joins = joins
        self.nesting = nesting
        self.operands = operands
        self.groupSize = groupSize
        self.listedElements = listedElements
    }
}

package enum SQLTextChange { case uppercase, lowercase, canonical }

package enum SQLArithmetic: Sendable {
    case add, subtract, multiply, divide, modulus, and, or, shiftLeft, shiftRight

    package var symbol: String {
        switch self {
        case .add: "+"
        case .subtract: "-"
        case .multiply: "*"
        case .divide: "/"
        case .modulus: "%"
        case .and: "&"
        case .or: "|"
        case .shiftLeft: "<<"
        case .shiftRight: ">>"
        }
    }
}

package enum SQLAggregate: Sendable { case sum, minimum, maximum, average }

/// The orders of texts that sort descriptors ask for beside that of their code points.
package enum SQLCollation: Sendable, CaseIterable { case caseInsensitive, localized, localizedCaseInsensitive, localizedStandard }
