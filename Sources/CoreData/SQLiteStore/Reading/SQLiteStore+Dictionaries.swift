// Dictionary results: selected properties and computed columns, with grouping.
extension SQLiteStore {
    func fetchDictionaries(_ plan: StoreFetch, _ backend: SQLiteBackend) throws -> [[String: Any]] {
        let statement = try DictionaryStatement(plan, SQLGenerator(mapping: backend.mapping, store: self))
        let query = statement.text.statement(backend.mapping.dialect)
        func objectID(_ reference: RowReference) -> Any {
            makeObjectID?(reference)
                ?? NSManagedObjectID(
                    key: reference.key, layout: backend.mapping.layouts.layouts[reference.layoutIndex], store: self)
        }
        return try backend.pool.read { connection in
            var results: [[String: Any]] = []
            try connection.query(query.sql, query.values) {
                results.append(try statement.dictionary(of: $0, objectID: objectID))
            }
            return results
        }
    }
}
