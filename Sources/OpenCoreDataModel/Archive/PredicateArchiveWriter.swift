import Predicates

/// Writes predicates, expressions and sort descriptors in the archived form of Apple's classes.
struct PredicateArchiveWriter {
    let writer: ObjectArchiveWriter

    /// - Throws: `ModelReadingError` for a predicate that is a closure.
    func reference(to predicate: NSPredicate) throws -> PropertyListValue {
        switch predicate {
        case let predicate as NSComparisonPredicate:
            guard predicate.predicateOperatorType != .customSelector else { throw notArchivable(predicate) }
            return writer.shared(predicate, ["NSComparisonPredicate", "NSPredicate"]) {
                [
                    "NSLeftExpression": try reference(to: predicate.leftExpression),
                    "NSRightExpression": try reference(to: predicate.rightExpression),
                    "NSPredicateOperator": operation(of: predicate),
                ]
            }
        case let predicate as NSCompoundPredicate:
            let parts = predicate.subpredicates.compactMap { $0 as? NSPredicate }
            return writer.shared(predicate, ["NSCompoundPredicate", "NSPredicate"]) {
                [
                    "NSCompoundPredicateType": .integer(Int64(predicate.compoundPredicateType.rawValue)),
                    "NSSubpredicates": writer.array(try parts.map { try reference(to: $0) }),
                ]
            }
        default:
            switch predicate.predicateFormat {
            case "TRUEPREDICATE": return writer.object(["NSTruePredicate", "NSPredicate"]) { [:] }
            case "FALSEPREDICATE": return writer.object(["NSFalsePredicate", "NSPredicate"]) { [:] }
            default: throw notArchivable(predicate)
            }
        }
    }

    private func operation(of predicate: NSComparisonPredicate) -> PropertyListValue {
        let type = predicate.predicateOperatorType
        let options = PropertyListValue.integer(Int64(predicate.options.rawValue))
        var entries: ObjectArchiveWriter.Entries = [
            "NSOperatorType": .integer(Int64(type.rawValue)),
            "NSModifier": .integer(Int64(predicate.comparisonPredicateModifier.rawValue)),
        ]
        let className: String
        switch type {
        case .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo:
            className = "NSComparisonPredicateOperator"
            entries["NSVariant"] = .integer(Int64(type.rawValue))
            entries["NSOptions"] = options
        case .equalTo, .notEqualTo:
            className = "NSEqualityPredicateOperator"
            entries["NSNegate"] = .boolean(type == .notEqualTo)
            entries["NSOptions"] = options
        case .between: className = "NSBetweenPredicateOperator"
        case .in, .contains:
            className = "NSInPredicateOperator"
            entries["NSFlags"] = options
        case .beginsWith, .endsWith:
            className = "NSSubstringPredicateOperator"
            entries["NSSubstringPosition"] = .integer(type == .beginsWith ? 0 : 1)
            entries["NSFlags"] = options
        case .like:
            className = "NSLikePredicateOperator"
            entries["NSFlags"] = options
        default:
            className = "NSMatchingPredicateOperator"
            entries["NSFlags"] = options
        }
        return writer.object([className, "NSPredicateOperator"]) { entries }
    }

    /// - Throws: `ModelReadingError` for a closure or a constant of an unknown class.
    func reference(to expression: NSExpression) throws -> PropertyListValue {
        switch expression.expressionType {
        case .evaluatedObject: return object("NSSelfExpression", 1) { [:] }
        case .constantValue:
            let value = try constant(expression.constantValue, in: expression)
            return object("NSConstantValueExpression", 0) { ["NSConstantValue": value] }
        case .variable:
            return object("NSVariableExpression", 2) { ["NSVariable": writer.text(expression.variable)] }
        case .keyPath: return try keyPath(expression)
        case .function: return try function(expression)
        case .aggregate:
            let elements = expression.collection as? [NSExpression] ?? []
            return object("NSAggregateExpression", 14) {
                ["NSCollection": writer.array(try elements.map { try reference(to: $0) })]
            }
        case .subquery:
            guard let collection = expression.collection as? NSExpression else { throw notArchivable(expression) }
            return object("NSSubqueryExpression", 13) {
                [
                    "NSCollection": try reference(to: collection),
                    "NSPredicate": try reference(to: expression.predicate),
                    "NSVariable": writer.text(expression.variable),
                ]
            }
        case .conditional:
            return object("NSTernaryExpression", 20) {
                [
                    "NSPredicate": try reference(to: expression.predicate),
                    "NSTrueExpression": try reference(to: expression.true),
                    "NSFalseExpression": try reference(to: expression.false),
                ]
            }
        default: throw notArchivable(expression)
        }
    }

    private func keyPath(_ expression: NSExpression) throws -> PropertyListValue {
        let path = expression.keyPath
        let isSingleKeyOfSelf = expression.operand.expressionType == .evaluatedObject && !path.contains(".")
        return writer.object(["NSKeyPathExpression", "NSFunctionExpression", "NSExpression"]) {
            let specifier = object("NSKeyPathSpecifierExpression", 10) { ["NSKeyPath": writer.text(path)] }
            return [
                "NSExpressionType": .integer(expression.operand.expressionType == .evaluatedObject ? 3 : 4),
                "NSOperand": try reference(to: expression.operand),
                "NSSelectorName": writer.text(isSingleKeyOfSelf ? "valueForKey:" : "valueForKeyPath:"),
                "NSArguments": writer.array([specifier], className: "NSMutableArray"),
            ]
        }
    }

    private func function(_ expression: NSExpression) throws -> PropertyListValue {
        let isBuiltIn =
            expression.operand.expressionType == .evaluatedObject && NSExpression.isBuiltInFunction(expression.function)
        return object("NSFunctionExpression", 4) {
            let utilities = object("NSConstantValueExpression", 0) {
                ["NSConstantValueClassName": writer.text("_NSPredicateUtilities")]
            }
            return [
                "NSOperand": isBuiltIn ? utilities : try reference(to: expression.operand),
                "NSSelectorName": writer.text(expression.function),
                "NSArguments": writer.array(try (expression.arguments ?? []).map { try reference(to: $0) }),
            ]
        }
    }

    private func constant(_ value: Any?, in expression: NSExpression) throws -> PropertyListValue {
        guard let value, !(value is NSNull) else { return ObjectArchiveWriter.null }
        guard let reference = writer.plainValue(value) else { throw notArchivable(expression) }
        return reference
    }

    private func object(
        _ className: String, _ type: Int64, _ entries: @escaping () throws -> ObjectArchiveWriter.Entries
    ) -> PropertyListValue {
        writer.object([className, "NSExpression"]) {
            try entries().merging(["NSExpressionType": .integer(type)]) { first, _ in first }
        }
    }

    func reference(to descriptor: NSSortDescriptor) throws -> PropertyListValue {
        let selector = descriptor.selector.map { NSStringFromSelector($0) } ?? "compare:"
        return writer.object(["NSSortDescriptor"]) {
            [
                "NSKey": writer.text(descriptor.key), "NSAscending": .boolean(descriptor.ascending),
                "NSSelector": writer.text(selector), "NSReverseNullOrder": .boolean(false),
            ]
        }
    }

    private func notArchivable(_ part: Any) -> ModelReadingError {
        ModelReadingError(
            .inconsistent, "'\(part)' cannot be archived with the model.",
            advice: "Use a predicate made of comparisons, key paths, functions and plain values.")
    }
}
