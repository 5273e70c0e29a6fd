import Foundation

/// Checks before evaluation, as a SQL store does, that a fetch names only stored properties.
///
/// In memory an unknown or transient key would just read as nil. Variables must have values. Block
/// predicates are refused, as they cannot evaluate rows.
struct MemoryKeys {
    let layouts: ModelLayout
    /// The component that would evaluate the request, as error messages name it.
    let judge: String
    /// The columns of the result, which a condition on groups may refer to.
    private var columns: Set<String> = []

    init(layouts: ModelLayout, judge: String = "store in memory") {
        self.layouts = layouts
        self.judge = judge
    }

    /// - Throws: code 134060 with the part of the request at fault.
    func check(_ plan: StoreFetch) throws {
        if let predicate = plan.predicate { try check(predicate, of: plan.entity, [:]) }
        let columns = plan.columns?.properties ?? []
        let names = Set(columns.compactMap { ($0 as? NSPropertyDescription)?.name ?? $0 as? String })
        for descriptor in plan.sortDescriptors {
            guard let key = descriptor.key, !names.contains(key) else { continue }
            try check(key, of: plan.entity, "sorting by \(key)")
            try checkOrder(of: key, plan.entity)
        }
        for column in columns + (plan.columns?.groupBy ?? []) {
            if let description = column as? NSExpressionDescription {
                guard let expression = description.expression else {
                    throw CoreDataErrors.unanswerable(
                        description.name, by: judge, "the expression description has no expression")
                }
                try check(expression, of: plan.entity, [:], .words("\(expression)"))
            } else if let name = (column as? NSPropertyDescription)?.name ?? column as? String {
                try check(name, of: plan.entity, .words(name))
            }
        }
        guard let having = plan.columns?.having else { return }
        var inGroups = self
        inGroups.columns = names.union((plan.columns?.groupBy ?? []).compactMap(StoreFetch.DictionaryColumns.name))
        try inGroups.check(having, of: plan.entity, [:])
    }

    /// - Parameter variables: the entities of the variables of the enclosing subqueries.
    private func check(_ predicate: NSPredicate, of entity: EntityLayout, _ variables: [String: EntityLayout?]) throws {
        switch predicate {
        case let compound as NSCompoundPredicate:
            for case let part as NSPredicate in compound.subpredicates { try check(part, of: entity, variables) }
        case let comparison as NSComparisonPredicate:
            let context = RequestPart.predicate(comparison)
            try check(comparison.leftExpression, of: entity, variables, context)
            try check(comparison.rightExpression, of: entity, variables, context)
        default:
            if ["TRUEPREDICATE", "FALSEPREDICATE"].contains(predicate.predicateFormat) { return }
            throw noBlock(.predicate(predicate))
        }
    }

    private func check(
        _ expression: NSExpression, of entity: EntityLayout, _ variables: [String: EntityLayout?],
        _ context: RequestPart
    ) throws {
        switch expression.expressionType {
        case .keyPath, .variable: _ = try destination(of: expression, entity, variables, context)
        case .function:
            let arguments = expression.arguments ?? []
            for argument in arguments { try check(argument, of: entity, variables, context) }
            if ["median:", "mode:", "stddev:"].contains(expression.function.lowercased()),
                expression.methodTarget == nil
            {
                throw CoreDataErrors.unanswerable(
                    context.text, by: judge,
                    "the function '\(expression.function)' is one of values, which no store computes")
            }
            try checkMethod(expression, arguments, of: entity, variables, context)
        case .aggregate:
            for element in expression.collection as? [NSExpression] ?? [] {
                try check(element, of: entity, variables, context)
            }
        case .conditional:
            try check(expression.predicate, of: entity, variables)
            try check(expression.true, of: entity, variables, context)
            try check(expression.false, of: entity, variables, context)
        case .unionSet, .intersectSet, .minusSet:
            try check(expression.left, of: entity, variables, context)
            try check(expression.right, of: entity, variables, context)
        case .subquery:
            guard let collection = expression.collection as? NSExpression else { return }
            let element = try destination(of: collection, entity, variables, context)
            try check(
                expression.predicate, of: entity,
                variables.merging([expression.variable: element]) { _, inner in inner })
        case .block: throw noBlock(context)
        default: break
        }
    }

    /// The error for a block or custom predicate: it would receive a row, which is no object.
    private func noBlock(_ context: RequestPart) -> NSError {
        CoreDataErrors.unanswerable(
            context.text, by: judge, "blocks and custom classes of predicates are not asked for rows",
            advice: "Filter the results of the fetch.")
    }

