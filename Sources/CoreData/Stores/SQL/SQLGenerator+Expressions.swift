import Foundation

extension SQLGenerator {
    /// The value at a key path that leads through to-one relationships, or an aggregate over a to-many one
    /// (`pages.@sum.number` and `pages.number.@sum` mean the same).
    func term(path: [String], in scope: SQLScope, _ context: String) throws -> SQLTerm {
        if let column = resultColumn?(path.joined(separator: ".")) { return column }
        let isAggregate = path.contains { $0.hasPrefix("@") }
        switch try resolve(path, in: scope, context) {
        case .column(let alias, let column, let slot):
            return SQLTerm(
                text: SQLText("\(alias).\(SQLSchema.identifier(column.name))"), kind: slot.kind, slot: slot,
                isColumn: true)
        case .composite(let alias, let composite, let entity):
            return SQLTerm(composite: SQLComposite(alias: alias, layout: composite, entity: entity))
        case .row(let alias, _):
            return SQLTerm(
                text: SQLText("\(alias).Z_PK"), kind: .toOne, isColumn: true, canBeNull: alias != scope.alias)
        case .length(let alias, let column):
            return SQLTerm(text: SQLText("length(\(alias).\(SQLSchema.identifier(column.name)))"), kind: .int64)
        case .toMany(let key, _, let slot, let mapping, let rest):
            if isAggregate { return try aggregate(ownerKey: key, mapping, slot: slot, rest: rest, context) }
            throw refuse(
                context,
                "'\(slot.name)' is a to-many relationship within another one, or stands where one value is needed; "
                    + "use SUBQUERY, ANY or @count")
        }
    }

    /// An expression as a value.
    ///
    /// - Parameter other: what it is compared with, which says how a constant is bound.
    func term(
        _ expression: NSExpression, in environment: SQLEnvironment, like other: SQLTerm?, _ context: String
    ) throws -> SQLTerm {
        switch expression.expressionType {
        case .constantValue:
            let value = try constant(expression.constantValue, like: other, context)
            othersOfConstants.append(other)
            return SQLTerm(
                text: SQLText("?", [value]), isNull: value.isNull, canBeNull: value.isNull)
        case .evaluatedObject:
            return SQLTerm(
                text: SQLText("\(environment.scope.alias).Z_PK"), kind: .toOne, isColumn: true, canBeNull: false)
        case .variable:
            guard let scope = environment.variables[expression.variable] else {
                // A condition on groups may name a result column as a variable.
                if let column = resultColumn?(expression.variable) { return column }
                throw refuse(context, "the variable $\(expression.variable) has no value")
            }
            return SQLTerm(text: SQLText("\(scope.alias).Z_PK"), kind: .toOne, isColumn: true, canBeNull: false)
        case .keyPath:
            if expression.operand.expressionType == .subquery, expression.operand !== expression {
                guard expression.keyPath == "@count" else {
                    throw refuse(context, "only @count can be taken of a subquery")
                }
                let rows = try subqueryRows(expression.operand, in: environment)
                return SQLTerm(text: "(SELECT COUNT(*)" + rows + ")", kind: .int64, canBeNull: false)
            }
            let (scope, path) = try scopeAndPath(of: expression, in: environment)
            return try term(path: path, in: scope, context)
        case .function: return try function(expression, in: environment, like: other, context)
        case .conditional:
            let test = try condition(expression.predicate, in: environment)
            let first = try single(term(expression.true, in: environment, like: other, context), context)
            let second = try single(term(expression.false, in: environment, like: other, context), context)
            return SQLTerm(
                text: "CASE WHEN " + test + " THEN " + first.text + " ELSE " + second.text + " END", kind: first.kind)
        case .fetchRequest:
            guard let value = expression.expressionValue(with: nil, context: nil), SQLList.elements(of: value) == nil else {
                throw refuse(context, "a fetch request gives one value if it only counts; use IN")
            }
            return try term(NSExpression(forConstantValue: value), in: environment, like: other, context)
        case .aggregate:
            throw refuse(context, "a collection stands where one value is needed")
        case .subquery, .block, .anyKey, .unionSet, .intersectSet, .minusSet:
            throw refuse(context, "expressions of this kind have no SQL")
        @unknown default:
            throw refuse(context, "expressions of this kind have no SQL")
        }
    }

    // MARK: Functions

    private static let binaryFunctions: [String: String] = [
        "add:to:": "+", "from:subtract:": "-", "multiply:by:": "*", "divide:by:": "/", "modulus:by:": "%",
        "bitwiseand:with:": "&", "bitwiseor:with:": "|", "leftshift:by:": "<<", "rightshift:by:": ">>",
    ]

