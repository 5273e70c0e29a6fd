import SafeCoreData
import TestSupport
import Testing

/// Drafts whose steps are undone and redone while others delete what they edit, or what they lead
/// to.
struct DraftUndoTests {
    private let folder: TemporaryFolder
    private let url: URL
    private let stack: DataStack

    init() throws {
        folder = try TemporaryFolder()
        url = folder.file("stock.sqlite")
        stack = DataStack(entities: Vendor.self, Article.self, Shelf.self, store: .file(url))
    }

    private var file: SQLiteFile { SQLiteFile(url) }

    nonisolated(nonsending) private func insert(_ name: String) async throws -> NSManagedObjectID {
        try await stack.write { Article(context: $0, name: name, unitPrice: 1).objectID }
    }

    /// A shelf with two articles.
    nonisolated(nonsending) private func insertShelf() async throws -> (
        shelf: NSManagedObjectID, bolt: NSManagedObjectID
    ) {
        let ids = try await stack.write { context in
            let shelf = Shelf(context: context, label: "A")
            let articles = ["Bolt", "Nut"].map { Article(context: context, name: $0, unitPrice: 1) }
            shelf.articles = articles
            return [shelf.objectID, articles[0].objectID]
        }
        return (ids[0], ids[1])
    }

    nonisolated(nonsending) private func deleteArticle(_ id: NSManagedObjectID) async throws {
        try await stack.write { $0.delete(try $0.object(with: id, as: Article.self)) }
    }

    nonisolated(nonsending) private func deleteShelf(_ id: NSManagedObjectID) async throws {
        try await stack.write { $0.delete(try $0.object(with: id, as: Shelf.self)) }
    }

    private func article(_ columns: String) -> [String?] {
        file.rows("SELECT \(columns) FROM ZARTICLE ORDER BY Z_PK").first ?? []
    }

    // MARK: The edited object is deleted

    @Test func aDraftThatTookBackItsStepsMeetsNoDeletion() async throws {
        let id = try await insert("Bolt")
        let draft = try await stack.draft(of: id, as: Article.self)
        try await draft.perform { $0.name = "Nut" }
        try await draft.perform { $0.stockCount = 5 }
        try await deleteArticle(id)
        try await draft.undo()
        try await draft.undo()
        try await draft.apply()
        #expect(file.integer("SELECT COUNT(*) FROM ZARTICLE") == 0)
    }

    @Test func aDraftThatDoesItsStepsAgainMeetsTheDeletion() async throws {
        let id = try await insert("Bolt")
        let draft = try await stack.draft(of: id, as: Article.self)
        try await draft.perform { $0.name = "Nut" }
        try await draft.undo()
        try await deleteArticle(id)
        try await draft.redo()
        #expect(try await draft.perform { $0.name } == "Nut")
        let error = await #expect(throws: DraftConflictError.self) { try await draft.apply() }
        #expect(error?.conflicts == [DraftConflict(objectID: id, kind: .deleted)])
        #expect(file.integer("SELECT COUNT(*) FROM ZARTICLE") == 0)
    }

    @Test func whatIsTakenBackAfterAConflictWithADeletionIsAppliedWithoutOne() async throws {
        let id = try await insert("Bolt")
        let draft = try await stack.draft(of: id, as: Article.self)
        try await draft.perform { _ = Vendor(context: $0.context, name: "ACME") }
        try await draft.perform { $0.stockCount = 5 }
        try await deleteArticle(id)
        await #expect(throws: DraftConflictError.self) { try await draft.apply() }
        #expect(file.integer("SELECT COUNT(*) FROM ZSUPPLIER") == 0)
        try await draft.undo()
        try await draft.apply()
        #expect(file.integer("SELECT COUNT(*) FROM ZARTICLE") == 0)
        #expect(file.column("SELECT ZNAME FROM ZSUPPLIER") == ["ACME"])
    }

