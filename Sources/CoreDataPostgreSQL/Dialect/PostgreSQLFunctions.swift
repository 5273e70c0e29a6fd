import CoreData

/// The functions and collations that stand in the schema of each store: what predicates and sorts need and PostgreSQL has not, or has with
/// other rules. They take PostgreSQL 14 or later, in a database whose encoding is UTF-8.
///
/// They are made with the store's schema as the search path, where they find each other later on too.
enum PostgreSQLFunctions {
    /// The statements that make them, and make them anew where they are there already.
    ///
    /// - Parameter hasICU: whether the server has ICU's collations: without them there are no functions that fold texts.
    static func statements(hasICU: Bool) -> [String] {
        texts + numbers + (hasICU ? foldings : []) + rows + [versionStatement]
    }

    /// The version of the functions and of the triggers of derived attributes, to be raised with each change of their texts.
    ///
    /// Programs of several versions use a store at once, and the newest functions serve all: what a function takes, and the type that it
    /// gives, never changes. One that needs others is a new one with a name of its own.
    static let version = 3

    /// The function that gives the version of those in its schema, and shows what that was called when they were made: triggers name it.
    static let versionName = "ocd_functions"

    private static let versionStatement =
        "CREATE OR REPLACE FUNCTION \(versionName)() RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path FROM CURRENT "
        + "AS 'SELECT \(version)'"

    /// A function that gives nil for nil, and the same for the same arguments.
    static func function(_ signature: String, _ result: String, _ body: String) -> String {
        "CREATE OR REPLACE FUNCTION \(signature) RETURNS \(result) LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$\n\(body)\n$$"
    }

    /// The same in one expression, which the planner may put in the place of the call.
    static func expression(_ signature: String, _ result: String, _ expression: String) -> String {
        "CREATE OR REPLACE FUNCTION \(signature) RETURNS \(result) LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN \(expression)"
    }

    /// The function that folds texts.
    static let folding = "ocd_fold"

    /// A first and the last of the functions that fold texts: where a schema has them, it has all.
    static let foldingMarks: Set = [folding, "ocd_canonical"]

    /// The same of those that need nothing of ICU.
    static let calculationMarks: Set = ["ocd_calculate", "ocd_round"]

    // MARK: Collations

    private static let localizedOrders = [
        (name: "ocd_localized", locale: "und", isDeterministic: false),
        (name: "ocd_localized_case_insensitive", locale: "und-u-ks-level2", isDeterministic: false),
        (name: "ocd_localized_standard", locale: "und-u-kn-true", isDeterministic: true),
    ]

    /// The collations that stand in the schema of a store.
    static let collationNames = localizedOrders.map(\.name)

    /// Texts that a collation takes for equal tie, so that the next sort descriptor decides: only one that is not deterministic says so.
    /// `localizedStandardCompare:` takes no two texts for equal.
    static var collations: [String] {
        localizedOrders.map { name, locale, isDeterministic in
            "CREATE COLLATION IF NOT EXISTS \(name) (provider = icu, locale = '\(locale)', deterministic = \(isDeterministic))"
        }
    }
}
