import CoreData
import Foundation
import TestSupport
import Testing

/// New objects that win against rows, with files, the history and undo.
struct WinningObjectPairTests {
    private static let policies = [NSMergePolicy.mergeByPropertyObjectTrump, NSMergePolicy.overwrite]

    /// The photo of a new person that replaces the one of the same name: in a file, in the row, or
    /// none.
    private static func photo(_ place: Int, _ name: String) -> Data? {
        place % 3 == 2 ? nil : Gallery.photo(name, Int64(place % 3 + 2))
    }

    @Test(arguments: policies, [false, true])
    func filesOfTheRowGoWithItsValues(policy: NSMergePolicy, isHeld: Bool) throws {
        let folder = try TemporaryFolder()
        let url = folder.file("store.sqlite")
        let model = Gallery.model()
        model.entitiesByName["Person"]?.uniquenessConstraints = [["name"]]
        let coordinator = try Gallery.open(url, model: model, options: [NSPersistentHistoryTrackingKey: true])
        let first = coordinator.newContext()
        for name in Gallery.names {
            let note = first.new("Note", ["text": name, "scan": Gallery.photo(name, 1)])
            first.new("Person", ["name": name, "number": 1, "photo": Gallery.photo(name, 1)])
                .setValue(NSOrderedSet(object: note), forKey: "notes")
        }
        try first.save()
        first.reset()

        let context = coordinator.newContext()
        context.mergePolicy = policy
        let held = isHeld ? try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")) : []
        for (place, name) in Gallery.names.enumerated() {
            let note = context.new("Note", ["text": "new", "scan": Gallery.photo("new \(name)", 1)])
            let person = context.new("Person", ["name": name, "number": place])
            person.setValue(Self.photo(place, name), forKey: "photo")
            person.setValue(NSOrderedSet(object: note), forKey: "notes")
        }
        try context.save()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        let reader = coordinator.newContext()
        let people = try reader.fetch(request)
        #expect(people.count == Gallery.names.count)
        for (place, person) in people.enumerated() {
            let name = Gallery.names[place]
            #expect(person.value(forKey: "number") as? Int == place)
            #expect(person.value(forKey: "photo") as? Data == Self.photo(place, name))
            let notes = person.mutableOrderedSetValue(forKey: "notes").compactMap {
                ($0 as? NSManagedObject)?.value(forKey: "text") as? String
            }
            #expect(notes == [name, "new"])
        }
        for store in coordinator.persistentStores { try coordinator.remove(store) }
        let file = SQLiteFile(url)
        #expect(Set(try Gallery.files(of: url)) == Set(Gallery.filesNamed(file)))
        // One row each, which was changed: nobody was inserted or deleted.
        let changes =
            "FROM ACHANGE c JOIN Z_PRIMARYKEY k ON k.Z_ENT = c.ZENTITY AND k.Z_NAME = 'Person' WHERE "
            + "c.ZTRANSACTIONID = 2"
        #expect(file.column("SELECT DISTINCT c.ZCHANGETYPE \(changes)") == ["1"])
        #expect(file.integer("SELECT count(DISTINCT c.ZENTITYPK) \(changes)") == Gallery.names.count)
        withExtendedLifetime((held, reader)) {}
    }

    /// Taking back the insertion deletes the row that the object has become, by its rules; doing it
    /// again brings it back.
    @Test(arguments: StoreKind.allCases, [false, true])
    func theInsertionIsUndoneAndDoneAgain(kind: StoreKind, savesBetween: Bool) throws {
        let stock = try WinningStock(kind, .mergeByPropertyObjectTrump)
        let context = stock.context
        let undoManager = UndoManager()
        undoManager.groupsByEvent = false
        context.undoManager = undoManager
        undoManager.beginUndoGrouping()
        let new = context.new("Item", ["name": "Bolt", "size": 1])
        context.processPendingChanges()
        undoManager.endUndoGrouping()
        try context.save()
        #expect(new.objectID == stock.bolt)
        for _ in 0..<2 {
            context.undo()
            if savesBetween {
                try context.save()
                #expect(try stock.items() == [])
                let reader = stock.coordinator.newContext()
                for entity in ["Badge", "Note"] {
                    let request = NSFetchRequest<NSManagedObject>(entityName: entity)
                    request.predicate = NSPredicate(format: "item != nil")
                    #expect(try reader.count(for: request) == 0)
                }
                #expect(try stock.otherSides() == ["Old: ", "first: ", "B: ", "one: "])
            }
            context.redo()
            try context.save()
            #expect(new.objectID == stock.bolt)
            #expect(try stock.items() == ["Bolt 1 grey nil nil first one"])
            #expect(try stock.otherSides() == ["Old: ", "first: Bolt", "B: ", "one: Bolt"])
        }
    }

    /// Values that a policy has taken over cannot be undone, and need no undo group.
    @Test(
        arguments: StoreKind.allCases,
        [NSMergePolicy.mergeByPropertyStoreTrump, .rollback, .mergeByPropertyObjectTrump])
    func undoLeavesWhatAPolicyHasBrought(kind: StoreKind, policy: NSMergePolicy) throws {
        let stock = try WinningStock(kind, policy)
        let context = stock.context
        let undoManager = UndoManager()
        undoManager.groupsByEvent = false
        context.undoManager = undoManager
        undoManager.beginUndoGrouping()
        let owner = context.new("Owner", ["name": "New"])
        context.processPendingChanges()
        undoManager.endUndoGrouping()
        undoManager.disableUndoRegistration()
        context.new("Item", ["name": "Bolt", "size": 1]).setValue(owner, forKey: "owner")
        context.processPendingChanges()
        undoManager.enableUndoRegistration()
        try context.save()
        #expect(undoManager.undoCount == 1)
        let saved = try stock.items()
        let isOld = policy === NSMergePolicy.rollback || policy === NSMergePolicy.mergeByPropertyStoreTrump
        #expect(saved == [isOld ? "Bolt 7 grey Old B first one" : "Bolt 1 grey New nil first one"])
        context.undo()
        try context.save()
        #expect(try stock.items() == saved.map { $0.replacing("New", with: "nil") })
        context.redo()
        try context.save()
        #expect(try stock.items() == saved)
    }
}
