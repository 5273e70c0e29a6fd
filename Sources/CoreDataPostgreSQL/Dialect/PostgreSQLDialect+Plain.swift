import CoreData

// What can be said without this library's functions, which a schema of others does not have.
extension PostgreSQLDialect {
    /// A comparison of a decimal or a whole number: what is no whole number is compared as the floating-point number nearest to it.
    func plainly(_ exact: SQLTerm, _ symbol: String, _ double: SQLTerm) -> SQLText {
        let value = exact.text
        let whole: SQLText = value + "\(symbol)CAST(CAST(" + double.text + " AS text) AS numeric)"
        if exact.kind != .decimal { return whole }
        let fraction: SQLText = "CAST(" + value + " AS double precision)\(symbol)" + double.text
        return "(CASE WHEN " + value + " <> trunc(" + value + ") THEN " + fraction + " ELSE " + whole + " END)"
    }

    /// The pattern of PostgreSQL's LIKE that means what one with stars and question marks means: `ocd_wildcards` for a constant.
    static func wildcards(_ pattern: String) -> String {
        var result = ""
        var isEscaped = false
        for scalar in pattern.unicodeScalars {
            if !isEscaped, scalar == "\\" {
                isEscaped = true
                continue
            }
            if !isEscaped, scalar == "*" || scalar == "?" {
                result += scalar == "*" ? "%" : "_"
            } else {
                if ["%", "_", "\\"].contains(scalar) { result += "\\" }
                result.unicodeScalars.append(scalar)
            }
            isEscaped = false
        }
        return isEscaped ? result + "\\\\" : result
    }
}
