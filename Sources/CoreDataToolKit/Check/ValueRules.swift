import CoreData

/// The rules for values of attributes: their types, limits, uniqueness, and whether they must be
/// there.
struct ValueRules {
    let store: CheckedStore

    func rules(of table: StoreInspection.EntityTable) throws -> [RowRule] {
        try types(table) + limits(table) + required(table) + unique(table)
    }

    // MARK: Types

    private func types(_ table: StoreInspection.EntityTable) throws -> [RowRule] {
        let present = Set(store.cells(of: table).map(\.column))
        return try CellChecks(table, entity: nil, file: store.file).checks.compactMap { check in
            guard case .kind(let wanted) = check.fault, present.contains(check.cell.column) else { return nil }
            let conversion = ValueConversion(
                table: table.name, column: check.cell.column, content: check.cell.content, condition: check.condition)
            return RowRule(
                kind: .valueType, table: table.name, entity: check.cell.entity, property: check.cell.property,
                condition: check.condition, fault: "is not \(wanted)",
                mend: try isUseful(conversion)
                    ? Mend("converts the values that lose nothing by it", [.conversion(conversion)]) : nil)
        }
    }

    /// Whether any of the values can be converted.
    private func isUseful(_ conversion: ValueConversion) throws -> Bool {
        struct Found: Error {}
        do {
            try store.reader.forEachRow(conversion.query) { row in
                if conversion.converted(row[1]) != nil { throw Found() }
            }
        } catch is Found {
            return true
        } catch let failure as SQLiteReader.Failure where failure.isOfPages || failure.isEndless {
            return false
        }
        return false
    }

    // MARK: Limits

    private func limits(_ table: StoreInspection.EntityTable) -> [RowRule] {
        store.cells(of: table).flatMap { cell -> [RowRule] in
            guard let attribute = store.property(of: cell) as? NSAttributeDescription,
                !attribute.validationPredicates.isEmpty
            else { return [] }
            let limits = AttributeLimits(of: attribute)
            let column = "t." + SQLiteReader.identifier(cell.column)
            let isOf = isOf(cell, table)
            func rule(_ condition: String, _ fault: String, _ test: ((SQLiteReader.Value) -> Bool)? = nil) -> RowRule {
                RowRule(
                    kind: .valueLimit, table: table.name, entity: cell.entity, property: cell.property,
                    condition: condition + isOf, test: test.map { .init(column: cell.column, isBroken: $0) },
                    fault: fault)
            }
            return ranges(limits, column, rule) + texts(limits, column, rule)
        }
    }

    private typealias Make = (String, String, ((SQLiteReader.Value) -> Bool)?) -> RowRule

    private func ranges(_ limits: AttributeLimits, _ column: String, _ rule: Make) -> [RowRule] {
        let isNumber = "typeof(\(column)) IN ('integer', 'real')"
        return [(limits.least, "<", "below"), (limits.greatest, ">", "above")].compactMap { limit, sign, word in
            guard let limit, let text = Self.literal(limit) else { return nil }
            let shown = (limit as? Date).map { DateText.text(of: $0) } ?? text
            return rule("\(isNumber) AND \(column) \(sign) \(text)", "is \(word) the model's limit \(shown)", nil)
        }
    }

    /// The model counts UTF-16 units; SQL finds the candidates by characters or bytes.
    private func texts(_ limits: AttributeLimits, _ column: String, _ rule: Make) -> [RowRule] {
        let isText = "typeof(\(column)) = 'text'"
        var rules: [RowRule] = []
        if let shortest = limits.shortest {
            rules.append(
                rule("\(isText) AND length(\(column)) < \(shortest)", "is shorter than \(shortest) characters") {
                    $0.text.map { $0.utf16.count < shortest } ?? false
                })
        }
        if let longest = limits.longest {
            rules.append(
                rule(
                    "\(isText) AND length(CAST(\(column) AS BLOB)) > \(longest)",
                    "is longer than \(longest) characters"
                ) { $0.text.map { $0.utf16.count > longest } ?? false })
        }
        if let pattern = limits.pattern, let predicate = Self.matching(pattern) {
            rules.append(
                rule("\(isText)", "does not match the model's pattern \(DisplayWidth.printable(pattern))") {
                    $0.text.map { !predicate.evaluate(with: $0) } ?? false
                })
        }
        return rules
    }

    /// Returns the condition that a text matches a pattern; nil if it is no regular expression.
    private static func matching(_ pattern: String) -> NSPredicate? {
        guard (try? NSRegularExpression(pattern: pattern)) != nil else { return nil }
        return AttributeLimit.pattern(pattern).predicate
    }

    private static func literal(_ limit: Any) -> String? {
        switch limit {
        case let date as Date:
            let seconds = date.timeIntervalSinceReferenceDate
            return seconds.isFinite ? "\(seconds)" : nil
        case let number as NSDecimalNumber: return number.decimalValue.isNaN ? nil : number.stringValue
        case let number as NSNumber: return number.doubleValue.isFinite ? number.stringValue : nil
        default: return nil
        }
    }

