import CoreData

/// Adapts the predicate that a person wrote to an entity: keys get the properties' spelling, and
/// texts compared with dates and UUIDs are converted to these.
struct PredicateResolver {
    private let text: String
    private let identities: ObjectIdentities

    /// - Throws: `ToolError` with the place marked.
    static func predicate(
        _ text: String, for entity: NSEntityDescription, identities: ObjectIdentities
    ) throws(ToolError) -> NSPredicate {
        let resolver = PredicateResolver(text: text, identities: identities)
        if let date = DateText.bareDate(in: text) { throw resolver.calculation(date) }
        let parsed: NSPredicate
        do {
            parsed = try NSPredicate.parse(text)
        } catch {
            throw ToolError(
                "The predicate cannot be understood: \(error.message). Correct it at the mark; texts and dates stand "
                    + "in quotes.",
                details: error.rendering)
        }
        return try resolver.resolve(parsed, in: Scope(entity: entity))
    }

    /// The entities from which key paths start: the entity of `SELF`, and those of the variables of
    /// subqueries.
    private struct Scope {
        var entity: NSEntityDescription
        var variables: [String: NSEntityDescription] = [:]
        /// Whether an attribute is compared with the expression, which may be a text without
        /// quotes.
        var isBesideAttribute = false

        func beside(_ other: NSPropertyDescription?) -> Scope {
            var scope = self
            scope.isBesideAttribute = other is NSAttributeDescription
            return scope
        }
    }

    private func resolve(_ predicate: NSPredicate, in scope: Scope) throws(ToolError) -> NSPredicate {
        switch predicate {
        case let compound as NSCompoundPredicate:
            var parts: [NSPredicate] = []
            for part in compound.operands { parts.append(try resolve(part, in: scope)) }
            return NSCompoundPredicate(type: compound.compoundPredicateType, subpredicates: parts)
        case let comparison as NSComparisonPredicate:
            guard comparison.customSelector == nil else { return comparison }
            let (given, other) = (comparison.leftExpression, comparison.rightExpression)
            var left = try resolve(given, in: scope.beside(property(other, in: scope)))
            var right = try resolve(other, in: scope.beside(property(given, in: scope)))
            if let entity = objectEntity(&left, in: scope) {
                right = try identified(right, of: entity)
            } else if let entity = objectEntity(&right, in: scope) {
                left = try identified(left, of: entity)
            } else if let type = attributeType(left, in: scope) {
                right = try converted(right, to: type, for: comparison)
            } else if let type = attributeType(right, in: scope) {
                left = try converted(left, to: type, for: comparison)
            }
            return NSComparisonPredicate(
                leftExpression: left, rightExpression: right, modifier: comparison.comparisonPredicateModifier,
                type: comparison.predicateOperatorType, options: comparison.options)
        default: return predicate
        }
    }

    // MARK: Expressions

    private func resolve(_ expression: NSExpression, in scope: Scope) throws(ToolError) -> NSExpression {
        switch expression.expressionType {
        case .keyPath: return try resolveKeyPath(expression, in: scope)
        case .function:
            // A custom function cannot be rebuilt from its parts; the store refuses it anyway.
            guard !expression.description.hasPrefix("FUNCTION("), let arguments = expression.arguments else {
                return expression
            }
            var resolved: [NSExpression] = []
            for argument in arguments { resolved.append(try resolve(argument, in: scope)) }
            return resolved == arguments
                ? expression : NSExpression(forFunction: expression.function, arguments: resolved)
        case .aggregate:
            return try list(expression) { element throws(ToolError) in try resolve(element, in: scope) } ?? expression
        case .unionSet:
            return NSExpression(
                forUnionSet: try resolve(expression.left, in: scope), with: try resolve(expression.right, in: scope))
        case .intersectSet:
            return NSExpression(
                forIntersectSet: try resolve(expression.left, in: scope), with: try resolve(expression.right, in: scope)
            )
        case .minusSet:
            return NSExpression(
                forMinusSet: try resolve(expression.left, in: scope), with: try resolve(expression.right, in: scope))
        case .conditional:
            return NSExpression(
                forConditional: try resolve(expression.predicate, in: scope),
                trueExpression: try resolve(expression.true, in: scope),
                falseExpression: try resolve(expression.false, in: scope))
        case .subquery: return try resolveSubquery(expression, in: scope)
        case .variable:
            guard scope.variables[expression.variable] == nil else { return expression }
            throw mistake(
                "The variable '$\(expression.variable)' has no value.", "Write the value itself.",
                at: expression.variable)
        default: return expression
        }
    }

