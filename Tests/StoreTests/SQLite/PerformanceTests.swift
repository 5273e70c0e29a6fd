import CSQLite
import TestSupport
import Testing

@testable import CoreData

/// What the store costs over the sqlite3 library. Run by hand in release mode with SQLITE_STORE_BENCHMARK=1.
@Suite(.enabled(if: ProcessInfo.processInfo.environment["SQLITE_STORE_BENCHMARK"] != nil), .serialized)
struct PerformanceTests {
    static let rowCount = 200_000

    private func model() -> NSManagedObjectModel {
        let item = NSEntityDescription()
        item.name = "Item"
        let name = TestModel.attribute("name", .stringAttributeType)
        item.properties = (0..<10).map { TestModel.attribute("n\($0)", .integer64AttributeType) } + [name]
        item.indexes = [
            NSFetchIndexDescription(
                name: "byName", elements: [NSFetchIndexElementDescription(property: name, collationType: .binary)])
        ]
        let model = NSManagedObjectModel()
        model.entities = [item]
        return model
    }

    private func milliseconds(_ repetitions: Int = 5, _ body: () throws -> Void) rethrows -> Double {
        var best = Double.infinity
        for _ in 0..<repetitions {
            let start = DispatchTime.now().uptimeNanoseconds
            try body()
            best = min(best, Double(DispatchTime.now().uptimeNanoseconds - start) / 1e6)
        }
        return best
    }

    private func report(_ name: String, _ store: Double, _ raw: Double) {
        print("BENCH \(name): store \(store) ms, sqlite3 \(raw) ms, ratio \(store / raw)")
    }

