import Foundation

/// A fetch request resolved for one store.
package struct StoreFetch {
    package var entity: EntityLayout
    package var includesSubentities = true
    var predicate: NSPredicate?
    var sortDescriptors: [NSSortDescriptor] = []
    package var limit = 0
    var offset = 0
    /// Keys of excluded rows: they are neither returned nor counted, and do not count for limit or
    /// offset.
    var excludedKeys: Set<Int64> = []
    package var shape = Shape.rows
    /// The form of dictionary results; nil for other shapes.
    var columns: DictionaryColumns?
    /// The origin of the fetch, for stores with a class of the program itself; opaque to all
    /// others.
    var origin: AnyObject?

    package enum Shape {
        case rows
        /// Keys and entities only.
        case references
        case count
        case dictionaries
    }

    /// The number of first results that are needed to apply offset and limit; 0 for all.
    var lastNeeded: Int {
        guard limit > 0 else { return 0 }
        let (sum, overflow) = limit.addingReportingOverflow(max(0, offset))
        return overflow ? 0 : sum
    }

    /// The fetch for one of several stores, each of which may have all of the first results.
    var ofOneAmongSeveral: StoreFetch {
        var fetch = self
        fetch.limit = lastNeeded
        fetch.offset = 0
        return fetch
    }

    struct DictionaryColumns {
        /// Attribute, to-one and expression descriptions, or key path strings.
        var properties: [Any]
        var groupBy: [Any] = []
        var having: NSPredicate?
        var isDistinct = false

        /// Whether one result may represent several rows of the entity.
        func joinRows(of entity: EntityLayout) -> Bool {
            isDistinct || !groupBy.isEmpty
                || properties.contains {
                    ($0 as? NSExpressionDescription)?.expression?.holdsRowAggregate(of: entity) == true
                }
        }

        /// Returns the name of a column: that of its description, or its key path.
        static func name(of property: Any) -> String? {
            (property as? NSPropertyDescription)?.name ?? property as? String
        }

        /// Whether rows are grouped by a column, so that all rows of a group have its value.
        func groups(by property: Any) -> Bool {
            let names = groupBy.compactMap(Self.name)
            if let name = Self.name(of: property), names.contains(name) { return true }
            guard let expression = (property as? NSExpressionDescription)?.expression,
                expression.expressionType == .keyPath
            else {
                return false
            }
            return names.contains(expression.keyPath)
        }
    }
}

package enum StoreFetchResult {
    case rows(FetchedRows)
    /// Also the answer to a fetch of rows by a store that reads a row only when its object is used.
    case references(FetchedReferences)
    case count(Int)
    case dictionaries([[String: Any]])
}