    private static let unaryFunctions: [String: String] = [
        "abs:": "abs", "length:": "length", "sqrt:": "sqrt", "floor:": "floor", "ceiling:": "ceil", "trunc:": "trunc",
        "exp:": "exp", "ln:": "ln", "log:": "log10", "lowercase:": SQLFunctionName.lowercase,
        "uppercase:": SQLFunctionName.uppercase, "canonical:": SQLFunctionName.canonical,
    ]

    private static let relationshipAggregates: [String: String] = [
        "count:": "@count", "sum:": "@sum", "min:": "@min", "max:": "@max", "average:": "@avg",
    ]

    private func function(
        _ expression: NSExpression, in environment: SQLEnvironment, like other: SQLTerm?, _ context: String
    ) throws -> SQLTerm {
        let name = expression.function.lowercased()
        let arguments = expression.arguments ?? []
        if let symbol = Self.binaryFunctions[name], arguments.count == 2 {
            let left = try operand(arguments[0], in: environment, context)
            let right = try operand(arguments[1], in: environment, context)
            let kind: ValueKind? = left.kind == .date || right.kind == .date ? .date : left.kind ?? right.kind
            return SQLTerm(text: "(" + left.text + " \(symbol) " + right.text + ")", kind: kind)
        }
        if name == "raise:topower:", arguments.count == 2 {
            let left = try operand(arguments[0], in: environment, context)
            let right = try operand(arguments[1], in: environment, context)
            return SQLTerm(text: "pow(" + left.text + ", " + right.text + ")", kind: .double)
        }
        if name == "bitwisexor:with:", arguments.count == 2 {
            let left = try operand(arguments[0], in: environment, context).text
            let right = try operand(arguments[1], in: environment, context).text
            return SQLTerm(
                text: "((" + left + " | " + right + ") - (" + left + " & " + right + "))", kind: .int64)
        }
        if name == "onescomplement:", let argument = arguments.first {
            return SQLTerm(text: "(~" + (try operand(argument, in: environment, context)).text + ")", kind: .int64)
        }
        if name == "now" || name == "now:" {
            return SQLTerm(text: SQLText("?", [.double(Date().timeIntervalSinceReferenceDate)]), kind: .date)
        }
        if name == "noindex:", let argument = arguments.first {
            let term = try operand(argument, in: environment, context)
            return SQLTerm(text: "+" + term.text, kind: term.kind)
        }
        if resultColumn != nil, Self.relationshipAggregates[name] != nil,
            let first = arguments.first, first.expressionType == .keyPath || first.expressionType == .evaluatedObject,
            !first.isToManyPath(of: environment.scope.entity)
        {
            return try resultTerm(expression, in: environment)
        }
        if let function = Self.relationshipAggregates[name], let argument = arguments.first {
            if argument.expressionType == .subquery, name == "count:" {
                let rows = try subqueryRows(argument, in: environment)
                return SQLTerm(text: "(SELECT COUNT(*)" + rows + ")", kind: .int64, canBeNull: false)
            }
            guard argument.expressionType == .keyPath else {
                throw refuse(context, "'\(expression.function)' needs a key path through a to-many relationship")
            }
            let (scope, path) = try scopeAndPath(of: argument, in: environment)
            return try term(path: path + [function], in: scope, context)
        }
        if let function = Self.unaryFunctions[name], let argument = arguments.first {
            let term = try operand(argument, in: environment, context)
            let kind: ValueKind? =
                switch name {
                case "length:": .int64
                case "abs:", "floor:", "ceiling:", "trunc:": term.kind
                case "lowercase:", "uppercase:", "canonical:": .string
                default: .double
                }
            return SQLTerm(text: "\(function)(" + term.text + ")", kind: kind)
        }
        throw refuse(context, "the function '\(expression.function)' has no equivalent in SQL")
    }

    /// An operand of a computation: numbers are bound as numbers.
    private func operand(_ expression: NSExpression, in environment: SQLEnvironment, _ context: String) throws
        -> SQLTerm
    {
        try single(term(expression, in: environment, like: nil, context), context)
    }

    // MARK: Constants

