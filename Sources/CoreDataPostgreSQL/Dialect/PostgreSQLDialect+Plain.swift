import CoreData

// SQL without this library's functions, which the schema of external tables does not have.
extension PostgreSQLDialect {
    /// Compares a decimal or a whole number with a floating-point number. A decimal with a fraction
    /// is compared as the floating-point number nearest to it.
    func plainly(_ exact: SQLTerm, _ symbol: String, _ double: SQLTerm) -> SQLText {
        let value = exact.text
        let whole: SQLText = value + "\(symbol)CAST(CAST(" + double.text + " AS text) AS numeric)"
        if exact.kind != .decimal { return whole }
        let fraction: SQLText = "CAST(" + value + " AS double precision)\(symbol)" + double.text
        return "(CASE WHEN " + value + " <> trunc(" + value + ") THEN " + fraction + " ELSE " + whole + " END)"
    }

    /// Returns the LIKE pattern for a pattern with stars and question marks: `ocd_wildcards` for a
    /// constant.
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
