import Foundation

/// The part of SQL that differs between databases.
///
/// A dialect is a value without state. It is used while statements are generated, never once for
/// each row. The SQL texts that it receives are complete operands or conditions. Each SQL text that
/// it returns is one too, in parentheses where surrounding operators could split it.
package protocol SQLDialect: Sendable {
    // MARK: Words

    /// The name of the database in messages.
    var storeName: String { get }
    var limits: SQLLimits { get }
    /// Whether the database has a type for JSON.
    var keepsJSON: Bool { get }

    /// Returns a name, quoted where it has to be.
    func identifier(_ name: String) -> String
    /// Returns the placeholder for a bound value, numbered from 1 within the statement.
    func placeholder(_ number: Int) -> String
    /// Returns the placeholder for a value that a statement binds once and mentions several times.
    func numberedPlaceholder(_ number: Int) -> String
    /// Returns a constant as an SQL literal; nil for a value that has none.
    func literal(_ value: StoredValue, _ kind: ValueKind) -> String?
    /// Returns a constant of a predicate in the form in which it is bound.
    ///
    /// - Parameter other: the term that the constant is compared with.
    /// - Throws: where the database cannot bind such a value.
    func constant(
        _ value: StoredValue, _ kind: ValueKind?, like other: SQLTerm?
    ) throws(SQLRefusal) -> (value: StoredValue, kind: ValueKind?)
    /// Returns the SQL of such a constant.
    func text(ofConstant argument: SQLArgument) -> SQLText
    /// Whether a decimal is bound with all of its digits, and not as the nearest floating-point
    /// number.
    var bindsDecimals: Bool { get }
    /// Whether values of some types cannot be combined with values of others.
    var hasStaticTypes: Bool { get }
    /// Whether a value that a statement mentions several times is bound once.
    var bindsValuesOnce: Bool { get }

    // MARK: Truth and nil

    /// Returns a condition that always or never holds.
    func truth(_ value: Bool) -> String
    /// Returns a condition that is true where another one is false or unknown.
    func isNotTrue(_ condition: SQLText) -> SQLText
    /// Returns the equality of two values, where nil equals nil.
    func isSame(_ left: SQLText, _ right: SQLText) -> SQLText
    func isDifferent(_ left: SQLText, _ right: SQLText) -> SQLText
    /// Returns SQL that is nil where all of some values are nil. The values may be of different
    /// types.
    func anyValue(of values: [SQLText]) -> SQLText
    /// Returns a value, or another one in place of nil.
    func value(_ value: SQLText, orElse standard: SQLText) -> SQLText

    // MARK: Comparisons

    /// Returns the statements that create a spatial index; none where the database has none.
    func createSpatialIndex(_ index: SQLSpatialIndex) -> [String]
    /// Returns a number converted to a wider kind; nil where a column of that kind takes it
    /// unconverted.
    func number(_ value: SQLText, of kind: ValueKind, as wider: ValueKind) -> SQLText?
    /// Returns the number that a text reads as, or else nil.
    func number(inText text: SQLText) -> SQLTerm
    /// Returns a number or an identifier as the text by which predicates compare it.
    func text(of term: SQLTerm, _ kind: ValueKind) -> SQLText?
    /// Returns a comparison of texts by the rules of predicates.
    func match(
        _ operation: NSComparisonPredicate.Operator, _ options: NSComparisonPredicate.Options, _ text: SQLTerm,
        _ pattern: SQLTerm
    ) throws(SQLRefusal) -> SQLText
    /// Returns the condition that a text ends with another one, whose length in bytes is bound as a
    /// negative number.
    func hasSuffix(_ text: SQLTerm, _ suffix: SQLText, negativeLength: SQLText) -> SQLText
    /// Returns the condition that a text contains another one.
    func contains(_ text: SQLTerm, _ part: SQLText) -> SQLText
    /// Returns the condition that a value is among many bound ones; nil when they have to be
    /// listed.
    ///
    /// - Parameter isDecimal: whether the value is a decimal.
    func isMember(_ value: SQLText, of list: [SQLArgument], isDecimal: Bool) -> SQLText?
    /// Returns a comparison of numbers or dates where the database's operator differs from the
    /// comparison of predicates; nil where it does not.
    func compare(_ left: SQLTerm, _ operation: NSComparisonPredicate.Operator, _ right: SQLTerm) -> SQLText?
    /// Returns a constant in a form that the database's optimizer does not merge with similar
    /// constants.
    func singleConstant(_ constant: SQLText) -> SQLText
    /// Returns a value in a form for which the database does not use an index.
    func withoutIndex(_ value: SQLText) -> SQLText

    // MARK: Values

    /// Returns the bytes of an attribute with external storage; nil where its column holds the
    /// bytes themselves.
    func externalBytes(_ column: SQLText) -> SQLText?
    func text(_ text: SQLText, _ change: SQLTextChange) -> SQLText
    /// Returns the reason why a text cannot be changed in this way; nil where it can.
    func refusal(of change: SQLTextChange) -> String?
    /// Returns a computed text, not a column's, which is compared and ordered by its code points.
    func computed(_ text: SQLText) -> SQLText
    /// Returns the result of the database's operator; nil where predicates give another result for
    /// such operands.
    func arithmetic(_ left: SQLTerm, _ operation: SQLArithmetic, _ right: SQLTerm, _ kind: ValueKind) -> SQLTerm?
    func complement(_ integer: SQLTerm) -> SQLText
    /// Returns a function of predicates by its name in expressions; nil when it has no SQL.
    func calculation(_ name: String, _ values: [SQLTerm], _ kind: ValueKind?) throws(SQLRefusal) -> SQLTerm?
    /// Returns the most exact forms of two values, one of which a condition selects; nil where
    /// their texts are exact.
    ///
    /// - Parameter kind: the common kind of the two values.
    func exact(_ first: SQLTerm, _ second: SQLTerm, _ kind: ValueKind?) -> (SQLText, SQLText)?
    /// Returns a value converted to another kind; nil when there is no conversion.
    func value(_ term: SQLTerm, as kind: ValueKind) -> SQLText?
    func aggregate(_ aggregate: SQLAggregate, _ value: SQLTerm) -> SQLText
    /// Returns an aggregate in the form that derived attributes use.
    func storedAggregate(_ aggregate: SQLAggregate, _ value: SQLTerm) -> SQLText
    /// Returns an aggregate with all digits of a decimal; nil where `aggregate` has them all.
    func exactAggregate(_ aggregate: SQLAggregate, _ value: SQLTerm) -> SQLText?

    // MARK: Results

    /// Returns one term of an ORDER BY clause, where nil comes before every value.
    func order(_ value: SQLText, _ collation: SQLCollation?, ascending: Bool) -> SQLText
    /// Whether text columns may have another order than that of code points, so that a statement
    /// has to request this order.
    var ordersColumnsByLanguage: Bool { get }
    /// Returns a value in the form in which it is ordered.
    func ordered(_ term: SQLTerm) -> SQLText
    /// Returns the reason why rows cannot be ordered in this way; nil where they can.
    func refusal(of collation: SQLCollation) -> String?
    /// Whether distinct rows may be ordered by expressions over their values that are not selected.
    var ordersDistinctRowsByExpressions: Bool { get }
    /// Whether GROUP BY names values by their positions among the results, because a repeated
    /// expression would count as a different one.
    var groupsByPlaces: Bool { get }
    /// Returns ` LIMIT … OFFSET …`; a limit of 0 means no limit.
    func limits(_ limit: Int, offset: Int) -> SQLText
    /// Returns a query as a table of a FROM clause.
    func table(of query: SQLText) -> SQLText
    /// Returns a condition that excludes the rows with some keys.
    func isNoKey(_ column: String, in keys: Set<Int64>) -> SQLText
    /// Returns the condition that follows a key column, with one value for each placeholder.
    func keyCondition(_ form: SQLKeys.Form) -> String
    /// Returns keys as the single value of a condition of the form `list`.
    func keyList(_ keys: some Sequence<Int64>) -> SQLArgument

    // MARK: Rows

    /// Returns a row's version as snapshots keep it: 32 bits, whatever the column holds.
    func version(_ column: String) -> String
    /// Returns an INSERT that does nothing for rows that exist already.
    ///
    /// - Parameter source: `VALUES (…)`, or a query.
    func insertIfMissing(into table: String, _ columns: String, _ source: SQLText) -> SQLText
    /// Returns the part of an INSERT, before ` SET …`, that updates the row with the same unique
    /// values instead.
    ///
    /// - Parameters:
    ///   - columns: the columns of a uniqueness constraint.
    ///   - isOnly: whether rows that conflict with others by another constraint are refused.
    func updatesUniqueRow(_ columns: [String], isOnly: Bool) -> String
    /// Returns a number without the digits after the decimal point.
    func truncated(_ number: SQLText) -> SQLText

    // MARK: Schema

    func createTable(_ table: SQLTable) -> [String]
    func createTable(_ join: SQLJoinTable) -> [String]
    /// Returns the statements that set further options of the columns of a table that was created.
    func columnForms(of table: SQLTable) -> [String]
    func createIndex(_ index: SQLIndex) -> String
    /// Returns the reason why an index of texts cannot be created; nil where it can.
    func refusal(of index: SQLIndex) -> String?
    /// The statements that create the tables that every store has.
    var housekeeping: [String] { get }
    /// Returns the statements that keep a derived attribute up to date.
    func triggers(_ derivation: SQLDerivation) throws -> [String]
    /// Returns a table from which a derived attribute's value is read; the next function returns a
    /// column of it.
    func derivationSource(_ table: String) -> String
    func derivationColumn(_ column: String) -> String
    /// The time of a statement, in the form that columns hold.
    var now: String { get }

    // MARK: Migration

    /// Whether a table can be altered in place in every way: its columns dropped and widened
    /// without touching its rows. In every database they can be renamed and added.
    var altersTables: Bool { get }
    /// Returns an element of a composite attribute whose dictionary is archived in one column.
    func archivedElement(_ archive: SQLText, path: String) -> SQLText
    /// Returns bytes in the form of an attribute with external storage; nil where both forms are
    /// the same.
    func externalValue(ofPlain value: SQLText) -> SQLText?
    /// Returns the bytes that an attribute with external storage holds; nil where it holds them as
    /// they are.
    func plainValue(ofExternal value: SQLText) -> SQLText?
    /// Returns SQL that numbers the rows of a table in the order in which they are stored.
    ///
    /// - Parameter key: the table's key column; for a join table, the column of the owners' keys.
    func rowNumber(key: String) -> String
    /// Returns, in a grouped query, the value of the row that has the least of another value in its
    /// group.
    func value(_ value: String, ofRowWithLeast other: String) -> String
    /// Returns the statements that number the rows of an ordered relationship in the order of their
    /// keys.
    ///
    /// - Parameters:
    ///   - owner: the column by which rows belong together.
    ///   - key: the column that decides the order of an owner's rows.
    ///   - step: the distance between neighbouring positions; the first position is twice as much.
    func numberRows(of table: String, by owner: String, inOrderOf key: String, in position: String, step: Int)
        -> [String]
}

// A store orders the columns that it creates as it needs them.
extension SQLDialect {
    package var keepsJSON: Bool { false }
    package var ordersColumnsByLanguage: Bool { false }
    package func ordered(_ term: SQLTerm) -> SQLText { term.text }
    package func derivationSource(_ table: String) -> String { identifier(table) }
    package func derivationColumn(_ column: String) -> String { identifier(column) }
}

/// The reason why a database cannot express a request.
package struct SQLRefusal: Error {
    let reason: String

    package init(reason: String) {
        self.reason = reason
    }
}

/// The limits of a database for one statement, or the sizes up to which it works well.
package struct SQLLimits {
    /// The most tables that are joined to one table of a query.
    let joins: Int
    /// Conditions that nest deeper are written as a list of decisions.
    let nesting: Int
    /// With more operands than this, constants are bound singly.
    let operands: Int
    /// The number of operands in one group of parentheses.
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

/// The orders of texts that sort descriptors can request besides the order of code points.
package enum SQLCollation: Sendable, CaseIterable {
    case caseInsensitive, localized, localizedCaseInsensitive, localizedStandard
}