    @Test func anEditThatTookBackItsStepsMeetsNoDeletion() async throws {
        let id = try await insert("Bolt")
        let stack = stack
        let (running, written) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let edit = Task {
            try await stack.edit(id, as: Article.self) { draft in
                draft.step("Rename") { draft.name = "Nut" }
                running.signal()
                written.wait()
                draft.step("Count") { draft.stockCount = 5 }
                draft.undo()
                draft.undo()
                draft.redo()
                draft.undo()
                return draft.hasChanges
            }
        }
        await running.arrive()
        try await deleteArticle(id)
        written.signal()
        #expect(try await edit.value == false)
        #expect(file.integer("SELECT COUNT(*) FROM ZARTICLE") == 0)
    }

    @Test func aDeletionOfTheSupplierReachesTheArticleOfADraft() async throws {
        let ids = try await stack.write { context in
            let vendor = Vendor(context: context, name: "ACME")
            let article = Article(context: context, name: "Bolt", unitPrice: 1)
            article.vendor = vendor
            return [vendor.objectID, article.objectID]
        }
        let draft = try await stack.draft(of: ids[1], as: Article.self)
        try await draft.perform { $0.stockCount = 5 }
        try await stack.write { $0.delete(try $0.object(with: ids[0], as: Vendor.self)) }
        let error = await #expect(throws: DraftConflictError.self) { try await draft.apply() }
        #expect(error?.conflicts.contains(DraftConflict(objectID: ids[1], kind: .deleted)) == true)
        try await draft.undo()
        try await draft.apply()
        #expect(file.integer("SELECT COUNT(*) FROM ZARTICLE") == 0)
        #expect(file.integer("SELECT COUNT(*) FROM ZSUPPLIER") == 0)
    }

    // MARK: The draft deletes

    @Test func aDeletionThatIsTakenBackAfterAConflictLeavesWhatOthersHaveWritten() async throws {
        let id = try await insert("Bolt")
        let draft = try await stack.draft(of: id, as: Article.self)
        try await draft.perform { $0.context.delete($0.object) }
        try await stack.write { try $0.object(with: id, as: Article.self).stockCount = 5 }
        let error = await #expect(throws: DraftConflictError.self) { try await draft.apply() }
        #expect(error?.conflicts == [DraftConflict(objectID: id, kind: .changed(properties: ["stockCount"]))])
        try await draft.undo()
        try await draft.apply()
        #expect(article("ZNAME, ZSTOCKCOUNT") == ["Bolt", "5"])
    }

    /// Whether that is a conflict or not.
    @Test func anArticleThatTwoHaveDeletedIsGone() async throws {
        let id = try await insert("Bolt")
        let draft = try await stack.draft(of: id, as: Article.self)
        try await draft.perform { $0.context.delete($0.object) }
        try await draft.undo()
        try await draft.redo()
        try await deleteArticle(id)
        do { try await draft.apply() } catch is DraftConflictError { draft.discard() }
        #expect(file.integer("SELECT COUNT(*) FROM ZARTICLE") == 0)
        #expect(try await stack.read { try $0.count(Article.self) } == 0)
    }

    // MARK: What the draft leads to is deleted

    @Test func aDeletionOfTheShelfIsAConflictWithTheArticleThatLayOnIt() async throws {
        let (shelfID, id) = try await insertShelf()
        let draft = try await stack.draft(of: id, as: Article.self)
        try await draft.perform { $0.stockCount = 3 }
        try await deleteShelf(shelfID)
        let error = await #expect(throws: DraftConflictError.self) { try await draft.apply() }
        #expect(error?.conflicts == [DraftConflict(objectID: id, kind: .changed(properties: ["shelf"]))])
        try await draft.apply(mergePolicy: .mergeByPropertyObjectTrump)
        #expect(file.rows("SELECT ZSTOCKCOUNT, ZSHELF FROM ZARTICLE WHERE ZNAME = 'Bolt'") == [["3", nil]])
    }

