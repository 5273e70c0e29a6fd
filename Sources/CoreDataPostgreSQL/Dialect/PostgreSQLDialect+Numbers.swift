import CoreData

// Numbers and dates. PostgreSQL fixes types before a statement runs, predicates while it runs: a
// whole number that overflows becomes a floating-point one. The result of such a calculation is
// therefore a `numeric` that tells its kind (see `PostgreSQLFunctions`). A computed date is its
// seconds since 2001. The property `exact` of a term holds such a form.
extension PostgreSQLDialect {
    var bindsDecimals: Bool { true }

    /// The form of a term's value while a statement runs.
    enum Form {
        case integer, boolean, double, decimal
        /// A `numeric` that tells its kind.
        case computed
        case date
        /// A date as its seconds since 2001.
        case seconds
        case other
    }

    func form(_ term: SQLTerm) -> Form {
        if term.isEntity { return .other }
        switch term.kind {
        case .int16?, .int32?, .int64?: return term.exact == nil ? .integer : .computed
        case .boolean?: return .boolean
        case .double?, .float?: return term.exact == nil ? .double : .computed
        case .decimal?: return term.exact == nil ? .decimal : .computed
        case .date?: return term.exact == nil ? .date : .seconds
        default: return .other
        }
    }

    /// Returns the largest number of bits that a whole number takes, without its sign.
    private func bits(of term: SQLTerm) -> Int {
        if case .integer(let value)? = term.constant?.value {
            return Int64.bitWidth - value.magnitude.leadingZeroBitCount
        }
        switch term.kind {
        case .boolean?: return 1
        case .int16? where term.isColumn: return 15
        case .int32? where term.isColumn: return 31
        default: return term.bits ?? 63
        }
    }

    // MARK: Forms

    /// Returns a term as a computed number.
    private func computed(_ term: SQLTerm) -> SQLText {
        if let exact = term.exact { return exact }
        switch form(term) {
        case .integer: return "CAST(" + term.text + " AS numeric)"
        case .boolean: return "CAST(CAST(" + term.text + " AS integer) AS numeric)"
        case .double: return "ocd_double(" + term.text + ")"
        case .decimal: return "ocd_decimal(" + term.text + ")"
        default: return "CAST(" + term.text + " AS numeric)"
        }
    }

    private func double(_ term: SQLTerm) -> SQLText {
        if form(term) == .boolean { return "CAST(CAST(" + term.text + " AS integer) AS double precision)" }
        return "CAST(" + (term.exact ?? term.text) + " AS double precision)"
    }

    /// Returns a date as its seconds since 2001.
    private func seconds(_ term: SQLTerm) -> SQLText {
        term.exact ?? "CAST(EXTRACT(EPOCH FROM " + term.text + ") - 978307200 AS double precision)"
    }

    /// Returns a whole number as it is, in 64 bits.
    private func integer(_ term: SQLTerm) -> SQLText {
        form(term) == .boolean
            ? "CAST(CAST(" + term.text + " AS integer) AS bigint)" : "CAST(" + term.text + " AS bigint)"
    }

    /// Returns a number in the form that bit operators take.
    private func whole(_ term: SQLTerm) -> SQLText {
        switch form(term) {
        case .integer, .boolean: integer(term)
        default: "ocd_whole(" + computed(term) + ")"
        }
    }

    /// Returns a term for a computed number.
    private func term(_ computed: SQLText, _ kind: ValueKind?) -> SQLTerm {
        let text: SQLText =
            switch kind {
            case .int16?, .int32?, .int64?, .boolean?: "ocd_integer(" + computed + ")"
            case .decimal?: "ocd_plain(" + computed + ")"
            default: "CAST(" + computed + " AS double precision)"
            }
        var term = SQLTerm(text: text, kind: kind)
        term.exact = computed
        return term
    }

