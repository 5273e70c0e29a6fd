import CSQLite
import Foundation

/// Inserts many rows of one entity, or updates existing rows that have the same unique values.
final class SQLiteInsertion {
    /// The columns of one property.
    private struct Target {
        let slot: Int
        let hasEntityColumn: Bool
        let isExternal: Bool
    }

    /// The statement for rows with the same set of given values.
    private final class Form {
        let mask: SlotMask
        let statement: SQLiteStatement
        let returnsKey: Bool

        init(mask: SlotMask, statement: SQLiteStatement, returnsKey: Bool) {
            self.mask = mask
            self.statement = statement
            self.returnsKey = returnsKey
        }
    }

    private let insertion: RowInsertion
    private let batch: SQLiteBatch
    private let entity: SQLEntity
    private let layout: EntityLayout
    private let targets: [Target]
    private let defaults: [StoredValue]
    /// Whether a value may be stored in an external file.
    private let writesFiles: Bool
    /// Whether an updated row may stop using an external file.
    private let replacesFiles: Bool
    private let isConstrained: Bool
    private let constraintColumns: [String]?
    /// Whether such an existing row may belong to a subentity.
    private let changesSubentities: Bool
    /// Whether the keys of updated rows are needed.
    private let wantsKeys: Bool
    private let firstKey: Int64
    private var key: Int64

    init(_ insertion: RowInsertion, _ batch: SQLiteBatch) throws {
        self.insertion = insertion
        self.batch = batch
        let layout = insertion.layout
        let entity = try batch.backend.entity(layout)
        self.layout = layout
        self.entity = entity
        var targets: [Target] = []
        for slot in layout.slots.prefix(layout.storedCount) where !slot.isDerived {
            guard let column = entity.columns[slot.index] else { continue }
            targets.append(
                Target(
                    slot: slot.index, hasEntityColumn: column.entityColumn != nil,
                    isExternal: column.allowsExternalStorage))
        }
        self.targets = targets
        defaults = try layout.storedDefaults()
        constraintColumns = try insertion.constraint.map { names in
            let columns = SQLSchema(mapping: batch.backend.mapping).columnNames(of: names, in: entity)
            guard let columns, batch.statements.constraints(of: entity).contains(columns) else {
                throw CoreDataErrors.noConstraint(on: names, of: layout.name)
            }
            return columns
        }
        isConstrained = !batch.statements.constraints(of: entity).isEmpty
        changesSubentities = batch.statements.changesSubentities(of: entity)
        writesFiles = targets.contains(where: \.isExternal)
        replacesFiles = isConstrained && insertion.changesRows && writesFiles
        wantsKeys = insertion.wantsReferences || batch.tracksHistory
        let root = try batch.entity(layout.rootIndex)
        firstKey =
            try SQLiteStore.takeKeys(0, of: root, batch.connection, isChecked: batch.backend.hasCheckedKeys(of: root))
            + 1
        key = firstKey
    }

    func run() throws -> BatchOutcome {
        let values = RowValues.make(slotCount: layout.slots.count)
        var outcome = BatchOutcome()
        var forms: [Form] = []
        defer { for form in forms { form.statement.clearBindings() } }
        // Reset, as the last inserted row of another table may have the same key.
        sqlite3_set_last_insert_rowid(batch.connection.handle, 0)
        while try insertion.nextRow(values) {
            note(try insert(values, &forms), values.mask, in: &outcome)
            values.removeAll()
        }
        let count = key - firstKey
        let root = try batch.entity(layout.rootIndex)
        if count > 0 { _ = try SQLiteStore.takeKeys(Int(count), of: root, batch.connection, isChecked: true) }
        batch.checkedRoot = root
        return outcome
    }

    // MARK: Statements

    /// Returns the form for rows with a set of given values, which is new at first.
    private func form(for mask: SlotMask, _ forms: inout [Form]) throws -> Form {
        if let last = forms.last, last.mask == mask { return last }
        if let known = forms.first(where: { $0.mask == mask }) { return known }
        let uniqueRow: SaveStatements.UniqueRow =
            switch insertion.rule {
            case _ where !isConstrained: .refuse
            case .refuse: .refuse
            case .keepExisting: .skip
            case .updateGivenValues, .replaceValues:
                .update({ [insertion] in insertion.replaces($0, isGiven: mask.contains($0)) }, by: constraintColumns)
            }
        var returnsKey = false
        if case .update = uniqueRow { returnsKey = wantsKeys }
        let statement = try batch.connection.statement(
            batch.statements.insert(entity, uniqueRow: uniqueRow, returnsKey: returnsKey))
        let form = Form(mask: mask, statement: statement, returnsKey: returnsKey)
        forms.append(form)
        return form
    }

    // MARK: Rows

