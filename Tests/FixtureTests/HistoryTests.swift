import CoreData
import TestSupport
import Testing

extension FixtureTests {
    /// The history's rows say what changed: those in the stores as they are, and those that are
    /// written into them here.
    struct HistoryTests {
        let folder: TemporaryFolder

        init() throws { folder = try TemporaryFolder() }

        private static let withHistory = StoreAndModel.oneOfEachStore.filter { fixture in
            ["SampleModel2", "CartKit", "FreezeRay"].contains { fixture.store.path.contains($0) }
        }

        /// The properties that the bits of `ZCOLUMNS` stand for, from the highest bit of the first
        /// byte on: of each kind the superentity's properties first.
        private func names(_ entity: NSEntityDescription) -> [String] {
            func level(_ property: NSPropertyDescription) -> Int {
                sequence(first: entity, next: \.superentity).filter { $0.propertiesByName[property.name] != nil }.count
            }
            let properties = entity.propertiesByName.values.filter { !$0.isTransient }.sorted {
                (-level($0), $0.name) < (-level($1), $1.name)
            }
            let relationships = properties.compactMap { $0 as? NSRelationshipDescription }
            let toOne = relationships.filter { !$0.isToMany }.flatMap { relationship in
                Array(
                    repeating: relationship.name,
                    count: relationship.destinationEntity?.subentities.isEmpty == false ? 2 : 1)
            }
            return toOne + properties.filter { $0 is NSAttributeDescription }.map(\.name)
                + relationships.filter(\.isToMany).map(\.name)
        }

        /// The names of the bits that are set; nil for a bit that stands for nothing.
        private func changed(_ columns: Data, _ entity: NSEntityDescription) -> Set<String?> {
            let names = names(entity)
            var found: Set<String?> = []
            for (index, byte) in columns.enumerated() {
                for bit in 0..<8 where byte & (0x80 >> UInt8(bit)) != 0 {
                    let place = index * 8 + bit
                    found.insert(place < names.count ? names[place] : nil)
                }
            }
            return found
        }

        private struct Change {
            let type: Int64
            let entity: NSEntityDescription
            let key: Int64
            let columns: Data?
        }

        private func changes(_ url: URL, _ model: NSManagedObjectModel, after transaction: Int = 0) throws -> [Change] {
            let raw = try RawStore(url, model)
            return try raw.database.cells(
                "SELECT ZCHANGETYPE, ZENTITY, ZENTITYPK, ZCOLUMNS FROM ACHANGE "
                    + "WHERE ZTRANSACTIONID > \(transaction) ORDER BY Z_PK"
            ).map { row in
                Change(
                    type: try #require(row[0].integer), entity: try #require(raw.entities[row[1].integer ?? 0]),
                    key: try #require(row[2].integer), columns: row[3].blob)
            }
        }

        @Test func thereAreStoresWithAHistory() { #expect(Self.withHistory.count == 5) }

        @Test(arguments: withHistory) func theHistoryOfAStoreReadsAsItsRowsAre(fixture: StoreAndModel) throws {
            let url = try fixture.store.copy(to: folder)
            let model = try fixture.readModel(of: url)
            let raw = try RawStore(url, model)
            for change in try changes(url, model) {
                // Only an update has bits, and each of them has a name.
                #expect((change.columns != nil) == (change.type == 1))
                if let columns = change.columns {
                    let found = changed(columns, change.entity)
                    #expect(!found.isEmpty)
                    #expect(!found.contains(nil))
                }
                let isThere = raw.tables[RawStore.table(of: change.entity)]?[change.key] != nil
                if change.type == 0 { #expect(isThere, "\(change.entity.name ?? "")/p\(change.key)") }
            }
        }

        /// What a program reads is what `sqlite3` sees, with the names that the bits stand for.
        @Test(arguments: withHistory) func everyTransactionAndChangeIsRead(fixture: StoreAndModel) throws {
            let url = try fixture.store.copy(to: folder)
            let model = try fixture.readModel(of: url)
            let stack = try Stack(model, url)
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: .distantPast)
            let history = try #require(try stack.context.execute(request) as? NSPersistentHistoryResult)
            let transactions = try #require(history.result as? [NSPersistentHistoryTransaction])
            let raw = try RawStore(url, model)
            let rows = try raw.database.cells(
                "SELECT Z_PK, ZTIMESTAMP, (SELECT ZNAME FROM ATRANSACTIONSTRING s WHERE s.Z_PK = ZAUTHORTS), "
                    + "(SELECT ZNAME FROM ATRANSACTIONSTRING s WHERE s.Z_PK = ZPROCESSIDTS) FROM ATRANSACTION "
                    + "ORDER BY 1"
            )
            #expect(transactions.map { Optional($0.transactionNumber) } == rows.map { $0[0].integer })
            #expect(
                transactions.map { Optional($0.timestamp.timeIntervalSinceReferenceDate) } == rows.map { $0[1].double })
            #expect(transactions.map(\.author) == rows.map { $0[2].text })
            #expect(transactions.map { Optional($0.processID) } == rows.map { $0[3].text })
            let expected = try changes(url, model)
            let found = transactions.flatMap { $0.changes ?? [] }
            #expect(found.count == expected.count)
            for (change, row) in zip(found, expected) {
                #expect(change.changedObjectID.entity.name == row.entity.name)
                #expect(change.changedObjectID.uriRepresentation().lastPathComponent == "p\(row.key)")
                #expect(change.changeType.rawValue == Int(row.type))
                let names = row.columns.map { changed($0, row.entity) }
                #expect(change.updatedProperties.map { Set($0.map { Optional($0.name) }) } == names)
            }
        }

        @Test(arguments: StoreAndModel.some(3, of: withHistory))
        func whatIsWrittenReadsByTheSameRule(fixture: StoreAndModel) throws {
            let url = try fixture.store.copy(to: folder)
            let model = try fixture.readModel(of: url)
            let before = SQLiteFile(url).integer("SELECT max(Z_PK) FROM ATRANSACTION") ?? 0
            let stack = try Stack(model, url, options: [NSPersistentHistoryTrackingKey: true])
            let maker = ObjectMaker(stack.context)
            for entity in model.concreteEntities { try maker.insert(entity) }
            try stack.context.save()
            // One attribute of each object, another one for each next object.
            var expected: [String: Set<String?>] = [:]
            for (number, object) in try model.concreteEntities.flatMap(stack.objects).enumerated() {
                let attributes = object.entity.settableAttributes.filter { $0.attributeType != .compositeAttributeType }
                guard !attributes.isEmpty else { continue }
                let attribute = attributes[number % attributes.count]
                object.setValue(GeneratedValues.value(of: attribute, 1_000_000 + number), forKey: attribute.name)
                expected[object.place] = [attribute.name]
            }
            let transaction = SQLiteFile(url).integer("SELECT max(Z_PK) FROM ATRANSACTION") ?? 0
            #expect(transaction > before)
            try stack.context.save()
            let updates = try changes(url, model, after: transaction)
            #expect(!updates.isEmpty)
            #expect(updates.allSatisfy { $0.type == 1 })
            for update in updates {
                let place = "\(update.entity.name ?? "")/p\(update.key)"
                #expect(changed(try #require(update.columns), update.entity) == expected[place], "\(place)")
            }
        }
    }
}