    /// Returns the end of a condition for rows that have a property; empty if all rows have it.
    private func isOf(_ cell: StoreInspection.Cell, _ table: StoreInspection.EntityTable) -> String {
        guard let entity = store.entities[cell.entity] else { return "" }
        return store.isOf(store.family(of: entity), in: table).map { " AND \($0)" } ?? ""
    }

    // MARK: Required values

    private func required(_ table: StoreInspection.EntityTable) -> [RowRule] {
        store.cells(of: table).compactMap { cell in
            // An element of a composite attribute may be missing with the whole attribute.
            guard !cell.property.contains("."), let property = store.property(of: cell), !property.isOptional,
                !(property is NSDerivedAttributeDescription), let entity = store.entities[cell.entity],
                (property as? NSRelationshipDescription)?.isToMany != true
            else { return nil }
            let requiring = store.family(of: entity).filter {
                store.entities[$0]?.propertiesByName[property.name]?.isOptional == false
            }
            let isOf = store.isOf(requiring, in: table).map { " AND \($0)" } ?? ""
            let column = SQLiteReader.identifier(cell.column)
            let condition = "t.\(column) IS NULL" + isOf
            return RowRule(
                kind: .requiredValue, table: table.name, entity: cell.entity, property: cell.property,
                condition: condition, fault: "has no value, which the model requires",
                mend: defaultValue(of: property, cell).map { value in
                    Mend(
                        "sets the model's default value",
                        [
                            .statement(
                                "UPDATE \(SQLiteReader.identifier(table.name)) AS t SET \(column) = ? "
                                    + "WHERE \(condition)", [value])
                        ])
                })
        }
    }

    private func defaultValue(of property: NSPropertyDescription, _ cell: StoreInspection.Cell) -> SQLiteReader.Value? {
        let value = (property as? NSAttributeDescription)?.defaultValue
        switch (cell.content, value) {
        case (.text, let text as String): return .text(text)
        case (.text, let url as URL): return .text(url.absoluteString)
        case (.date, let date as Date): return .real(date.timeIntervalSinceReferenceDate)
        case (.uuid, let uuid as UUID): return .blob(withUnsafeBytes(of: uuid.uuid) { Data($0) })
        case (.integer, let number as NSNumber), (.boolean, let number as NSNumber): return .integer(number.int64Value)
        case (.number, let number as NSNumber): return .real(number.doubleValue)
        case (.decimal, let number as NSDecimalNumber): return .text(number.stringValue)
        default: return nil
        }
    }

    // MARK: Uniqueness

    private func unique(_ table: StoreInspection.EntityTable) -> [RowRule] {
        UniqueColumns.all(of: table, in: store).map { unique in
            let columns = unique.columns.map(SQLiteReader.identifier)
            let isOf = store.isOf(unique.entities, in: table).map { " AND \($0)" } ?? ""
            let isWhole = columns.map { "t.\($0) IS NOT NULL" }.joined(separator: " AND ") + isOf
            let list = columns.joined(separator: ", ")
            let name = SQLiteReader.identifier(table.name)
            let row = columns.map { "t.\($0)" }.joined(separator: ", ")
            let shared = "SELECT \(row) FROM \(name) t WHERE \(isWhole) GROUP BY \(list) HAVING count(*) > 1"
            return RowRule(
                kind: .duplicate, table: table.name, condition: "(\(row)) IN (\(shared))\(isOf)",
                fault: "other rows have the same \(unique.names.joined(separator: ", ")), which must be unique in "
                    + unique.entity)
        }
    }
}

/// The columns of a uniqueness constraint.
struct UniqueColumns {
    let entity: String
    /// The entities whose objects must differ.
    let entities: [String]
    let names: [String]
    let columns: [String]

    /// Returns the constraints of a table's entities whose columns the file has.
    static func all(of table: StoreInspection.EntityTable, in store: CheckedStore) -> [UniqueColumns] {
        let cells = store.cells(of: table)
        return table.entities.flatMap { item -> [UniqueColumns] in
            guard let entity = store.entities[item.name] else { return [] }
            let owners = entity.lineage
            return entity.uniquenessConstraintNames.compactMap { names in
                // The column of an inherited property is that of the superentity; a composite
                // attribute stands for all its elements.
                let found = names.map { name in
                    cells.filter {
                        owners.contains($0.entity) && ($0.property == name || $0.property.hasPrefix(name + "."))
                    }.map(\.column)
                }
                guard !found.isEmpty, found.allSatisfy({ !$0.isEmpty }) else { return nil }
                return UniqueColumns(
                    entity: item.name, entities: store.family(of: entity), names: names,
                    columns: Array(found.joined()))
            }
        }
    }
}