    func value(_ term: SQLTerm, as kind: ValueKind) -> SQLText? {
        if term.kind == kind { return term.text }
        if kind == .string || kind == .uri { return term.kind.flatMap { text(of: term, $0) } }
        let own = form(term)
        switch kind {
        case .boolean:
            switch own {
            case .integer: return "(" + term.text + " <> 0)"
            case .double, .decimal, .computed: return "(" + computed(term) + " <> 0)"
            default: return nil
            }
        case .int16, .int32, .int64:
            switch own {
            case .integer: return term.text
            case .boolean: return "CAST(" + term.text + " AS integer)"
            case .double, .decimal, .computed: return "ocd_integer(" + computed(term) + ")"
            case .date, .seconds: return "ocd_integer(ocd_double(" + seconds(term) + "))"
            case .other: return nil
            }
        case .double, .float:
            switch own {
            case .date, .seconds: return seconds(term)
            case .other: return nil
            default: return double(term)
            }
        case .decimal:
            switch own {
            case .date, .seconds: return "ocd_plain(ocd_double(" + seconds(term) + "))"
            case .other: return nil
            default: return "ocd_plain(" + computed(term) + ")"
            }
        case .date:
            switch own {
            case .other, .date, .seconds: return nil
            default: return "ocd_date(" + double(term) + ")"
            }
        default: return nil
        }
    }

    // MARK: Constants

    func constant(
        _ value: StoredValue, _ kind: ValueKind?, like other: SQLTerm?
    ) throws(SQLRefusal) -> (value: StoredValue, kind: ValueKind?) {
        if case .string(let text) = value, text.utf8.contains(0) {
            throw SQLRefusal(reason: "a text with U+0000 cannot be bound, and is in no text of the store")
        }
        if case .data(let data) = value, other?.kind == .json {
            guard (try? WireValue.json(data)) != nil else {
                throw SQLRefusal(reason: "bytes that are no JSON cannot be compared with JSON")
            }
            return (value, .json)
        }
        guard let other = other?.kind, let number = Constant(value) else { return (value, kind) }
        // The constant gets the column's type if it is the same number there, so that an index is
        // used.
        switch other {
        case .boolean:
            if let integer = number.integer, integer == 0 || integer == 1 { return (.integer(integer), .boolean) }
            if kind == .boolean { return (value, .int64) }
        case .int16, .int32, .int64: if let integer = number.integer { return (.integer(integer), .int64) }
        case .double, .float: if let double = number.double { return (.double(double), .double) }
        case .decimal: if let decimal = number.decimal { return (.decimal(decimal), .decimal) }
        default: if kind == .boolean { return (value, .int64) }
        }
        return (value, kind)
    }

    /// A number in each type in which comparisons count it as the same number.
    private struct Constant {
        var integer: Int64?
        var double: Double?
        var decimal: Decimal?

        init?(_ value: StoredValue) {
            switch value {
            case .integer(let number):
                integer = number
                double = number.magnitude <= 1 << 53 ? Double(number) : nil
                decimal = Decimal(number)
            case .double(let number):
                integer = Int64(exactly: number)
                double = number
            case .decimal(let number):
                let text = "\(number)"
                integer = Int64(text)
                // Decimals with a fraction are compared as the floating-point numbers nearest to
                // them.
                double =
                    integer.map { $0.magnitude <= 1 << 53 ? Double($0) : nil }
                    ?? (number.exponent < 0 ? Double(text) : nil)
                decimal = number
            default: return nil
            }
        }
    }

    // MARK: Comparisons

    func number(inText text: SQLText) -> SQLTerm { term("ocd_number(" + text + ")", .double) }

    func compare(_ left: SQLTerm, _ operation: NSComparisonPredicate.Operator, _ right: SQLTerm) -> SQLText? {
        guard let symbol = operation.symbol else { return nil }
        func cast(_ text: SQLText, _ type: String) -> SQLText { "CAST(" + text + " AS \(type))" }
        switch (form(left), form(right)) {
        case (.other, _), (_, .other): return nil
        case (.integer, .integer), (.boolean, .boolean), (.double, .double), (.decimal, .decimal), (.date, .date):
            return nil
        case (.integer, .decimal), (.decimal, .integer): return nil
        case (.date, _), (.seconds, _), (_, .date), (_, .seconds):
            func number(_ term: SQLTerm) -> SQLTerm {
                term.kind == .date ? SQLTerm(text: seconds(term), kind: .double) : term
            }
            let (first, second) = (number(left), number(right))
            return compare(first, operation, second) ?? first.text + symbol + second.text
        case (.boolean, .integer), (.boolean, .decimal): return cast(left.text, "integer") + symbol + right.text
        case (.integer, .boolean), (.decimal, .boolean): return left.text + symbol + cast(right.text, "integer")
        case (.boolean, .double), (.double, .boolean): return double(left) + symbol + double(right)
        case (.integer, .double), (.double, .integer):
            if bits(of: form(left) == .integer ? left : right) <= 53 { return double(left) + symbol + double(right) }
            if !hasFunctions {
                return form(left) == .integer
                    ? plainly(left, symbol, right) : plainly(right, operation.mirrored?.symbol ?? symbol, left)
            }
            return computed(left) + symbol + computed(right)
        case (.decimal, .double) where !hasFunctions: return plainly(left, symbol, right)
        case (.double, .decimal) where !hasFunctions: return plainly(right, operation.mirrored?.symbol ?? symbol, left)
        case (.decimal, .double):
            return "(" + bounds(left, operation, right) + "ocd_compare(" + left.text + ", " + right.text
                + ")\(symbol)0)"
        case (.double, .decimal):
            return "(" + bounds(right, operation.mirrored ?? operation, left) + "0\(symbol)ocd_compare(" + right.text
                + ", " + left.text
                + "))"
        case (.computed, _), (_, .computed):
            let kinds = [left.kind, right.kind]
            if kinds.contains(.decimal) {
                return "ocd_order(" + computed(left) + ", " + computed(right) + ")\(symbol)0"
            }
            return computed(left) + symbol + computed(right)
        }
    }

