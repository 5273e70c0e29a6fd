import Foundation

/// Sorts rows by sort descriptors. Each value is read once, before the comparisons.
struct MemorySort {
    private let descriptors: [NSSortDescriptor]
    private let tables: MemoryTables
    private let store: NSPersistentStore
    /// The values that some keys name in place of properties.
    private let computed: [String: (Snapshot) -> Any?]

    init(
        _ descriptors: [NSSortDescriptor], tables: MemoryTables, store: NSPersistentStore,
        computed: [String: (Snapshot) -> Any?] = [:]
    ) {
        self.descriptors = descriptors
        self.tables = tables
        self.store = store
        self.computed = computed
    }

    /// The values of one criterion, by position of the row. nil comes before every value.
    private enum Column {
        case integers([Int64?], ascending: Bool)
        case doubles([Double?], ascending: Bool)
        case values([Any?], NSSortDescriptor)
        case views([RowView], NSSortDescriptor)

        func order(_ first: Int, _ second: Int) -> ComparisonResult {
            switch self {
            case .integers(let values, let ascending):
                return Self.order(values[first], values[second], ascending: ascending)
            case .doubles(let values, let ascending):
                return Self.order(values[first], values[second], ascending: ascending)
            case .values(let values, let descriptor):
                let result: ComparisonResult
                switch (values[first], values[second]) {
                case (nil, nil): return .orderedSame
                case (nil, _): result = .orderedAscending
                case (_, nil): result = .orderedDescending
                case (let first?, let second?): result = descriptor.comparator(first, second)
                }
                return descriptor.ascending ? result : Self.reversed(result)
            case .views(let views, let descriptor):
                return descriptor.compare(views[first], to: views[second])
            }
        }

        private static func order<Value: Comparable>(
            _ first: Value?, _ second: Value?, ascending: Bool
        ) -> ComparisonResult {
            let result: ComparisonResult
            switch (first, second) {
            case (nil, nil): return .orderedSame
            case (nil, _): result = .orderedAscending
            case (_, nil): result = .orderedDescending
            case (let first?, let second?):
                if first == second { return .orderedSame }
                result = first < second ? .orderedAscending : .orderedDescending
            }
            return ascending ? result : reversed(result)
        }

        private static func reversed(_ result: ComparisonResult) -> ComparisonResult {
            switch result {
            case .orderedAscending: .orderedDescending
            case .orderedDescending: .orderedAscending
            case .orderedSame: .orderedSame
            }
        }
    }

    /// Returns the rows in order. Rows that compare equal by all criteria keep their order.
    func sorted(_ rows: [Snapshot]) -> [Snapshot] {
        guard !descriptors.isEmpty, rows.count > 1 else { return rows }
        let columns = descriptors.map { column(for: $0, of: rows) }
        let order = rows.indices.sorted { first, second in
            for column in columns {
                switch column.order(first, second) {
                case .orderedAscending: return true
                case .orderedDescending: return false
                case .orderedSame: continue
                }
            }
            return first < second
        }
        return order.map { rows[$0] }
    }

    private func column(for descriptor: NSSortDescriptor, of rows: [Snapshot]) -> Column {
        if let value = descriptor.key.flatMap({ computed[$0] }) { return .values(rows.map(value), descriptor) }
        let isPlain = type(of: descriptor) == NSSortDescriptor.self
        if isPlain, descriptor.selector == nil {
            // The comparator closure receives the values that objects would return.
            let expression =
                descriptor.key.map { NSExpression(forKeyPath: $0) } ?? NSExpression.expressionForEvaluatedObject()
            return .values(
                rows.map { row in
                    let view = RowView(row: row, tables: tables, store: store)
                    return RowView.published(expression.expressionValue(with: view, context: nil))
                }, descriptor)
        }
        if isPlain, descriptor.selector == .compare, let key = descriptor.key,
            ["objectID", "self", "SELF"].contains(key)
        {
            return .integers(rows.map(\.key), ascending: descriptor.ascending)
        }
        guard isPlain, let key = descriptor.key, !key.contains(".") || rows.first?.layout.slotByPath[key] != nil else {
            return .views(rows.map { RowView(row: $0, tables: tables, store: store) }, descriptor)
        }
        // Entities of one hierarchy agree on the types of the properties they share.
        let kind = rows.first.flatMap { row in row.layout.slotByPath[key].map { row.layout.slots[$0].kind } }
        if let kind, descriptor.selector == .compare {
            if kind.isInteger {
                return .integers(words(key, rows) { Int64(bitPattern: $0) }, ascending: descriptor.ascending)
            }
            if kind.isFloatingPoint {
                return .doubles(words(key, rows) { Double(bitPattern: $0) }, ascending: descriptor.ascending)
            }
        }
        guard let first = rows.first else { return .values([], descriptor) }
        let view = RowView(row: first, tables: tables, store: store)
        return .values(
            rows.map { row in
                view.show(row)
                return view.value(forKey: key)
            }, descriptor)
    }

    private func words<Value>(_ key: String, _ rows: [Snapshot], _ convert: (UInt64) -> Value) -> [Value?] {
        rows.map { row in
            guard let slot = row.layout.slotByPath[key], slot < row.layout.storedCount, !row.isNull(slot) else {
                return nil
            }
            return convert(row.row[slot])
        }
    }
}