    /// Checks a method call that reads a key of an object: `FUNCTION(author, "name")`,
    /// `SELF["title"]`.
    private func checkMethod(
        _ function: NSExpression, _ arguments: [NSExpression], of entity: EntityLayout,
        _ variables: [String: EntityLayout?],
        _ context: RequestPart
    ) throws {
        if function.function == "objectFrom:withIndex:", let object = arguments.first {
            guard let owner = try destination(of: object, entity, variables, context),
                let key = arguments.last?.constantText
            else {
                return
            }
            try check(key, of: owner, context)
        } else if let target = function.methodTarget,
            let owner = try destination(of: target, entity, variables, context)
        {
            let readsKey = ["valueForKey:", "valueForKeyPath:", "objectForKey:"].contains(function.function)
            guard let key = arguments.isEmpty ? function.function : readsKey ? arguments[0].constantText : nil else {
                return
            }
            try check(key, of: owner, context)
        }
    }

    /// The entity of the objects that an expression returns; nil for values and for unknown types.
    private func destination(
        of expression: NSExpression, _ entity: EntityLayout, _ variables: [String: EntityLayout?],
        _ context: RequestPart
    ) throws -> EntityLayout? {
        switch expression.expressionType {
        case .evaluatedObject: return entity
        case .variable:
            guard let entity = variables[expression.variable] else {
                if columns.contains(expression.variable) { return nil }
                throw CoreDataErrors.unanswerable(
                    context.text, by: judge, "the variable $\(expression.variable) has no value",
                    advice: "Give it one with withSubstitutionVariables(_:).")
            }
            return entity
        case .keyPath:
            if let path = expression.keyPathFromEvaluatedObject, columns.contains(path) { return nil }
            let operand = expression.operand
            if operand === expression { return try check(expression.keyPath, of: entity, context) }
            guard let start = try destination(of: operand, entity, variables, context) else { return nil }
            return try check(expression.keyPath, of: start, context)
        default:
            try check(expression, of: entity, variables, context)
            return nil
        }
    }

    /// Refuses key paths without an order: to-many relationships and transformable attributes.
    private func checkOrder(of keyPath: String, _ entity: EntityLayout) throws {
        var entity = entity
        let names = keyPath.pathNames
        for (index, name) in names.enumerated() {
            guard let slot = entity.familyProperty(name)?.slot else { continue }
            // An aggregate of several objects, such as `@count`, may have an order.
            let isCounted = names.dropFirst(index + 1).first?.hasPrefix("@") ?? false
            let problem =
                slot.kind.isToMany && !isCounted
                ? "'\(name)' leads to several objects"
                : slot.kind == .transformable ? "transformable values have no order" : nil
            if let problem {
                throw CoreDataErrors.unanswerable(
                    "sorting by \(keyPath)", by: judge, problem, advice: "Sort the result in the program.")
            }
            guard slot.destinationIndex >= 0, !isCounted else { return }
            entity = layouts.layouts[slot.destinationIndex]
        }
    }

    /// Checks each step of a key path.
    ///
    /// - Returns: the entity at the end of the path, nil for an attribute.
    @discardableResult
    private func check(_ keyPath: String, of entity: EntityLayout, _ context: RequestPart) throws -> EntityLayout? {
        var entity = entity
        let names = keyPath.pathNames
        // Also after an attribute, where the rest of a path is not checked.
        if names.contains("") {
            throw CoreDataErrors.unanswerable(context.text, by: judge, "the key path '\(keyPath)' has an empty key")
        }
        for (index, name) in names.enumerated() {
            if name.hasPrefix("@") || ["self", "SELF", "objectID"].contains(name) { continue }
            if name == "entity", entity.slotByName[name] == nil { return nil }
            guard let (owner, slot) = entity.familyProperty(name) else {
                throw CoreDataErrors.unanswerable(
                    context.text, by: judge, "the entity '\(entity.name)' has no property '\(name)'")
            }
            if slot.isTransient || slot.kind == .fetched {
                throw CoreDataErrors.unanswerable(
                    context.text, by: judge,
                    "'\(name)' of entity '\(entity.name)' is "
                        + "\(slot.isTransient ? "transient" : "a fetched property"), so a store knows nothing of it"
                )
            }
            if slot.composite != nil { return try checkElement(at: Array(names[index...]), of: owner, context) }
            // Keys within an attribute's value are not checked.
            guard slot.destinationIndex >= 0 else { return nil }
            entity = layouts.layouts[slot.destinationIndex]
        }
        return entity
    }

    /// Checks a key path that starts at a composite attribute.
    private func checkElement(at path: [String], of owner: EntityLayout, _ context: RequestPart) throws -> EntityLayout?
    {
        if path.contains(where: { $0.hasPrefix("@") }) { return nil }
        if owner.composite(at: path) != nil || owner.slotByPath[path.joined(separator: ".")] != nil { return nil }
        // `city.length` is the length of a text, `number.stringValue` the text of a number.
        if let name = path.last, ["length", "stringValue"].contains(name),
            owner.slotByPath[path.dropLast().joined(separator: ".")] != nil
        {
            return nil
        }
        throw CoreDataErrors.unanswerable(
            context.text, by: judge,
            "the composite attribute '\(path[0])' of entity '\(owner.name)' has no element "
                + "'\(path.dropFirst().joined(separator: "."))'"
        )
    }
}

extension NSExpression {
    fileprivate var constantText: String? { expressionType == .constantValue ? constantValue as? String : nil }
}
