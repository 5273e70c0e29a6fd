import CSQLite
import CoreData
import Foundation

// Batch requests against the statements that one would write by hand, on files of the same schema.

extension Harness {
    private static let batchCount = 200_000

    func batchRequests() throws {
        try batchInsert()
        try upsert()
        try batchUpdate()
        try batchDelete()
    }

    /// A new store, and the same file for the other side.
    private func batchStore() throws -> (url: URL, context: NSManagedObjectContext, raw: RawDatabase) {
        let url = newURL()
        let context = context(try coordinator(url))
        return (url, context, try RawDatabase(url.path))
    }

    private func batchInsert() throws {
        guard wants("B1") else { return }
        struct Row {
            let name: String
            let note: String
            let price: Double
            let count: Int
        }
        let rows = (0..<Self.batchCount).map {
            Row(
                name: "name \($0)", note: "A note about number \($0), longer than a short text", price: Double($0) / 4,
                count: $0)
        }
        let dictionaries = rows.map {
            ["name": $0.name, "note": $0.note, "price": $0.price, "count": $0.count] as [String: Any]
        }
        try compare("B1 batch insert 200,000 x 4 of 6 values", bound: 1.3) {
            let (url, context, _) = try batchStore()
            defer { remove(url) }
            return try Self.time {
                try context.execute(NSBatchInsertRequest(entityName: "Mixed", objects: dictionaries))
            }
        } raw: {
            let (url, _, raw) = try batchStore()
            defer { remove(url) }
            return try Self.time {
                try raw.execute("BEGIN IMMEDIATE")
                let insert = try raw.prepare(
                    "INSERT INTO ZMIXED (Z_PK, Z_ENT, Z_OPT, ZNAME, ZNOTE, ZPRICE, ZCOUNT) VALUES (?, 3, 1, ?, ?, ?, ?)"
                )
                var key: Int64 = 0
                for row in rows {
                    key += 1
                    sqlite3_bind_int64(insert, 1, key)
                    RawDatabase.bind(insert, 2, row.name)
                    RawDatabase.bind(insert, 3, row.note)
                    sqlite3_bind_double(insert, 4, row.price)
                    sqlite3_bind_int64(insert, 5, Int64(row.count))
                    sqlite3_step(insert)
                    sqlite3_reset(insert)
                }
                sqlite3_finalize(insert)
                try raw.execute("COMMIT")
            }
        }
    }

    private func upsert() throws {
        guard wants("B2") else { return }
        let count = Self.batchCount / 2
        func key(_ index: Int) -> String { "key \(index)" }
        let old = stride(from: 0, to: count, by: 2).map { ["key": key($0), "value": 0] as [String: Any] }
        let keys = (0..<count).map(key)
        let dictionaries = keys.enumerated().map { ["key": $1, "value": $0] as [String: Any] }
        func store() throws -> (url: URL, context: NSManagedObjectContext, raw: RawDatabase) {
            let store = try batchStore()
            store.context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            try store.context.execute(NSBatchInsertRequest(entityName: "Keyed", objects: old))
            return store
        }
        try compare("B2 upsert 100,000, half of them new", bound: 1.5) {
            let (url, context, _) = try store()
            defer { remove(url) }
            return try Self.time {
                try context.execute(NSBatchInsertRequest(entityName: "Keyed", objects: dictionaries))
            }
        } raw: {
            let (url, _, raw) = try store()
            defer { remove(url) }
            return try Self.time {
                try raw.execute("BEGIN IMMEDIATE")
                let insert = try raw.prepare(
                    "INSERT INTO ZKEYED (Z_PK, Z_ENT, Z_OPT, ZKEY, ZVALUE) VALUES (?, 5, 1, ?, ?) "
                        + "ON CONFLICT (ZKEY) DO UPDATE SET Z_OPT = Z_OPT + 1, ZVALUE = excluded.ZVALUE")
                var primaryKey = Int64(count)
                for (value, key) in keys.enumerated() {
                    primaryKey += 1
                    sqlite3_bind_int64(insert, 1, primaryKey)
                    RawDatabase.bind(insert, 2, key)
                    sqlite3_bind_int64(insert, 3, Int64(value))
                    sqlite3_step(insert)
                    sqlite3_reset(insert)
                }
                sqlite3_finalize(insert)
                try raw.execute("COMMIT")
            }
        }
    }

    private func fillWide(_ context: NSManagedObjectContext) throws {
        var index = 0
        try context.execute(
            NSBatchInsertRequest(
                entityName: "Wide",
                dictionaryHandler: { values in
                    values["a"] = index
                    values["b"] = index
                    index += 1
                    return index > Self.batchCount
                }))
    }

    private func batchUpdate() throws {
        guard wants("B3") else { return }
        let (_, context, raw) = try batchStore()
        try fillWide(context)
        let request = NSBatchUpdateRequest(entityName: "Wide")
        request.predicate = NSPredicate(format: "b >= 0")
        request.propertiesToUpdate = ["a": NSExpression(format: "a + 1")]
        try compare("B3 batch update 200,000 of 10 integers", bound: 1.2) {
            try Self.time { try context.execute(request) }
        } raw: {
            try Self.time { try raw.execute("UPDATE ZWIDE SET ZA = ZA + 1, Z_OPT = Z_OPT + 1 WHERE ZB >= 0") }
        }
    }

    private func batchDelete() throws {
        guard wants("B4") else { return }
        let (_, context, raw) = try batchStore()
        let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: "Wide")
        fetch.predicate = NSPredicate(format: "b >= 0")
        try compare("B4 batch delete 200,000 of 10 integers", bound: 1.2) {
            try fillWide(context)
            return try Self.time { try context.execute(NSBatchDeleteRequest(fetchRequest: fetch)) }
        } raw: {
            try fillWide(context)
            return try Self.time { try raw.execute("DELETE FROM ZWIDE WHERE ZB >= 0") }
        }
    }
}
