import Foundation

// Additional indexes of texts in other forms than their own, beside each index that a model asks
// for.
extension SQLSchema {
    /// Returns variants of an index: one for each form that is requested for one of its texts, and
    /// one for the parts of each text.
    func textIndexes(like index: SQLIndex, name: String, of entity: SQLEntity) -> [SQLIndex] {
        let indexOptions = index.elements.map { element -> SQLTextIndexOptions? in
            guard let column = entity.columns.lazy.compactMap({ $0 }).first(where: { $0.name == element.column }),
                column.type == .text
            else { return nil }
            return SQLTextIndexOptions(column.property)
        }
        func another(_ suffix: String, _ elements: [SQLIndex.Element]) -> SQLIndex {
            let name = mapping.naming.index("\(name)_\(suffix)", of: entity.layout.name)
            var made = SQLIndex(name: name, table: index.table, elements: elements)
            made.condition = index.condition
            return made
        }
        var made: [SQLIndex] = []
        for folding in NSComparisonPredicate.Options.foldings
        where indexOptions.contains(where: { $0?.foldings.contains(folding) == true }) {
            let elements = zip(index.elements, indexOptions).map { element, indexOptions in
                var element = element
                if indexOptions?.foldings.contains(folding) == true { element.form = .folded(folding) }
                return element
            }
            made.append(another(folding.letters, elements))
        }
        for order in SQLCollation.allCases where indexOptions.contains(where: { $0?.orders.contains(order) == true }) {
            let elements = zip(index.elements, indexOptions).map { element, indexOptions in
                var element = element
                if indexOptions?.orders.contains(order) == true { element.form = .ordered(order) }
                return element
            }
            made.append(another(order.name, elements))
        }
        for (element, indexOptions) in zip(index.elements, indexOptions) {
            guard let indexOptions, indexOptions.findsParts else { continue }
            let place = index.elements.count > 1 ? element.column + "_" : ""
            let foldings = NSComparisonPredicate.Options.foldings.filter(indexOptions.foldings.contains)
            for folding in foldings.isEmpty ? [[]] : foldings {
                let form = folding.isEmpty ? nil : SQLTextForm.folded(folding)
                let suffix = place + (folding.isEmpty ? "" : folding.letters + "_") + "parts"
                var parts = another(suffix, [.init(column: element.column, isAscending: nil, form: form)])
                parts.findsParts = true
                made.append(parts)
            }
        }
        return made
    }

    /// Returns one sentence for each unknown word in the user info of attributes.
    package func unknownIndexOptions() -> [String] {
        mapping.tables.flatMap { table in
            table.columns.filter { $0.type == .text }.flatMap { column in
                SQLTextIndexOptions(column.property).unknown.map { key, word in
                    "The user info '\(key)' of '\(column.propertyName)' of '\(table.root.name)' has '\(word)', which "
                        + "means nothing"
                }
            }
        }
    }
}

extension NSComparisonPredicate.Options {
    fileprivate static let foldings: [Self] = [
        .caseInsensitive, .diacriticInsensitive, [.caseInsensitive, .diacriticInsensitive],
    ]

    /// The options as they are written in a predicate's format.
    fileprivate var letters: String {
        (contains(.caseInsensitive) ? "c" : "") + (contains(.diacriticInsensitive) ? "d" : "")
    }
}
