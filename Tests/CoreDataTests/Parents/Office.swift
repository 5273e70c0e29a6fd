import CoreData
import TestSupport
import Testing

extension SeveralStoreTreeTests {
    /// A root, a child and a grandchild over a store of accounts and one of notes; someone else
    /// changes notes.
    final class Office {
        let folder: TemporaryFolder
        let coordinator: NSPersistentStoreCoordinator
        let root: NSManagedObjectContext
        let child: NSManagedObjectContext
        let grandchild: NSManagedObjectContext
        /// Another coordinator's context where notes outlast their coordinator, another context
        /// otherwise.
        let theirs: NSManagedObjectContext
        let place: Place

        static func model() -> NSManagedObjectModel {
            let account = NSEntityDescription(
                "Account", class: "NSManagedObject",
                [
                    NSAttributeDescription("name", .stringAttributeType),
                    NSAttributeDescription("amount", .integer64AttributeType),
                ])
            let note = NSEntityDescription(
                "Note", class: "NSManagedObject",
                [
                    NSAttributeDescription("name", .stringAttributeType),
                    NSAttributeDescription("body", .stringAttributeType),
                    NSAttributeDescription("number", .integer64AttributeType, optional: false, default: 1),
                    NSAttributeDescription("mark", .integer64AttributeType),
                ])
            note.uniquenessConstraints = [["name"]]
            let model = NSManagedObjectModel([account, note])
            model.setEntities([account], forConfigurationName: "Accounts")
            model.setEntities([note], forConfigurationName: "Notes")
            return model
        }

        init(_ place: Place, options: [AnyHashable: Any]? = nil) throws {
            let folder = try TemporaryFolder()
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
            func add(_ configuration: String, to coordinator: NSPersistentStoreCoordinator) throws {
                let kind = configuration == "Notes" ? place.notes : place.accounts
                _ = try coordinator.addPersistentStore(
                    ofType: kind.type, configurationName: configuration,
                    at: kind.url(folder.file("\(configuration).sqlite")), options: options)
            }
            for configuration in place.configurations { try add(configuration, to: coordinator) }
            (self.place, self.folder, self.coordinator) = (place, folder, coordinator)
            root = coordinator.newContext()
            child = root.newChild()
            grandchild = child.newChild()
            var other = coordinator
            if place.notes != .inMemory {
                other = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
                try add("Notes", to: other)
            }
            theirs = other.newContext()
            Self.new("Account", ["name": "A", "amount": 1], in: root)
            Self.new("Note", ["name": "n", "body": "old", "number": 1, "mark": 1], in: root)
            try root.save()
        }

        @discardableResult
        static func new(_ entity: String, _ values: [String: Any], in context: NSManagedObjectContext)
            -> NSManagedObject
        {
            let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
            object.setValuesForKeys(values)
            return object
        }

        static func find(_ entity: String, _ name: String, in context: NSManagedObjectContext) throws -> NSManagedObject
        {
            let request = NSFetchRequest<NSManagedObject>(entityName: entity)
            request.predicate = NSPredicate(format: "name == %@", name)
            let found = try context.fetch(request)
            #expect(found.count == 1)
            return try #require(found.first)
        }

        /// The objects of a context, a line for each.
        static func lines(_ context: NSManagedObjectContext) throws -> [String] {
            func lines(_ entity: String, _ keys: [String]) throws -> [String] {
                let request = NSFetchRequest<NSManagedObject>(entityName: entity)
                request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
                return try context.fetch(request).map { object in
                    keys.map { object.value(forKey: $0).map { "\($0)" } ?? "-" }.joined(separator: " ")
                }
            }
            return try lines("Account", ["name", "amount"]) + lines("Note", ["name", "body", "number", "mark"])
        }

        /// The stored objects, read by a fresh context.
        func stored() throws -> [String] {
            let fresh = coordinator.newContext()
            let lines = try Self.lines(fresh)
            // The databases' own libraries read the same.
            if let accounts {
                #expect(
                    accounts.column("SELECT {name} || ' ' || {amount} FROM {account} ORDER BY {name}")
                        == lines.filter { $0.split(separator: " ").count == 2 })
            }
            if let notes {
                let sql =
                    "SELECT {name} || ' ' || {body} || ' ' || {number} || ' ' || {mark} FROM {note} ORDER BY {name}"
                #expect(notes.column(sql) == lines.filter { $0.split(separator: " ").count == 4 })
            }
            return lines
        }

        /// The tables of the stores; nil for a store in memory.
        private var accounts: StoreTables? { tables(place.accounts, "Accounts") }
        private var notes: StoreTables? { tables(place.notes, "Notes") }

        private func tables(_ kind: StoreKind, _ configuration: String) -> StoreTables? {
            kind == .inMemory ? nil : StoreTables(kind, folder.file("\(configuration).sqlite"))
        }

        /// The versions of all rows in tables: a row that is written twice has a higher one.
        var versions: [String?] {
            (accounts?.column("SELECT {name} || ' ' || {version} FROM {account} ORDER BY {name}") ?? ["A 2", "B 1"])
                + (notes?.column("SELECT {name} || ' ' || {version} FROM {note} ORDER BY {name}") ?? [])
        }

        /// Both stores change in the child and, unsaved, in the root.
        func changeBelow() throws {
            try Self.find("Account", "A", in: child).setValue(2, forKey: "amount")
            let note = try Self.find("Note", "n", in: child)
            note.setValue("mine", forKey: "body")
            note.setValue(2, forKey: "mark")
            Self.new("Account", ["name": "B", "amount": 7], in: child)
            Self.new("Note", ["name": "m", "body": "new", "mark": 7], in: child)
            try child.save()
        }

        /// Someone else changes what the root has changed.
        func interfere() throws {
            let note = try Self.find("Note", "n", in: theirs)
            note.setValue("theirs", forKey: "body")
            note.setValue(5, forKey: "number")
            try theirs.save()
        }

        /// Another program changes an account.
        func interfereWithAccounts() throws {
            let updated = accounts?.execute("UPDATE {account} SET {amount} = 9, {version} = {version} + 1")
            #expect(updated == true)
        }

        /// The number of recorded transactions in each store.
        var transactions: [Int] {
            [(place.accounts, accounts), (place.notes, notes)].map { kind, tables in
                let count = tables?.value(
                    "SELECT count(*) FROM \(kind == .sqlite ? "ATRANSACTION" : "ocd_transaction")")
                return count.flatMap { Int($0) } ?? -1
            }
        }

        /// All levels show what is stored, have nothing to save, and write nothing when they are
        /// saved again.
        func expectSettled(_ lines: [String]) throws {
            #expect(try stored() == lines)
            for context in [root, child, grandchild] {
                #expect(!context.hasChanges)
                context.refreshAllObjects()
                #expect(try Self.lines(context) == lines)
            }
            let versions = versions
            for context in [grandchild, child, root] { try context.save() }
            #expect(self.versions == versions)
        }
    }
}
