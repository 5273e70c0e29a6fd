/// Composite attributes: their elements are copied column by column.
extension SQLMigrationPlan {
    /// Returns the former value of an attribute or element.
    ///
    /// - Parameter path: its name or path in the source.
    func formerValue(_ path: String, _ source: SQLEntity) -> SQLRowCopy.Value? {
        let layout = source.layout
        guard let index = layout.slotByPath[path] else { return nil }
        if let column = source.columns[index] { return .column(column.name) }
        let slot = layout.slots[index]
        guard slot.isElement, let archive = source.columns[slot.compositeSlot] else { return nil }
        let names = path.split(separator: ".", maxSplits: 1)
        guard names.count == 2 else { return nil }
        return .sql(dialect.archivedElement(SQLRowCopy.Value.column(archive.name).text(target), path: String(names[1])))
    }

    /// Returns the value of rows for an element of a composite attribute.
    ///
    /// A composite attribute that is nil stays nil, unless it is required now. Then it is made from
    /// the defaults.
    func element(_ slot: PropertySlot, _ column: SQLColumn, _ member: Member) throws -> SQLRowCopy.Value {
        let layout = member.target.layout
        let owner = layout.slots[slot.compositeSlot]
        let elements = (owner.composite?.slots ?? []).map { layout.slots[$0] }
        let formers = elements.compactMap { element in
            member.sourceNames[element.name].flatMap { formerValue($0, member.source) }
        }
        let formerPath = member.sourceNames[slot.name]
        let former = formerPath.flatMap { member.source.layout.slotByPath[$0] }.map { member.source.layout.slots[$0] }
        var value = formerPath.flatMap { formerValue($0, member.source) }
        if let found = value, let former { value = widened(found, former, slot) }
        keepJSON(of: former.flatMap { member.source.columns[$0.index] }, in: column)
        guard let standard = try defaultValue(slot, column, layout) else { return value ?? .null }
        let kind = column.kind(of: slot)
        let argument = SQLText(value: standard, kind: kind)
        if formers.isEmpty {
            let isComplete = elements.allSatisfy { $0.isOptional || !layout.defaultsBySlot[$0.index].isNull }
            return !owner.isOptional || isComplete ? .constant(standard, kind) : .null
        }
        let isNil = dialect.anyValue(of: formers.map { $0.text(target) } + [SQLText("NULL")]) + " IS NULL"
        func choice(_ whenNil: SQLText, _ otherwise: SQLText) -> SQLRowCopy.Value {
            .sql("CASE WHEN " + isNil + " THEN " + whenNil + " ELSE " + otherwise + " END")
        }
        let whenNil = owner.isOptional ? SQLText("NULL") : argument
        guard let value else { return choice(whenNil, argument) }
        let formerOwner = former.flatMap { $0.isElement ? member.source.layout.slots[$0.compositeSlot] : $0 }
        let mayLackElement = !slot.isOptional && former?.isOptional == true
        let mayLackAll = !owner.isOptional && formerOwner?.isOptional == true
        guard mayLackElement || mayLackAll else { return value }
        return choice(
            whenNil, mayLackElement ? dialect.value(value.text(target), orElse: argument) : value.text(target))
    }
}