    /// A constant in the form it has in the column that it is compared with.
    func constant(_ value: Any?, like other: SQLTerm?, _ context: String) throws -> PropertyValue {
        guard let value = PropertyConversion.unwrapped(value), !(value is NSNull) else { return .null }
        if let identity = value as? any RowIdentity {
            // An object that this store does not know equals no row.
            return .integer(identity.rowReference(in: store)?.key ?? -1)
        }
        if other?.kind == .transformable {
            if let attribute = other?.slot?.attribute {
                return .data(try Transformation.data(from: value, attribute: attribute))
            }
        }
        let decimalColumn = other?.kind == .decimal && other?.isColumn == true
        switch value {
        case let string as String:
            if other?.kind == .uuid { return UUID(uuidString: string).map(PropertyValue.uuid) ?? .string(string) }
            return .string(string)
        case let date as Date: return .double(date.timeIntervalSinceReferenceDate)
        case let uuid as UUID: return .uuid(uuid)
        case let data as Data: return .data(data)
        case let url as URL: return .string(url.absoluteString)
        case let bool as Bool where type(of: value) == Bool.self: return .integer(bool ? 1 : 0)
        case let decimal as Decimal: return number(decimal, decimalColumn)
        case let decimal as NSDecimalNumber: return number(decimal.decimalValue, decimalColumn)
        case let integer as any BinaryInteger:
            return Int64(exactly: integer).map(PropertyValue.integer) ?? .double(Double(integer))
        case let double as Double where type(of: value) == Double.self: return .double(double)
        case let float as Float where type(of: value) == Float.self: return .double(Double(float))
        case let number as NSNumber:
            switch UInt8(bitPattern: number.objCType.pointee) {
            case UInt8(ascii: "d"), UInt8(ascii: "f"): return .double(number.doubleValue)
            case UInt8(ascii: "Q"):
                return Int64(exactly: number.uint64Value).map(PropertyValue.integer) ?? .double(number.doubleValue)
            default: return .integer(number.int64Value)
            }
        case let boxed as any RawRepresentable: return try constant(boxed.rawValue, like: other, context)
        default:
            throw refuse(context, "a value of type \(type(of: value)) cannot be compared in SQL")
        }
    }

    private func number(_ decimal: Decimal, _ forDecimalColumn: Bool) -> PropertyValue {
        if forDecimalColumn { return .decimal(decimal) }
        let double = NSDecimalNumber(decimal: decimal).doubleValue
        if let integer = Int64(exactly: double) { return .integer(integer) }
        return .double(double)
    }

    // MARK: Sorting

    /// ` ORDER BY …`, empty for no descriptors.
    func order(_ descriptors: [NSSortDescriptor], in scope: SQLScope) throws -> SQLText {
        if descriptors.isEmpty { return SQLText("") }
        let terms = try descriptors.map { descriptor -> SQLText in
            let context = "\(descriptor.key ?? "SELF") \(descriptor.ascending ? "ascending" : "descending")"
            guard let key = descriptor.key else { throw refuse(context, "a sort descriptor without a key has no SQL") }
            let path = key.split(separator: ".").map(String.init)
            let term = try self.term(path: path, in: scope, "sorting by \(key)")
            if term.kind == .transformable || term.kind == .composite {
                throw refuse(
                    "sorting by \(key)",
                    term.kind == .composite
                        ? "a composite attribute has no order; sort by its elements" : "transformable values have no order in SQL")
            }
            let collation = try self.collation(descriptor, isText: term.kind == .string || term.kind == .uri)
            return term.text + collation + (descriptor.ascending ? "" : " DESC")
        }
        return " ORDER BY " + SQLText.joined(terms, by: ", ")
    }

    private func collation(_ descriptor: NSSortDescriptor, isText: Bool) throws -> String {
        guard let name = descriptor.selector?.name else {
            throw refuse(
                "sorting by \(descriptor.key ?? "SELF")", "unsupported NSSortDescriptor: a comparator closure has no SQL")
        }
        let collation: String
        switch name {
        case "compare:": return ""
        case "caseInsensitiveCompare:": collation = SQLFunctionName.collateCaseInsensitive
        case "localizedCompare:": collation = SQLFunctionName.collateLocalized
        case "localizedCaseInsensitiveCompare:": collation = SQLFunctionName.collateLocalizedCaseInsensitive
        case "localizedStandardCompare:": collation = SQLFunctionName.collateLocalizedStandard
        default:
            throw refuse(
                "sorting by \(descriptor.key ?? "SELF")",
                "the selector '\(name)' has no SQL; compare:, caseInsensitiveCompare:, localizedCompare:, "
                    + "localizedCaseInsensitiveCompare: and localizedStandardCompare: have")
        }
        return isText ? " COLLATE \(collation)" : ""
    }
}

extension NSExpression {
    /// Whether it is a key path that starts with a to-many relationship of an entity.
    fileprivate func isToManyPath(of entity: SQLEntity) -> Bool {
        guard expressionType == .keyPath, let first = keyPath.split(separator: ".").first,
            let slot = entity.layout.slotByName[String(first)]
        else { return false }
        return entity.toMany[slot] != nil
    }
}
