import CoreData

/// The functions and collations in the schema of each store.
///
/// Predicates and sorts need them, and PostgreSQL lacks them or has them with other rules. They
/// need PostgreSQL 14 or later, in a database whose encoding is UTF-8.
///
/// They are made with the store's schema as their search path, in which they find each other later
/// too.
enum PostgreSQLFunctions {
    /// Returns the statements that make the functions, or replace them where they exist.
    ///
    /// - Parameter hasICU: whether the server has ICU's collations: without them there are no
    ///   functions that fold texts.
    static func statements(hasICU: Bool) -> [String] {
        texts + numbers + (hasICU ? foldings : []) + rows + [versionStatement]
    }

    /// The version of the functions and of the triggers of derived attributes. Each change of their
    /// texts raises it.
    ///
    /// Programs of several versions use a store at once, and the newest functions work for all of
    /// them. So the arguments of a function and the type of its result never change. A function
    /// that needs other ones is a new function with its own name.
    static let version = 3

    /// The function that returns the version of the functions in its schema. It also records the
    /// schema's name at the time when they were made, which triggers use.
    static let versionName = "ocd_functions"

    private static let versionStatement =
        "CREATE OR REPLACE FUNCTION \(versionName)() RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE SET "
        + "search_path FROM CURRENT "
        + "AS 'SELECT \(version)'"

    /// Returns a function that gives NULL for NULL, and the same result for the same arguments.
    static func function(_ signature: String, _ result: String, _ body: String) -> String {
        "CREATE OR REPLACE FUNCTION \(signature) RETURNS \(result) LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE "
            + "AS $$\n\(body)\n$$"
    }

    /// Returns such a function with a single expression, which the planner may inline.
    static func expression(_ signature: String, _ result: String, _ expression: String) -> String {
        "CREATE OR REPLACE FUNCTION \(signature) RETURNS \(result) LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN "
            + "\(expression)"
    }

    /// The function that folds texts.
    static let folding = "ocd_fold"

    /// The first and the last of the functions that fold texts: a schema that has them has all.
    static let foldingMarks: Set = [folding, "ocd_canonical"]

    /// The same for the functions that do not need ICU.
    static let calculationMarks: Set = ["ocd_calculate", "ocd_round"]

    // MARK: Collations

    private static let localizedOrders = [
        (name: "ocd_localized", locale: "und", isDeterministic: false),
        (name: "ocd_localized_case_insensitive", locale: "und-u-ks-level2", isDeterministic: false),
        (name: "ocd_localized_standard", locale: "und-u-kn-true", isDeterministic: true),
    ]

    /// The names of the collations in the schema of a store.
    static let collationNames = localizedOrders.map(\.name)

    /// Texts that a collation counts as equal tie, so that the next sort descriptor decides: only a
    /// nondeterministic collation has such texts. `localizedStandardCompare:` counts no two texts
    /// as equal.
    static var collations: [String] {
        localizedOrders.map { name, locale, isDeterministic in
            "CREATE COLLATION IF NOT EXISTS \(name) (provider = icu, locale = '\(locale)', deterministic = "
                + "\(isDeterministic))"
        }
    }
}