    /// - Returns: the new or updated row; nil for a skipped row.
    private func insert(_ values: RowValues, _ forms: inout [Form]) throws -> RowReference? {
        if key == Int64.max {
            // There is no next key: throws the same error as a save.
            _ = try SQLiteStore.takeKeys(
                Int(key - firstKey) + 1, of: try batch.entity(layout.rootIndex), batch.connection, isChecked: true)
        }
        let form = try form(for: isConstrained ? values.mask : SlotMask(count: layout.slots.count), &forms)
        let handle = form.statement.handle
        let replaced = replacesFiles ? try filesOfRow(withUniqueValuesOf: values) : []
        let filesBefore = writesFiles ? batch.files?.written.count : nil
        var parameter: Int32 = 1
        sqlite3_bind_int64(handle, parameter, key)
        if entity.table.entityColumn != nil {
            parameter += 1
            sqlite3_bind_int64(handle, parameter, Int64(entity.number))
        }
        parameter += 1
        sqlite3_bind_int64(handle, parameter, 1)
        // Files whose values an existing row would not use.
        var unwanted: [String] = []
        for target in targets {
            parameter += 1
            let count = target.isExternal ? batch.files?.written.count ?? 0 : 0
            try bind(
                values.has(target.slot) ? values[target.slot] : defaults[target.slot], target, form.statement,
                &parameter)
            guard target.isExternal, replacesFiles, let files = batch.files,
                !insertion.replaces(target.slot, isGiven: values.has(target.slot))
            else { continue }
            unwanted += files.written[count...]
        }
        let written = try write(form, values)
        if written == nil, let filesBefore { batch.files?.discard(after: filesBefore) }
        if let written, written.key != key {
            batch.files?.supersede(replaced)
            batch.files?.discard(unwanted)
        }
        if written?.key == key { try insertion.required?.requireAll(in: values) }
        return written
    }

    /// Runs the bound statement.
    ///
    /// - Returns: the new or updated row, with key 0 where the key is not known; nil for a skipped
    ///   row.
    /// - Throws: `UniquenessFailure` where the existing row is of an entity whose rows the
    ///   insertion does not update.
    private func write(_ form: Form, _ values: RowValues) throws -> RowReference? {
        defer { form.statement.reset() }
        var written = RowReference(key: key, layoutIndex: layout.index)
        if form.returnsKey {
            guard try step(form.statement, values) else { return try skip(values) }
            written.key = form.statement.int64(0)
            if changesSubentities, written.key != key,
                let index = batch.backend.mapping.layoutIndex(forNumber: form.statement.int64(1))
            {
                written.layoutIndex = index
            }
            _ = try form.statement.step()
            return written
        }
        _ = try step(form.statement, values)
        if insertion.rule == .refuse || !isConstrained { return written }
        guard batch.connection.changes > 0 else { return try skip(values) }
        // An update does not change the last inserted key.
        if sqlite3_last_insert_rowid(batch.connection.handle) != key { written.key = 0 }
        return written
    }

    /// Skips a row whose unique values another row has, if the insertion's rule allows it.
    private func skip(_ values: RowValues) throws -> RowReference? {
        guard insertion.changesRows else { return nil }
        let family = layout.familyIndexes
        if let failure = try uniquenessFailure(values, where: { $0.map { !family.contains($0.layoutIndex) } ?? true }) {
            throw failure
        }
        return nil
    }

    /// The failure that names the existing row with the unique values of a new one.
    private func uniquenessFailure(
        _ values: RowValues, isOfBatch: (Int64) -> Bool = { _ in false },
        where isMeant: (RowReference?) -> Bool = { _ in true }
    ) throws -> UniquenessFailure? {
        try batch.uniquenessFailure(
            layout, besides: nil, value: { values.has($0) ? values[$0] : $0 < defaults.count ? defaults[$0] : .null },
            isOfBatch: isOfBatch,
            where: isMeant)
    }

    private func step(_ statement: SQLiteStatement, _ values: RowValues) throws -> Bool {
        do {
            try statement.requireBound()
            return try statement.step()
        } catch let error as SQLiteError where error.isUniquenessViolation {
            if let failure = batch.uniquenessFailure(ofSubentityOf: layout, error) { throw failure }
            throw try uniquenessFailure(values, isOfBatch: { $0 >= firstKey }) ?? error
        }
    }

    private func note(_ written: RowReference?, _ given: SlotMask, in outcome: inout BatchOutcome) {
        guard let written else { return }
        if written.key == key {
            outcome.insertedCount += 1
            if insertion.wantsReferences { outcome.inserted.append(RowReference(key: key, layoutIndex: layout.index)) }
            if batch.tracksHistory { batch.history.append(.insert, entityNumber: entity.number, key: key) }
            key += 1
            return
        }
        outcome.updatedCount += 1
        if insertion.wantsReferences { outcome.updated.append(written) }
        if batch.tracksHistory {
            let slots = targets.map(\.slot).filter { insertion.replaces($0, isGiven: given.contains($0)) }
            guard let changed = batch.backend.mapping.entities[written.layoutIndex] else { return }
            let columns = batch.columns(ofHistory: changed)
                .changes(slots.map { changed.layout.slot($0, ofAncestor: layout.index) })
            batch.history.append(.update, entityNumber: changed.number, key: written.key, columns: columns)
        }
    }

    /// The external files of the existing row that has the unique values of a new row.
    private func filesOfRow(withUniqueValuesOf values: RowValues) throws -> [String] {
        guard let existing = try uniquenessFailure(values)?.existing,
            layout.familyIndexes.contains(existing.layoutIndex)
        else { return [] }
        return try batch.externalFileNames(entity, [existing.key]) {
            insertion.replaces($0, isGiven: values.has($0))
        }
    }

    // MARK: Binding

    @inline(__always)
    private func bind(_ value: StoredValue, _ target: Target, _ statement: SQLiteStatement, _ parameter: inout Int32)
        throws
    {
        if target.isExternal, case .data(let data) = value {
            statement.bind(.data(try batch.externalValue(of: data)), at: parameter)
        } else {
            statement.bind(value, at: parameter)
        }
        guard target.hasEntityColumn else { return }
        parameter += 1
        if case .reference(let reference) = value,
            let number = batch.backend.mapping.entities[reference.layoutIndex]?.number
        {
            statement.bind(Int64(number), at: parameter)
        } else {
            statement.bindNull(at: parameter)
        }
    }
}