    @Test func ratiosToTheLibrary() throws {
        let folder = try TemporaryFolder()
        let url = folder.file("items.sqlite")
        let open = try OpenStore(model: model(), url: url)
        let layout = open.layout("Item")
        let count = Self.rowCount

        func batch(_ count: Int) throws -> SaveBatch {
            let batch = SaveBatch()
            let first = try open.store.reserveKeys(count, for: layout)
            for index in 0..<count {
                let values = RowValues.make(slotCount: layout.slots.count)
                for slot in 0..<10 { values[layout.slotByName["n\(slot)"]!] = .integer(Int64(index * slot)) }
                values[layout.slotByName["name"]!] = .string("item \(index % 1000) \(index)")
                batch.inserts.append(RowChange(layout: layout, key: first + Int64(index), base: nil, values: values))
            }
            return batch
        }
        for _ in 0..<4 { _ = try open.store.save(try batch(count / 4)) }
        open.store.rowCaches[layout.rootIndex].removeAll()

        var handle: OpaquePointer?
        sqlite3_open_v2(url.path, &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nil)
        defer { sqlite3_close_v2(handle) }
        sqlite3_exec(handle, "PRAGMA synchronous = NORMAL; PRAGMA cell_size_check = ON", nil, nil, nil)

        var statement: OpaquePointer?
        let columns = "Z_PK, Z_OPT, " + (0..<10).map { "ZN\($0)" }.joined(separator: ", ")
        let rawFetch = milliseconds {
            sqlite3_prepare_v2(handle, "SELECT \(columns), ZNAME FROM ZITEM", -1, &statement, nil)
            var sum: Int64 = 0
            while sqlite3_step(statement) == SQLITE_ROW {
                for column in 0..<12 { sum &+= sqlite3_column_int64(statement, Int32(column)) }
                sum &+= Int64(sqlite3_column_text(statement, 12).pointee) + Int64(sqlite3_column_bytes(statement, 12))
            }
            sqlite3_finalize(statement)
            #expect(sum != 1)
        }
        let fetch = try milliseconds {
            let found = try open.rows("Item").rows.count
            #expect(found == count)
        }
        report("fetch 200,000 rows of 10 integers and a text", fetch, rawFetch)

        let predicate = NSPredicate(format: "name BEGINSWITH %@", "item 77 ")
        let sort = [NSSortDescriptor(key: "name", ascending: true)]
        let prefixed = "SELECT \(columns), ZNAME FROM ZITEM WHERE ZNAME >= ? AND ZNAME < ? ORDER BY ZNAME LIMIT 100"
        let rawPrefix = milliseconds {
            sqlite3_prepare_v2(handle, prefixed, -1, &statement, nil)
            for _ in 0..<1000 {
                sqlite3_bind_text(statement, 1, "item 77 ", -1, nil)
                sqlite3_bind_text(statement, 2, "item 77!", -1, nil)
                var sum: Int64 = 0
                while sqlite3_step(statement) == SQLITE_ROW {
                    for column in 0..<12 { sum &+= sqlite3_column_int64(statement, Int32(column)) }
                    sum &+=
                        Int64(sqlite3_column_text(statement, 12).pointee) + Int64(sqlite3_column_bytes(statement, 12))
                }
                sqlite3_reset(statement)
                #expect(sum != 1)
            }
            sqlite3_finalize(statement)
        }
        let prefix = try milliseconds {
            for _ in 0..<1000 {
                var plan = StoreFetch(entity: layout)
                plan.predicate = predicate
                plan.sortDescriptors = sort
                plan.limit = 100
                guard case .rows(let rows) = try open.store.fetch(plan), rows.rows.count == 100 else {
                    Issue.record("rows")
                    return
                }
            }
        }
        report("1,000 prefix searches with limit 100", prefix, rawPrefix)

        let rawSingle = milliseconds {
            sqlite3_prepare_v2(handle, "SELECT \(columns), ZNAME FROM ZITEM WHERE Z_PK = ?", -1, &statement, nil)
            for key in 1...20_000 {
                sqlite3_bind_int64(statement, 1, Int64(key * 7))
                if sqlite3_step(statement) == SQLITE_ROW {
                    var sum: Int64 = 0
                    for column in 0..<12 { sum &+= sqlite3_column_int64(statement, Int32(column)) }
                    sum &+= Int64(sqlite3_column_text(statement, 12).pointee)
                    if sum == 1 { print(sum) }
                }
                sqlite3_reset(statement)
            }
            sqlite3_finalize(statement)
        }
        let single = try milliseconds {
            for key in 1...20_000 { _ = try open.store.readRows([Int64(key * 7)], of: layout) }
        }
        report("20,000 reads by key", single, rawSingle)

        var batches: [SaveBatch] = []
        for _ in 0..<3 { batches.append(try batch(50_000)) }
        let insert = try milliseconds(3) { _ = try open.store.save(batches.removeLast()) }
        var next = try open.store.reserveKeys(200_000, for: layout)
        let rawInsert = milliseconds(3) {
            sqlite3_exec(handle, "BEGIN IMMEDIATE", nil, nil, nil)
            sqlite3_prepare_v2(
                handle,
                "INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, " + (0..<10).map { "ZN\($0)" }.joined(separator: ", ")
                    + ", ZNAME) VALUES (?, 1, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", -1, &statement, nil)
            for index in 0..<50_000 {
                sqlite3_bind_int64(statement, 1, next)
                next += 1
                for slot in 0..<10 { sqlite3_bind_int64(statement, Int32(slot + 2), Int64(index * slot)) }
                sqlite3_bind_text(statement, 12, "item \(index % 1000) \(index)", -1, SQLiteStatement.transient)
                sqlite3_step(statement)
                sqlite3_reset(statement)
            }
            sqlite3_finalize(statement)
            sqlite3_exec(handle, "COMMIT", nil, nil, nil)
        }
        report("insert 50,000 rows in one save", insert, rawInsert)

        let reserve = try milliseconds { for _ in 0..<1000 { _ = try open.store.reserveKeys(1, for: layout) } }
        print("BENCH one reservation of a key: \(reserve) µs")
    }
}