    /// Returns bounds by which an index narrows a comparison of a decimal column with a constant
    /// that is no decimal, followed by AND.
    private func bounds(_ decimal: SQLTerm, _ operation: NSComparisonPredicate.Operator, _ number: SQLTerm) -> SQLText {
        guard decimal.isColumn, number.isConstant else { return SQLText("") }
        switch operation {
        case .equalTo:
            return decimal.text + " BETWEEN ocd_below(" + number.text + ") AND ocd_above(" + number.text + ") AND "
        case .lessThan, .lessThanOrEqualTo: return decimal.text + " <= ocd_above(" + number.text + ") AND "
        case .greaterThan, .greaterThanOrEqualTo: return decimal.text + " >= ocd_below(" + number.text + ") AND "
        default: return SQLText("")
        }
    }

    func exact(_ first: SQLTerm, _ second: SQLTerm, _ kind: ValueKind?) -> (SQLText, SQLText)? {
        guard let kind else { return nil }
        func null(_ term: SQLTerm, _ form: (SQLTerm) -> SQLText) -> SQLText {
            term.isNull ? SQLText("NULL") : form(term)
        }
        if kind == .date {
            if first.exact == nil && second.exact == nil { return nil }
            return (null(first, seconds), null(second, seconds))
        }
        guard kind.isNumber else { return nil }
        let forms = [first, second].filter { !$0.isNull }.map(form)
        let isWhole = forms.allSatisfy { $0 == .integer || $0 == .boolean }
        if isWhole || forms.allSatisfy({ $0 == .double }) || forms.allSatisfy({ $0 == .decimal }) { return nil }
        return (null(first, computed), null(second, computed))
    }

    // MARK: Calculations

    func arithmetic(_ left: SQLTerm, _ operation: SQLArithmetic, _ right: SQLTerm, _ kind: ValueKind) -> SQLTerm? {
        if form(left).isTime || form(right).isTime { return timeArithmetic(left, operation, right, kind) }
        switch operation {
        case .modulus: return SQLTerm(text: "(" + whole(left) + " % NULLIF(" + whole(right) + ", 0))", kind: kind)
        case .and: return SQLTerm(text: "(" + whole(left) + " & " + whole(right) + ")", kind: kind)
        case .or: return SQLTerm(text: "(" + whole(left) + " | " + whole(right) + ")", kind: kind)
        case .shiftLeft: return SQLTerm(text: "ocd_shift(" + whole(left) + ", " + whole(right) + ", FALSE)", kind: kind)
        case .shiftRight: return SQLTerm(text: "ocd_shift(" + whole(left) + ", " + whole(right) + ", TRUE)", kind: kind)
        case .add, .subtract, .multiply, .divide: break
        }
        let symbol = operation.symbol
        let forms = (form(left), form(right))
        if left.isNull || right.isNull {
            return SQLTerm(text: SQLText("CAST(NULL AS double precision)"), kind: .double)
        }
        if forms.0.isWhole, forms.1.isWhole, let bits = bits(of: left, operation, right) {
            let divisor = operation == .divide ? "NULLIF(" + integer(right) + ", 0)" : integer(right)
            var term = SQLTerm(text: "(" + integer(left) + " \(symbol) " + divisor + ")", kind: kind)
            term.bits = bits
            return term
        }
        let isDecimal = left.kind == .decimal || right.kind == .decimal
        if !isDecimal, forms.0 == .double || forms.1 == .double {
            return SQLTerm(
                text: "ocd_calculate('\(symbol)', " + double(left) + ", " + double(right) + ")", kind: .double)
        }
        return term("ocd_calculate('\(symbol)', " + computed(left) + ", " + computed(right) + ")", kind)
    }

