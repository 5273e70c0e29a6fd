import Predicates

/// Creates predicates, expressions and sort descriptors from their archived forms. Everything is
/// checked before it is created: depth, operators, functions and the number of their arguments, key
/// paths.
package struct PredicateArchiveReader {
    let archive: ObjectArchive
    /// Reads expressions of classes that upper modules declare; nil for other classes.
    let others: (ObjectArchive.Object, PredicateArchiveReader) throws -> NSExpression?

    private static let depthLimit = 64

    package init(
        archive: ObjectArchive,
        others: @escaping (ObjectArchive.Object, PredicateArchiveReader) throws -> NSExpression? = { _, _ in nil }
    ) {
        self.archive = archive
        self.others = others
    }

    func predicate(_ object: ObjectArchive.Object, depth: Int = 0) throws -> NSPredicate {
        try check(depth)
        switch object.className {
        case "NSTruePredicate": return NSPredicate(value: true)
        case "NSFalsePredicate": return NSPredicate(value: false)
        case "NSComparisonPredicate": return try comparison(object, depth: depth)
        case "NSCompoundPredicate":
            let number = try archive.integer("NSCompoundPredicateType", of: object) ?? -1
            let parts = try (archive.elements("NSSubpredicates", of: object) ?? []).compactMap { number in
                try archive.object(number).map { try predicate($0, depth: depth + 1) }
            }
            guard let type = UInt(exactly: number).flatMap(NSCompoundPredicate.LogicalType.init),
                type != .not || parts.count == 1
            else { throw ModelReadingError.damagedArchive("The archive has a compound predicate of an unknown kind.") }
            return NSCompoundPredicate(type: type, subpredicates: parts)
        default:
            throw ModelReadingError.unknownPart(
                "The archive has a predicate of the unknown class '\(object.className)'.")
        }
    }

    private func comparison(_ object: ObjectArchive.Object, depth: Int) throws -> NSPredicate {
        guard let left = try archive.object("NSLeftExpression", of: object),
            let right = try archive.object("NSRightExpression", of: object),
            let operation = try archive.object("NSPredicateOperator", of: object),
            operation.className.hasSuffix("PredicateOperator"),
            let type = try archive.integer("NSOperatorType", of: operation).flatMap({ UInt(exactly: $0) })
                .flatMap(NSComparisonPredicate.Operator.init), type != .customSelector,
            let modifier = NSComparisonPredicate.Modifier(
                rawValue: UInt(clamping: try archive.integer("NSModifier", of: operation) ?? 0))
        else { throw ModelReadingError.damagedArchive("The archive has a comparison of an unknown kind.") }
        let options = try archive.integer("NSOptions", of: operation) ?? archive.integer("NSFlags", of: operation) ?? 0
        return NSComparisonPredicate(
            leftExpression: try expression(left, depth: depth + 1),
            rightExpression: try expression(right, depth: depth + 1), modifier: modifier, type: type,
            options: NSComparisonPredicate.Options(rawValue: UInt(clamping: options) & 15))
    }

    package func expression(_ object: ObjectArchive.Object, depth: Int = 0) throws -> NSExpression {
        try check(depth)
        switch object.className {
        case "NSSelfExpression": return .expressionForEvaluatedObject()
        case "NSConstantValueExpression":
            let value = try archive.reference("NSConstantValue", of: object).flatMap { try archive.plainValue($0) }
            return NSExpression(forConstantValue: value)
        case "NSVariableExpression":
            guard let name = try archive.text("NSVariable", of: object), Self.isIdentifier(name) else {
                throw ModelReadingError.damagedArchive("The archive has a variable without a usable name.")
            }
            return NSExpression(forVariable: name)
        case "NSKeyPathSpecifierExpression":
            return NSExpression(forKeyPath: try keyPath(archive.text("NSKeyPath", of: object)))
        case "NSKeyPathExpression": return try keyPathExpression(object, depth: depth)
        case "NSFunctionExpression": return try function(object, depth: depth)
        case "NSAggregateExpression":
            return NSExpression(forAggregate: try expressions("NSCollection", of: object, depth: depth))
        case "NSSubqueryExpression":
            guard let collection = try archive.object("NSCollection", of: object),
                let condition = try archive.object("NSPredicate", of: object),
                let variable = try archive.text("NSVariable", of: object), Self.isIdentifier(variable)
            else { throw ModelReadingError.damagedArchive("The archive has a damaged subquery.") }
            return NSExpression(
                forSubquery: try expression(collection, depth: depth + 1), usingIteratorVariable: variable,
                predicate: try predicate(condition, depth: depth + 1))
        case "NSTernaryExpression":
            guard let condition = try archive.object("NSPredicate", of: object),
                let first = try archive.object("NSTrueExpression", of: object),
                let second = try archive.object("NSFalseExpression", of: object)
            else { throw ModelReadingError.damagedArchive("The archive has a damaged conditional expression.") }
            return NSExpression(
                forConditional: try predicate(condition, depth: depth + 1),
                trueExpression: try expression(first, depth: depth + 1),
                falseExpression: try expression(second, depth: depth + 1))
        default:
            if let other = try others(object, self) { return other }
            throw ModelReadingError.unknownPart(
                "The archive has an expression of the unknown class '\(object.className)'.")
        }
    }

    private func expressions(_ key: String, of object: ObjectArchive.Object, depth: Int) throws -> [NSExpression] {
        try (archive.elements(key, of: object) ?? []).map { number in
            guard let element = try archive.object(number) else { return NSExpression(forConstantValue: nil) }
            return try expression(element, depth: depth + 1)
        }
    }

    private func keyPathExpression(_ object: ObjectArchive.Object, depth: Int) throws -> NSExpression {
        guard let operandObject = try archive.object("NSOperand", of: object),
            let specifier = try archive.elements("NSArguments", of: object)?.first,
            let specifierObject = try archive.object(specifier)
        else { throw ModelReadingError.damagedArchive("The archive has a damaged key path.") }
        let path = try keyPath(archive.text("NSKeyPath", of: specifierObject))
        let operand = try expression(operandObject, depth: depth + 1)
        switch operand.expressionType {
        case .evaluatedObject: return NSExpression(forKeyPath: path)
        case .variable, .function, .subquery:
            // A key path that starts from another expression can only be made from its text.
            do {
                guard path.split(separator: ".").allSatisfy(Self.isIdentifier) else {
                    throw CocoaError(.coderInvalidValue)
                }
                return try NSExpression.parse("\(operand).\(path)")
            } catch {
                throw ModelReadingError.damagedArchive("The archive has a key path '\(path)' that cannot be read.")
            }
        default: throw ModelReadingError.damagedArchive("The archive has a key path of something without properties.")
        }
    }

    private func function(_ object: ObjectArchive.Object, depth: Int) throws -> NSExpression {
        guard let name = try archive.text("NSSelectorName", of: object),
            let operandObject = try archive.object("NSOperand", of: object)
        else { throw ModelReadingError.damagedArchive("The archive has a damaged function call.") }
        let arguments = try expressions("NSArguments", of: object, depth: depth)
        if try archive.text("NSConstantValueClassName", of: operandObject) == "_NSPredicateUtilities" {
            let parameters = name.filter { $0 == ":" }.count
            guard NSExpression.isBuiltInFunction(name), parameters == arguments.count else {
                throw ModelReadingError.unknownPart("The archive calls the unknown function '\(name)'.")
            }
            return NSExpression(forFunction: name, arguments: arguments)
        }
        return NSExpression(
            forFunction: try expression(operandObject, depth: depth + 1), selectorName: name, arguments: arguments)
    }

    func sortDescriptor(_ object: ObjectArchive.Object) throws -> NSSortDescriptor {
        guard object.className == "NSSortDescriptor" else {
            throw ModelReadingError.unknownPart(
                "The archive has a sort descriptor of the unknown class '\(object.className)'.")
        }
        let key = try keyPath(archive.text("NSKey", of: object))
        let isAscending = try archive.boolean("NSAscending", of: object)
        let selector = try archive.text("NSSelector", of: object) ?? "compare:"
        if selector == "compare:" { return NSSortDescriptor(key: key, ascending: isAscending) }
        guard Selector.comparisons.contains(Selector(selector)) else {
            throw ModelReadingError.unknownPart("The archive sorts with the unknown selector '\(selector)'.")
        }
        return NSSortDescriptor(key: key, ascending: isAscending, selector: Selector(selector))
    }

    private func keyPath(_ path: String?) throws -> String {
        guard let path, !path.isEmpty,
            path.split(separator: ".", omittingEmptySubsequences: false).allSatisfy({ !$0.isEmpty && $0 != "@" })
        else { throw ModelReadingError.damagedArchive("The archive has a key path that is empty or malformed.") }
        return path
    }

    /// Whether a name may be used in the text form of an expression. A property's own name may be
    /// any text.
    private static func isIdentifier(_ text: some StringProtocol) -> Bool {
        let name = text.first == "@" ? text.dropFirst() : text[...]
        return !name.isEmpty && name.first?.isNumber == false
            && name.allSatisfy { $0 == "_" || $0.isLetter || $0.isNumber }
    }

    private func check(_ depth: Int) throws {
        guard depth < Self.depthLimit else {
            throw ModelReadingError.damagedArchive("The archive's predicates are nested too deeply.")
        }
    }
}
