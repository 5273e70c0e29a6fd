import Foundation

extension SQLGenerator {
    /// Returns the value at a key path through to-one relationships, or an aggregate over a to-many
    /// one (`pages.@sum.number` and `pages.number.@sum` mean the same).
    func term(path: [String], in scope: SQLScope, _ context: RequestPart) throws -> SQLTerm {
        if let column = resultColumn?(path.joined(separator: ".")) { return column }
        let isAggregate = path.contains { $0.hasPrefix("@") }
        switch try resolve(path, in: scope, context) {
        case .column(let alias, let column, let slot):
            let text = SQLText(self.column(alias, column.name))
            if column.type == .bytes, column.allowsExternalStorage, let bytes = dialect.externalBytes(text) {
                return SQLTerm(text: bytes, kind: slot.kind, slot: slot, stored: text)
            }
            return SQLTerm(
                text: text, kind: column.kind(of: slot), slot: slot, isColumn: true,
                rootIndex: rootIndex(ofDestination: slot),
                rowEntity: rowEntity(ofDestination: slot, column, alias: alias))
        case .composite(let alias, let composite, let entity):
            return SQLTerm(composite: SQLComposite(composite, of: entity, alias: alias, dialect), dialect)
        case .row(let alias, let entity):
            return SQLTerm(
                text: SQLText(key(alias, of: entity)), kind: .toOne, isColumn: true, canBeNull: alias != scope.alias,
                rootIndex: entity.layout.rootIndex,
                rowEntity: rowEntity(of: entity, alias: alias))
        case .entity(let alias, let entity, let isName):
            let canBeNull = alias != scope.alias
            let number = entityNumber(of: entity, alias: alias, canBeNull: canBeNull)
            guard isName else { return SQLTerm(text: SQLText(number), canBeNull: canBeNull, isEntity: true) }
            var text = SQLText("CASE \(number)")
            for index in entity.layout.familyIndexes {
                guard let member = mapping.entities[index] else { continue }
                text.append(" WHEN \(member.number) THEN ")
                text.append(SQLText(value: .string(member.layout.name), kind: .string))
            }
            text.append(" END")
            return SQLTerm(text: dialect.computed(text), kind: .string, canBeNull: canBeNull)
        case .length(let alias, let column):
            let text = SQLTerm(text: SQLText(self.column(alias, column.name)), kind: .string)
            return try calculation("length:", [text], kind: .int64, context)
        case .numberText(let alias, let column, let slot):
            let number = SQLTerm(
                text: SQLText(self.column(alias, column.name)), kind: slot.kind, slot: slot, isColumn: true)
            guard let text = dialect.text(of: number, slot.kind) else {
                throw refuse(context, "'\(slot.name)' has no text")
            }
            return SQLTerm(text: dialect.computed(text), kind: .string)
        case .toMany(let key, _, let slot, let mapping, let rest):
            if isAggregate { return try aggregate(ownerKey: key, mapping, slot: slot, rest: rest, context) }
            throw refuse(
                context,
                "'\(slot.name)' is a to-many relationship within another one, or stands where one value is needed; "
                    + "use SUBQUERY, ANY or @count")
        }
    }

    /// Returns the entity number of a row.
    ///
    /// - Parameter canBeNull: whether the row may be missing and then has no entity.
    func entityNumber(of entity: SQLEntity, alias: String, canBeNull: Bool = false) -> String {
        if let name = entity.table.entityColumn { return column(alias, name) }
        return canBeNull
            ? "(CASE WHEN \(key(alias, of: entity)) IS NOT NULL THEN \(entity.number) END)" : String(entity.number)
    }

    private func rootIndex(ofDestination slot: PropertySlot) -> Int? {
        slot.kind == .toOne && slot.destinationIndex >= 0
            ? mapping.layouts.layouts[slot.destinationIndex].rootIndex : nil
    }

    private func rowEntity(of entity: SQLEntity, alias: String) -> SQLRowEntity {
        entity.table.entityColumn.map { .number(SQLText(column(alias, $0))) } ?? .one(entity.layout.index)
    }

    /// Returns the entity of the row that a to-one relationship refers to; nil for an attribute.
    private func rowEntity(ofDestination slot: PropertySlot, _ column: SQLColumn, alias: String) -> SQLRowEntity? {
        guard slot.kind == .toOne, slot.destinationIndex >= 0 else { return nil }
        return column.entityColumn.map { .number(SQLText(self.column(alias, $0))) } ?? .one(slot.destinationIndex)
    }

    /// Returns the entity number of the row that a term represents; NULL where the store does not
    /// know the entity.
    private func entityNumber(_ term: SQLTerm) -> SQLText {
        switch term.rowEntity {
        case .one(let index)?: SQLText(mapping.entities[index].map { String($0.number) } ?? "NULL")
        case .number(let text)?: text
        case nil: SQLText("NULL")
        }
    }