    /// Returns the largest number of bits that the result for two whole numbers takes; nil where it
    /// may overflow.
    private func bits(of left: SQLTerm, _ operation: SQLArithmetic, _ right: SQLTerm) -> Int? {
        let (first, second) = (bits(of: left), bits(of: right))
        let result =
            switch operation {
            case .add, .subtract: max(first, second) + 1
            case .multiply: first + second
            default: first
            }
        return result <= 62 ? result : nil
    }

    /// Returns a date plus or minus seconds, or a date minus a date.
    private func timeArithmetic(_ left: SQLTerm, _ operation: SQLArithmetic, _ right: SQLTerm, _ kind: ValueKind)
        -> SQLTerm?
    {
        guard operation == .add || operation == .subtract else { return nil }
        func number(_ term: SQLTerm) -> SQLText { form(term).isTime ? seconds(term) : double(term) }
        let result: SQLText = "ocd_calculate('\(operation.symbol)', " + number(left) + ", " + number(right) + ")"
        if kind == .date {
            var date = SQLTerm(text: "ocd_date(" + result + ")", kind: .date)
            date.exact = result
            return date
        }
        return SQLTerm(text: result, kind: .double)
    }

    func complement(_ integer: SQLTerm) -> SQLText { "(~" + whole(integer) + ")" }

    func calculation(_ name: String, _ values: [SQLTerm], _ kind: ValueKind?) throws(SQLRefusal) -> SQLTerm? {
        guard let value = values.first else { return nil }
        func native(_ text: SQLText) -> SQLTerm { SQLTerm(text: text, kind: kind) }
        switch name {
        case "length:", "lowercase:", "uppercase:", "canonical:":
            guard let text = value.kind == nil ? value.text : value.kind.flatMap({ text(of: value, $0) }) else {
                return nil
            }
            if name == "length:" { return native("ocd_length(" + text + ")") }
            let change: SQLTextChange =
                name == "lowercase:" ? .lowercase : name == "uppercase:" ? .uppercase : .canonical
            if let refusal = refusal(of: change) { throw SQLRefusal(reason: refusal) }
            return native(self.text(text, change))
        case "abs:":
            switch form(value) {
            case .integer where bits(of: value) <= 62, .boolean: return native("abs(" + integer(value) + ")")
            case .double, .decimal: return native("abs(" + value.text + ")")
            default: return term("ocd_abs(" + computed(value) + ")", kind)
            }
        case "floor:", "ceiling:", "trunc:":
            let function = name == "floor:" ? "floor" : name == "ceiling:" ? "ceil" : "trunc"
            if form(value) == .computed { return term("ocd_round('\(function)', " + computed(value) + ")", kind) }
            return native("\(function)(" + double(value) + ")")
        case "sqrt:", "ln:", "log:", "exp:": return native("ocd_\(name.dropLast())(" + double(value) + ")")
        case "onescomplement:": return native(complement(value))
        case "bitwisexor:with:": return native("(" + whole(value) + " # " + whole(values[1]) + ")")
        case "raise:topower:": return term("ocd_power(" + computed(value) + ", " + computed(values[1]) + ")", kind)
        default:
            guard values.count == 2, let operation = Self.operations[name] else { return nil }
            return arithmetic(value, operation, values[1], kind ?? .double)
        }
    }

    private static let operations: [String: SQLArithmetic] = [
        "add:to:": .add, "from:subtract:": .subtract, "multiply:by:": .multiply, "divide:by:": .divide,
        "modulus:by:": .modulus,
        "bitwiseand:with:": .and, "bitwiseor:with:": .or, "leftshift:by:": .shiftLeft, "rightshift:by:": .shiftRight,
    ]

    func truncated(_ number: SQLText) -> SQLText { "trunc(" + number + ")" }
}

extension PostgreSQLDialect.Form {
    var isWhole: Bool { self == .integer || self == .boolean }
    fileprivate var isTime: Bool { self == .date || self == .seconds }
}
