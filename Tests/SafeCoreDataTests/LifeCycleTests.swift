import SafeCoreData
import TestSupport
import Testing

// Life-cycle events as programs use them: dates that look after themselves, files that go with
// their objects, and work that ends with them.

final class ShopDocument: NSManagedObject {
    @Managed var title: String
    @Managed var fileName: String?
    @Managed var created: Date?
    @Managed var modified: Date?

    /// Work for this object that nobody needs when it is deleted.
    var work: Task<Void, Never>?
    private(set) var willSaveCalls = 0
    /// The file to remove when the deletion has been saved.
    private var fileToRemove: URL?

    var file: URL? {
        guard let folder = managedObjectContext?.userInfo["folder"] as? URL, let fileName else { return nil }
        return folder.appendingPathComponent(fileName)
    }

    private var now: Date { managedObjectContext?.userInfo["now"] as? Date ?? Date() }

    override func awakeFromInsert() {
        super.awakeFromInsert()
        // Primitive setters: what is set here is no change of the user's.
        setPrimitiveValue(now, forKey: "created")
        setPrimitiveValue(now, forKey: "modified")
    }

    override func willSave() {
        super.willSave()
        willSaveCalls += 1
        // Not removed here: the save may still fail, and then the object is still there.
        fileToRemove = isDeleted ? file : nil
        // A primitive setter: another one would be a change, for which willSave is called again,
        // without end.
        if isUpdated, hasPersistentChangedValues { setPrimitiveValue(now, forKey: "modified") }
    }

    override func didSave() {
        super.didSave()
        guard let file = fileToRemove else { return }
        fileToRemove = nil
        do { try FileManager.default.removeItem(at: file) } catch { print("\(file.path) is left over: \(error)") }
    }

    override func prepareForDeletion() {
        super.prepareForDeletion()
        work?.cancel()
    }
}

/// The same dates in a class with a macro, by primitive properties.
@Entity
final class StampedNote: NSManagedObject {
    var text: String
    private(set) var created: Date?
    private(set) var modified: Date?
    @Managed private var primitiveCreated: Date?
    @Managed private var primitiveModified: Date?
    @Transient private(set) var willSaveCalls: Int = 0

    private var now: Date { managedObjectContext?.userInfo["now"] as? Date ?? Date() }

    override func awakeFromInsert() {
        super.awakeFromInsert()
        primitiveCreated = now
        primitiveModified = now
    }

    override func willSave() {
        super.willSave()
        setPrimitiveValue(willSaveCalls + 1, forKey: "willSaveCalls")
        if isUpdated, hasPersistentChangedValues { primitiveModified = now }
    }
}

/// Life-cycle events.
struct LifeCycleTests {
    private let folder: TemporaryFolder
    private let context: NSManagedObjectContext
    private static let first = Date(timeIntervalSinceReferenceDate: 1000)
    private static let later = Date(timeIntervalSinceReferenceDate: 2000)

    init() throws {
        folder = try TemporaryFolder()
        let document = NSEntityDescription(
            "Document", class: "ShopDocument",
            [
                NSAttributeDescription("title", .stringAttributeType, optional: false),
                NSAttributeDescription("fileName", .stringAttributeType),
                NSAttributeDescription("created", .dateAttributeType),
                NSAttributeDescription("modified", .dateAttributeType),
            ])
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel([document]))
        _ = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: folder.file("documents.sqlite"))
        context = coordinator.newContext()
        context.userInfo["folder"] = folder.url
        context.userInfo["now"] = Self.first
    }

    private func document(_ title: String = "Plan", file: String? = nil) throws -> ShopDocument {
        let document = ShopDocument(context: context)
        document.title = title
        document.fileName = file
        if let url = document.file { try Data("text".utf8).write(to: url) }
        return document
    }

    private var fileExists: Bool { FileManager.default.fileExists(atPath: folder.file("plan.txt").path) }

    /// The dates in the file, as seconds.
    private func savedDates() -> [String?] {
        SQLiteFile(folder.file("documents.sqlite")).rows("SELECT ZCREATED, ZMODIFIED FROM ZDOCUMENT")[0]
    }

    // MARK: Dates

    @Test func aNewObjectHasItsDatesWithoutAChange() throws {
        let document = ShopDocument(context: context)
        #expect(document.created == Self.first)
        #expect(document.modified == Self.first)
        #expect(document.changedValuesForCurrentEvent().isEmpty)
        document.title = "Plan"
        try context.save()
        #expect(savedDates() == ["1000", "1000"])
    }

    @Test func aChangedObjectGetsItsModificationDateWithOneCallOfWillSave() throws {
        let document = try document()
        try context.save()
        #expect(document.willSaveCalls == 1)
        context.userInfo["now"] = Self.later
        document.title = "Other plan"
        try context.save()
        #expect(document.willSaveCalls == 2)
        #expect(document.modified == Self.later)
        #expect(savedDates() == ["1000", "2000"])
        #expect(!context.hasChanges)
    }

    @Test func aClassWithMacrosKeepsItsDatesByPrimitiveProperties() throws {
        let stack = try EntityStack(StampedNote.self)
        stack.context.userInfo["now"] = Self.first
        let note = StampedNote(context: stack.context, text: "Plan")
        try stack.context.save()
        #expect(stack.file.rows("SELECT ZCREATED, ZMODIFIED FROM ZSTAMPEDNOTE") == [["1000", "1000"]])
        stack.context.userInfo["now"] = Self.later
        note.text = "Other plan"
        try stack.context.save()
        #expect(note.willSaveCalls == 2)
        #expect(note.modified == Self.later)
        #expect(!stack.context.hasChanges)
        #expect(stack.file.rows("SELECT ZCREATED, ZMODIFIED FROM ZSTAMPEDNOTE") == [["1000", "2000"]])
    }

    @Test func anUnchangedObjectKeepsItsModificationDate() throws {
        let document = try document()
        let other = try self.document("Other")
        try context.save()
        context.userInfo["now"] = Self.later
        document.title = "Plan"
        other.title = "Changed"
        try context.save()
        #expect(document.modified == Self.first)
        #expect(other.modified == Self.later)
    }

    @Test func aFetchedObjectIsNotChangedByItsDates() throws {
        _ = try document()
        try context.save()
        context.reset()
        context.userInfo["now"] = Self.later
        let fetched = try context.fetch(ShopDocument.self)
        #expect(fetched.map(\.created) == [Self.first])
        #expect(!context.hasChanges)
    }

    // MARK: Files

    @Test func aFileGoesWithTheSavedDeletion() throws {
        let document = try document(file: "plan.txt")
        try context.save()
        context.delete(document)
        #expect(fileExists)
        try context.save()
        #expect(!fileExists)
    }

    @Test func aRollbackKeepsTheFile() throws {
        let document = try document(file: "plan.txt")
        try context.save()
        context.delete(document)
        context.rollback()
        document.title = "Kept"
        try context.save()
        #expect(fileExists)
    }

    @Test func aFailedSaveKeepsTheFile() throws {
        let document = try document(file: "plan.txt")
        try context.save()
        context.delete(document)
        // Without its title: the save fails after willSave.
        _ = ShopDocument(context: context)
        #expect(throws: (any Error).self) { try context.save() }
        #expect(fileExists)
        context.rollback()
        document.title = "Kept"
        try context.save()
        #expect(fileExists)
    }

    // MARK: Work

    @Test func workEndsWithTheDeletion() async throws {
        let document = try document()
        try context.save()
        let work = Task {
            while !Task.isCancelled { await Task.yield() }
        }
        document.work = work
        context.delete(document)
        await work.value
        #expect(work.isCancelled)
    }
}