    private func row(_ scope: SQLScope) -> SQLTerm {
        SQLTerm(
            text: SQLText(key(scope)), kind: .toOne, isColumn: true, canBeNull: false,
            rootIndex: scope.entity.layout.rootIndex, rowEntity: rowEntity(of: scope.entity, alias: scope.alias))
    }

    /// Returns an expression as a value.
    ///
    /// - Parameter other: the term that it is compared with, which decides how a constant is bound.
    func term(
        _ expression: NSExpression, in environment: SQLEnvironment, like other: SQLTerm?, _ context: RequestPart
    ) throws -> SQLTerm {
        switch expression.expressionType {
        case .constantValue: return try constantTerm(expression, like: other, context)
        case .evaluatedObject: return row(environment.scope)
        case .variable:
            guard let scope = environment.variables[expression.variable] else {
                // A condition on groups may name a result column as a variable.
                if let column = resultColumn?(expression.variable) { return column }
                throw refuse(context, "the variable $\(expression.variable) has no value")
            }
            return row(scope)
        case .keyPath:
            if expression.operand.expressionType == .subquery, expression.operand !== expression {
                guard expression.keyPath == "@count" else {
                    throw refuse(context, "only @count can be taken of a subquery")
                }
                let rows = try subqueryRows(expression.operand, in: environment)
                return SQLTerm(text: "(SELECT COUNT(*)" + rows.text + ")", kind: .int64, canBeNull: false)
            }
            let (scope, path) = try scopeAndPath(of: expression, in: environment)
            return try term(path: path, in: scope, context)
        case .function: return try function(expression, in: environment, like: other, context)
        case .conditional: return try choice(expression, in: environment, like: other, context)
        case .fetchRequest:
            guard let value = expression.expressionValue(with: nil, context: nil), SQLList.elements(of: value) == nil
            else {
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

    /// Returns the first of two values where a condition holds, otherwise the second one.
    private func choice(
        _ expression: NSExpression, in environment: SQLEnvironment, like other: SQLTerm?, _ context: RequestPart
    ) throws -> SQLTerm {
        let test = try condition(expression.predicate, in: environment)
        func branch(_ branch: NSExpression, beside neighbour: SQLTerm?) throws -> SQLTerm {
            // A dictionary becomes a composite value like the other side of the comparison, or like
            // the other branch.
            let composite = (other?.composite ?? neighbour?.composite)?.computed
            return try term(
                branch, in: environment, like: composite.map { SQLTerm(composite: $0, dialect) } ?? other, context)
        }
        if isConstant(expression.true) {
            let second = try branch(expression.false, beside: nil)
            return try choice(test, branch(expression.true, beside: second), second, context)
        }
        let first = try branch(expression.true, beside: nil)
        return try choice(test, first, branch(expression.false, beside: first), context)
    }

    private func choice(_ test: SQLText, _ first: SQLTerm, _ second: SQLTerm, _ context: RequestPart) throws -> SQLTerm
    {
        if first.composite != nil || second.composite != nil {
            return try compositeChoice(test, first, second, context)
        }
        if first.isNull && second.isNull && dialect.hasStaticTypes { return first }
        let kind = try commonKind(first, second, context)
        func choice(_ first: SQLText, _ second: SQLText) -> SQLText {
            "CASE WHEN " + test + " THEN " + first + " ELSE " + second + " END"
        }
        func value(_ term: SQLTerm) -> SQLText {
            kind.flatMap { term.isNull || $0 == term.kind ? nil : dialect.value(term, as: $0) } ?? term.text
        }
        let text = choice(value(first), value(second))
        return SQLTerm(
            text: kind == .string || kind == .uri ? dialect.computed(text) : text, kind: kind,
            canBeNull: first.canBeNull || second.canBeNull, exact: dialect.exact(first, second, kind).map(choice),
            mayOverflow: first.mayOverflow || second.mayOverflow,
            rootIndex: first.rootIndex == second.rootIndex || second.isNull ? first.rootIndex : nil,
            rowEntity: kind == .toOne ? .number(choice(entityNumber(first), entityNumber(second))) : nil)
    }

    /// Returns the choice of two composite values, element by element.
    private func compositeChoice(
        _ test: SQLText, _ first: SQLTerm, _ second: SQLTerm, _ context: RequestPart
    ) throws -> SQLTerm {
        func elements(_ term: SQLTerm, like other: SQLTerm) -> SQLComposite? {
            if !term.isNull { return term.composite }
            return other.composite.map { SQLComposite(layout: $0.layout, elements: $0.elements.map { _ in term }) }
        }
        guard let mine = elements(first, like: second), let theirs = elements(second, like: first),
            mine.layout.hasSameElements(as: theirs.layout)
        else {
            throw refuse(context, "a composite attribute stands where one value is needed; name one of its elements")
        }
        let elements = try zip(mine.elements, theirs.elements).map { try choice(test, $0, $1, context) }
        return SQLTerm(composite: SQLComposite(layout: mine.layout, elements: elements), dialect)
    }

    /// Returns the kind of a value that is one of two.
    private func commonKind(_ first: SQLTerm, _ second: SQLTerm, _ context: RequestPart) throws -> ValueKind? {
        if first.isNull { return second.kind }
        if second.isNull || first.kind == second.kind { return first.kind }
        guard let kinds = first.kind.flatMap({ one in second.kind.map { (one, $0) } }) else { return nil }
        switch kinds {
        case (.string, .uri), (.uri, .string): return .string
        case (let one, let other) where one.isInteger && other.isInteger: return .int64
        case (let one, let other) where one.isNumber && other.isNumber && one != .decimal && other != .decimal:
            return .double
        case (let one, let other) where one.isNumber && other.isNumber: return .decimal
        default: throw refuse(context, "the two values of a condition are of different kinds")
        }
    }

    // MARK: Constants

    func constantTerm(_ expression: NSExpression, like other: SQLTerm?, _ context: RequestPart) throws -> SQLTerm {
        if let composite = other?.composite, let value = PropertyConversion.unwrapped(expression.constantValue),
            !(value is NSNull)
        {
            return try compositeConstant(value, like: composite, context)
        }
        let (value, kind) = try constant(expression.constantValue, like: other, context)
        let constant = SQLConstant(expression, like: other, kind: kind)
        let argument = SQLArgument(value, kind: kind, role: .constant(constant, .value))
        let text = dialect.text(ofConstant: argument)
        // A value that is not a number has a kind and may be bound as nil.
        let isNull = value.isNull && kind == nil
        return SQLTerm(
            text: isOfManyConstants ? dialect.singleConstant(text) : text, kind: kind, constant: argument,
            isNull: isNull, canBeNull: isNull, exact: isUnlikeDoubles(value, other) ? text : nil,
            rowEntity: (expression.constantValue as? any RowIdentity)?.rowReference(in: store).map {
                .one($0.layoutIndex)
            },
            isEntity: expression.constantValue is NSEntityDescription)
    }

    /// Returns a constant in the form of the column that it is compared with, and its kind in that
    /// form.
    func constant(_ value: Any?, like other: SQLTerm?, _ context: RequestPart) throws -> (StoredValue, ValueKind?) {
        let (plain, kind) = try plainConstant(value, like: other, context)
        if plain.isNull || plain.isNotANumber { return (.null, kind) }
        return try said(context) { () throws(SQLRefusal) in try dialect.constant(plain, kind, like: other) }
    }

    private func plainConstant(_ value: Any?, like other: SQLTerm?, _ context: RequestPart) throws -> (
        StoredValue, ValueKind?
    ) {
        guard let value = PropertyConversion.present(value) else { return (.null, nil) }
        if let identity = value as? any RowIdentity {
            let reference = identity.rowReference(in: store)
            // An object that this store does not know, and one of another kind, equals no row.
            if let reference, let root = other?.rootIndex,
                mapping.layouts.layouts[reference.layoutIndex].rootIndex != root
            {
                return (.integer(-1), .toOne)
            }
            return (.integer(reference?.key ?? -1), .toOne)
        }
        if other?.kind == .transformable {
            if let attribute = other?.slot?.attribute {
                return (
                    try Transformation.data(from: value, attribute: attribute).map(StoredValue.data) ?? .null,
                    other?.kind
                )
            }
        }
        if let entity = value as? NSEntityDescription { return (.integer(number(of: entity)), nil) }
        switch value {
        case let string as String: return text(string, like: other)
        case let string as Substring: return text(String(string), like: other)
        case let character as Character: return text(String(character), like: other)
        case let date as Date: return (.double(date.timeIntervalSinceReferenceDate), .date)
        case let uuid as UUID: return (.uuid(uuid), .uuid)
        case let data as Data: return (.data(data), .data)
        case let url as URL: return (.string(url.absoluteString), .uri)
        case let bool as Bool where type(of: value) == Bool.self: return (.integer(bool ? 1 : 0), .boolean)
        case let decimal as Decimal: return number(decimal, like: other)
        case let decimal as NSDecimalNumber: return number(decimal.decimalValue, like: other)
        case let integer as any BinaryInteger:
            return Int64(exactly: integer).map { (.integer($0), .int64) } ?? (.double(Double(integer)), .double)
        case let double as Double where type(of: value) == Double.self: return (.double(double), .double)
        case let float as Float where type(of: value) == Float.self: return (.double(Double(float)), .double)
        case let number as NSNumber:
            switch UInt8(bitPattern: number.objCType.pointee) {
            case UInt8(ascii: "d"), UInt8(ascii: "f"): return (.double(number.doubleValue), .double)
            case UInt8(ascii: "Q"):
                return Int64(exactly: number.uint64Value).map { (.integer($0), .int64) } ?? (
                    .double(number.doubleValue), .double
                )
            default: return (.integer(number.int64Value), .int64)
            }
        case let boxed as any RawRepresentable: return try plainConstant(boxed.rawValue, like: other, context)
        default:
            throw refuse(context, "a value of type \(type(of: value)) cannot be compared in SQL")
        }
    }

    /// Returns the number of an entity's rows; for an entity of another model, a number that no row
    /// has.
    private func number(of entity: NSEntityDescription) -> Int64 {
        let layout =
            mapping.layouts.layouts.first { $0.entity === entity }
            ?? mapping.layouts.layouts.first { $0.name == entity.name }
        return layout.flatMap { mapping.entities[$0.index]?.number }.map(Int64.init) ?? -1
    }

    /// Returns a text, or the UUID or number that it reads as if it is compared with one.
    private func text(_ string: String, like other: SQLTerm?) -> (StoredValue, ValueKind) {
        switch other?.valueClass {
        case .id:
            if let uuid = UUID(uuidString: string) { return (.uuid(uuid), .uuid) }
        case .number:
            switch ComparableValue.number(in: string) {
            case .integer(let integer): return (.integer(integer), .int64)
            case .double(let double): return (.double(double), .double)
            default: break
            }
        default: break
        }
        return (.string(string), .string)
    }

    /// Returns a decimal in the form in which it is bound, and its kind in that form.
    private func number(_ decimal: Decimal, like other: SQLTerm?) -> (StoredValue, ValueKind) {
        if takesDecimals(other) { return (.decimal(decimal), .decimal) }
        let text = "\(decimal)"
        let isBesideInteger = other?.kind?.isInteger == true
        if let integer = Int64(text) { return (.integer(integer), isBesideInteger ? .int64 : .decimal) }
        let double = Double(text) ?? .nan
        guard isBesideInteger else { return (.double(double), .decimal) }
        // A nearest double that is whole is another number: the decimal has a fraction or exceeds 64
        // bits. Any other double lies between the same two integers as the decimal.
        return double == double.rounded() ? (.decimal(decimal), .decimal) : (.double(double), .double)
    }

    /// Whether a constant beside a term is bound with all digits of a decimal.
    private func takesDecimals(_ other: SQLTerm?) -> Bool {
        dialect.bindsDecimals || other?.kind == .decimal && other?.isColumn == true
    }

    /// Whether a constant is a decimal that integers cannot be compared with as a double.
    private func isUnlikeDoubles(_ value: StoredValue, _ other: SQLTerm?) -> Bool {
        guard case .decimal = value else { return false }
        return !takesDecimals(other)
    }

    // MARK: Sorting

    /// Returns ` ORDER BY …`, or an empty text if there are no descriptors.
    func order(_ descriptors: [NSSortDescriptor], in scope: SQLScope) throws -> SQLText {
        if descriptors.isEmpty { return SQLText("") }
        let terms = try descriptors.map { descriptor -> SQLText in
            let context = "\(descriptor.key ?? "SELF") \(descriptor.ascending ? "ascending" : "descending")"
            guard let key = descriptor.key else { throw refuse(context, "a sort descriptor without a key has no SQL") }
            let path = key.pathNames
            let term = try self.term(path: path, in: scope, "sorting by \(key)")
            if term.kind == .transformable || term.kind == .composite {
                throw refuse(
                    "sorting by \(key)",
                    term.kind == .composite
                        ? "a composite attribute has no order; sort by its elements"
                        : "transformable values have no order in SQL")
            }
            let collation = try self.collation(descriptor)
            let isText = term.kind == .string || term.kind == .uri
            if isText, let refusal = collation.flatMap(dialect.refusal) { throw refuse("sorting by \(key)", refusal) }
            let plain = collation == nil ? dialect.ordered(term) : term.text
            return dialect.order(plain, isText ? collation : nil, ascending: descriptor.ascending)
        }
        return " ORDER BY " + SQLText.joined(terms, by: ", ")
    }

    private func collation(_ descriptor: NSSortDescriptor) throws -> SQLCollation? {
        guard let name = descriptor.selector?.name else {
            throw refuse(
                "sorting by \(descriptor.key ?? "SELF")",
                "unsupported NSSortDescriptor: a comparator closure has no SQL")
        }
        if name == "compare:" { return nil }
        if let collation = SQLCollation(selector: name) { return collation }
        throw refuse(
            "sorting by \(descriptor.key ?? "SELF")",
            "the selector '\(name)' has no SQL; compare:, caseInsensitiveCompare:, localizedCompare:, "
                + "localizedCaseInsensitiveCompare: and localizedStandardCompare: have")
    }
}