    private func resolveKeyPath(_ expression: NSExpression, in scope: Scope) throws(ToolError) -> NSExpression {
        let operand = expression.operand
        switch operand.expressionType {
        case .evaluatedObject:
            let path = try resolve(expression.keyPath, from: scope.entity, isText: scope.isBesideAttribute)
            return path == expression.keyPath ? expression : NSExpression(forKeyPath: path)
        case .variable:
            guard let entity = scope.variables[operand.variable] else { return try resolve(operand, in: scope) }
            let path = try resolve(expression.keyPath, from: entity)
            return path == expression.keyPath ? expression : operand.appending(path)
        default:
            let resolved = try resolve(operand, in: scope)
            return resolved == operand ? expression : resolved.appending(expression.keyPath)
        }
    }

    private func resolveSubquery(_ expression: NSExpression, in scope: Scope) throws(ToolError) -> NSExpression {
        guard let collection = expression.collection as? NSExpression else { return expression }
        let resolved = try resolve(collection, in: scope)
        guard let relationship = property(resolved, in: scope) as? NSRelationshipDescription,
            let destination = relationship.destinationEntity
        else { return expression }
        var inner = scope
        inner.variables[expression.variable] = destination
        return NSExpression(
            forSubquery: resolved, usingIteratorVariable: expression.variable,
            predicate: try resolve(expression.predicate, in: inner))
    }

    /// - Parameter isText: whether the path may be meant as a text.
    private func resolve(
        _ keyPath: String, from entity: NSEntityDescription, isText: Bool = false
    ) throws(ToolError) -> String {
        do {
            return try KeyPathResolver.resolve(keyPath, from: entity).keyPath
        } catch {
            throw mistake(error.message, isText ? "Quote texts: '\(keyPath)'." : "", at: error.key)
        }
    }

    private func property(_ expression: NSExpression, in scope: Scope) -> NSPropertyDescription? {
        guard expression.expressionType == .keyPath else { return nil }
        let operand = expression.operand
        let start = operand.expressionType == .variable ? scope.variables[operand.variable] : scope.entity
        return start.flatMap { try? KeyPathResolver.resolve(expression.keyPath, from: $0).property }
    }

    // MARK: Values

    /// Returns the constant text that an expression is; nil for anything else.
    private func constantText(_ expression: NSExpression) -> String? {
        expression.expressionType == .constantValue ? expression.constantValue as? String : nil
    }

    /// Returns a list with converted elements; nil for an expression that is no list.
    private func list(
        _ expression: NSExpression, _ convert: (NSExpression) throws(ToolError) -> NSExpression
    ) throws(ToolError) -> NSExpression? {
        var elements: [NSExpression] = []
        switch expression.expressionType {
        case .aggregate: elements = expression.aggregateElements ?? []
        case .constantValue:
            guard let list = expression.constantValue as? [Any] else { return nil }
            elements = list.map { NSExpression(forConstantValue: $0) }
        default: return nil
        }
        for index in elements.indices { elements[index] = try convert(elements[index]) }
        return NSExpression(forAggregate: elements)
    }

    private func attributeType(_ expression: NSExpression, in scope: Scope) -> NSAttributeType? {
        (property(expression, in: scope) as? NSAttributeDescription)?.attributeType
    }