    /// Whether the draft is refused until its step is taken back or not: the article does not lead
    /// to a shelf that is gone.
    @Test func anArticleIsNotPutOnAShelfThatOthersHaveDeleted() async throws {
        let (shelfID, _) = try await insertShelf()
        let id = try await insert("Screw")
        let draft = try await stack.draft(of: id, as: Article.self)
        try await draft.perform { $0.stockCount = 3 }
        try await draft.perform { draft in draft.shelf = try draft.context.object(with: shelfID, as: Shelf.self) }
        try await deleteShelf(shelfID)
        do {
            try await draft.apply()
        } catch {
            try await draft.undo()
            try await draft.apply()
        }
        #expect(file.rows("SELECT ZSTOCKCOUNT, ZSHELF FROM ZARTICLE WHERE ZNAME = 'Screw'") == [["3", nil]])
        #expect(file.integer("SELECT COUNT(*) FROM ZSHELF") == 0)
    }

    @Test func aNewArticleDoesNotLeadToASupplierThatOthersHaveDeleted() async throws {
        let vendorID = try await stack.write { Vendor(context: $0, name: "ACME").objectID }
        let draft = try await stack.draft { context in Article(context: context, name: "New", unitPrice: 1) }
        try await draft.perform { draft in draft.vendor = try draft.context.object(with: vendorID, as: Vendor.self) }
        try await stack.write { $0.delete(try $0.object(with: vendorID, as: Vendor.self)) }
        do {
            try await draft.apply()
        } catch {
            try await draft.undo()
            try await draft.apply()
        }
        #expect(file.rows("SELECT ZNAME, ZVENDOR FROM ZARTICLE") == [["New", nil]])
        #expect(file.integer("SELECT COUNT(*) FROM ZSUPPLIER") == 0)
    }

    @Test func anOrderThatIsTakenBackMeetsNoDeletionOfItsShelf() async throws {
        let (shelfID, _) = try await insertShelf()
        let draft = try await stack.draft(of: shelfID, as: Shelf.self)
        try await draft.perform { $0.articles.swapAt(0, 1) }
        try await draft.perform { $0.label = "B" }
        try await deleteShelf(shelfID)
        await #expect(throws: DraftConflictError.self) { try await draft.apply() }
        try await draft.undo()
        try await draft.undo()
        #expect(try await draft.perform { $0.articles.map(\.name) } == ["Bolt", "Nut"])
        try await draft.apply()
        #expect(file.integer("SELECT COUNT(*) FROM ZSHELF") == 0)
        #expect(file.rows("SELECT ZNAME, ZSHELF FROM ZARTICLE ORDER BY ZNAME") == [["Bolt", nil], ["Nut", nil]])
    }

    // MARK: New objects

    @Test func newObjectsThatAreUndoneAndRedoneAreThereOnce() async throws {
        let id = try await insert("Bolt")
        let draft = try await stack.draft(of: id, as: Article.self)
        let vendorID = try await draft.perform { draft in
            let vendor = Vendor(context: draft.context, name: "ACME")
            draft.vendor = vendor
            vendor.articles.insert(Article(context: draft.context, name: "Nut", unitPrice: 2))
            return vendor.objectID
        }
        for _ in 0..<2 {
            try await draft.undo()
            #expect(try await draft.perform { $0.vendor == nil })
            try await draft.redo()
            #expect(try await draft.perform { $0.vendor?.articles.map(\.name).sorted() } == ["Bolt", "Nut"])
        }
        try await draft.apply()
        #expect(
            file.rows("SELECT a.ZNAME, v.ZNAME FROM ZARTICLE a JOIN ZSUPPLIER v ON a.ZVENDOR = v.Z_PK ORDER BY 1")
                == [["Bolt", "ACME"], ["Nut", "ACME"]])
        #expect(file.integer("SELECT COUNT(*) FROM ZSUPPLIER") == 1)
        #expect(file.integer("SELECT COUNT(*) FROM ZARTICLE") == 2)
        #expect(try await stack.write { try $0.object(with: vendorID, as: Vendor.self).name } == "ACME")
    }
}