    /// Converts texts to dates and UUIDs if an attribute of such a type is compared with them.
    private func converted(
        _ expression: NSExpression, to type: NSAttributeType, for comparison: NSComparisonPredicate
    ) throws(ToolError) -> NSExpression {
        switch comparison.predicateOperatorType {
        case .like, .matches, .beginsWith, .endsWith, .contains: return expression
        default: break
        }
        let list = try list(expression) { element throws(ToolError) in
            try converted(element, to: type, for: comparison)
        }
        if let list { return list }
        if type == .dateAttributeType, let date = bareDate(expression) {
            throw calculation(date)
        }
        guard let text = constantText(expression) else { return expression }
        switch type {
        case .dateAttributeType:
            guard let date = DateText.date(from: text) else {
                throw mistake("'\(text)' is not a date.", "Write 2026-01-31 or 2026-01-31T12:00:00Z.", at: text)
            }
            return NSExpression(forConstantValue: date)
        case .UUIDAttributeType:
            guard let uuid = UUID(uuidString: text) else {
                throw mistake("'\(text)' is not a UUID.", "Write all its 32 digits and 4 hyphens.", at: text)
            }
            return NSExpression(forConstantValue: uuid)
        default: return expression
        }
    }

    private func calculation(_ date: String) -> ToolError {
        mistake("\(date) is a calculation here.", "Write a date in quotes: '\(date)'.", at: date)
    }

    /// Returns the year and month without quotes that were parsed as a difference of numbers; nil
    /// for anything else.
    private func bareDate(_ expression: NSExpression) -> String? {
        guard expression.expressionType == .function, expression.function == "from:subtract:",
            let range = text.range(of: "\\b[0-9]{4}-[0-9]{1,2}(-[0-9]{1,2})?\\b", options: .regularExpression)
        else { return nil }
        return String(text[range])
    }

    // MARK: Objects

    /// Returns the entity of the objects to which an expression evaluates; nil for values.
    /// `objectID` at the end is replaced by the object itself.
    private func objectEntity(_ expression: inout NSExpression, in scope: Scope) -> NSEntityDescription? {
        if expression.expressionType == .evaluatedObject { return scope.entity }
        if expression.expressionType == .variable { return scope.variables[expression.variable] }
        guard expression.expressionType == .keyPath else { return nil }
        let start = expression.operand
        let entity: NSEntityDescription?
        switch start.expressionType {
        case .evaluatedObject: entity = scope.entity
        case .variable: entity = scope.variables[start.variable]
        default: entity = nil
        }
        guard let entity else { return nil }
        let suffix = "." + QueryColumn.objectID
        let path = expression.keyPath
        if path == QueryColumn.objectID || path == "self" {
            expression = start
            return entity
        }
        if path.hasSuffix(suffix) { expression = start.appending(String(path.dropLast(suffix.count))) }
        return (property(expression, in: scope) as? NSRelationshipDescription)?.destinationEntity
    }

    /// Converts texts such as `Maker/p1` to objects.
    private func identified(_ expression: NSExpression, of entity: NSEntityDescription) throws(ToolError)
        -> NSExpression
    {
        let list = try list(expression) { element throws(ToolError) in try identified(element, of: entity) }
        if let list { return list }
        guard let text = constantText(expression) else { return expression }
        do {
            return NSExpression(forConstantValue: try identities.identity(text, of: entity))
        } catch {
            throw mistake(error.problem, error.advice, at: text)
        }
    }

    // MARK: Mistakes

    /// Returns an error that marks the place of a word in the predicate.
    private func mistake(_ problem: String, _ advice: String, at word: String) -> ToolError {
        let whole = "(?<!\\w)" + NSRegularExpression.escapedPattern(for: word) + "(?!\\w)"
        let range = text.range(of: whole, options: .regularExpression) ?? text.range(of: word)
        let place = range?.lowerBound ?? text.startIndex
        let offset = text.distance(from: text.startIndex, to: place)
        let marked = PredicateFormatError(message: problem, offset: offset, format: text)
        return ToolError(
            [problem, advice].filter { !$0.isEmpty }.joined(separator: " "), details: marked.rendering)
    }
}
