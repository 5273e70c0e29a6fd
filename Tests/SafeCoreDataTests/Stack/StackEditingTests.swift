import SafeCoreData
import TestSupport
import Testing

/// Editing on a context of its own.
struct StackEditingTests {
    private let folder: TemporaryFolder
    private let url: URL
    private let stack: DataStack

    init() throws {
        folder = try TemporaryFolder()
        url = folder.file("stock.sqlite")
        stack = DataStack(entities: Vendor.self, Article.self, Shelf.self, store: .file(url))
    }

    private struct Stop: Error {}

    private var file: SQLiteFile { SQLiteFile(url) }

    nonisolated(nonsending) private func insert(_ name: String, count: Int = 0) async throws -> NSManagedObjectID {
        try await stack.write { Article(context: $0, name: name, unitPrice: 1, stockCount: count).objectID }
    }

    private func article(_ columns: String) -> [String?] {
        file.rows("SELECT \(columns) FROM ZARTICLE ORDER BY Z_PK").first ?? []
    }

    // MARK: In a block

    @MainActor @Test func anEditIsSavedAndMergedWhenItReturns() async throws {
        let id = try await insert("Bolt")
        let view = try await stack.read { try $0.object(with: id, as: Article.self) }
        let name = try await stack.edit(view) { draft in
            draft.name = "Hex bolt"
            draft.stockCount += 3
            draft.object.tags.append("new")
            return draft.name
        }
        #expect(name == "Hex bolt")
        #expect(view.name == "Hex bolt")
        #expect(view.tags == ["new"])
        #expect(article("ZNAME, ZSTOCKCOUNT") == ["Hex bolt", "3"])
    }

    @Test func aTextOfOtherCodePointsIsSaved() async throws {
        let id = try await insert("caf\u{e9}")
        try await stack.edit(id, as: Article.self) { $0.name = "cafe\u{301}" }
        #expect(article("length(ZNAME)") == ["5"])
    }

    @Test func aThrownErrorDiscardsEverything() async throws {
        let id = try await insert("Bolt")
        await #expect(throws: Stop.self) {
            try await stack.edit(id, as: Article.self) { draft in
                draft.name = "Nut"
                _ = Vendor(context: draft.context, name: "ACME")
                throw Stop()
            }
        }
        #expect(article("ZNAME") == ["Bolt"])
        #expect(file.integer("SELECT COUNT(*) FROM ZSUPPLIER") == 0)
    }

    @Test func stepsAreUndoneAndRedoneInTheBlock() async throws {
        let id = try await insert("Bolt", count: 1)
        let found = try await stack.edit(id, as: Article.self) { draft in
            draft.note = "first"
            draft.step("Rename") { draft.name = "Nut" }
            draft.step("Count") {
                draft.stockCount = 2
                draft.step { draft.unitPrice = 9 }
            }
            var found = [draft.undoActionName]
            draft.undo()
            found.append("\(draft.name) \(draft.stockCount) \(draft.unitPrice) \(draft.note ?? "")")
            draft.undo()
            draft.undo()
            found.append("\(draft.name) \(draft.note ?? "") \(draft.canUndo) \(draft.hasChanges)")
            draft.redo()
            draft.redo()
            found.append("\(draft.name) \(draft.stockCount) \(draft.note ?? "") \(draft.redoActionName)")
            return found
        }
        #expect(found == ["Count", "Nut 1 1 first", "Bolt  false false", "Nut 1 first Count"])
        #expect(article("ZNAME, ZSTOCKCOUNT, ZNOTE") == ["Nut", "1", "first"])
    }

    @Test func newRelatedObjectsAreAppliedWithTheItemAndTheirIDsFindThem() async throws {
        let id = try await insert("Bolt")
        let vendorID = try await stack.edit(id, as: Article.self) { draft in
            let vendor = Vendor(context: draft.context, name: "ACME")
            draft.vendor = vendor
            vendor.articles.insert(Article(context: draft.context, name: "Nut", unitPrice: 2))
            return vendor.objectID
        }
        #expect(!vendorID.isTemporaryID)
        #expect(
            try await stack.write { try $0.object(with: vendorID, as: Vendor.self).articles.map(\.name).sorted() } == [
                "Bolt", "Nut",
            ])
        #expect(
            file.rows("SELECT a.ZNAME, v.ZNAME FROM ZARTICLE a JOIN ZSUPPLIER v ON a.ZVENDOR = v.Z_PK ORDER BY 1")
                == [["Bolt", "ACME"], ["Nut", "ACME"]])
    }

    @Test func undoneInsertionsAreNotApplied() async throws {
        let id = try await insert("Bolt")
        try await stack.edit(id, as: Article.self) { draft in
            draft.step { draft.vendor = Vendor(context: draft.context, name: "ACME") }
            draft.undo()
            draft.stockCount = 4
        }
        #expect(article("ZSTOCKCOUNT, ZVENDOR") == ["4", nil])
        #expect(file.integer("SELECT COUNT(*) FROM ZSUPPLIER") == 0)
    }

    @Test func anOrderedRelationshipKeepsItsOrder() async throws {
        let shelfID = try await stack.write { context in
            let shelf = Shelf(context: context, label: "A")
            shelf.articles = ["1", "2", "3"].map { Article(context: context, name: $0, unitPrice: 1) }
            return shelf.objectID
        }
        let found = try await stack.edit(shelfID, as: Shelf.self) { draft in
            draft.step { draft.articles.swapAt(0, 2) }
            draft.step { draft.articles.insert(Article(context: draft.context, name: "4", unitPrice: 1), at: 1) }
            draft.step { draft.articles.removeLast() }
            draft.undo()
            return draft.articles.map(\.name)
        }
        #expect(found == ["3", "4", "2", "1"])
        #expect(
            try await stack.write { try $0.object(with: shelfID, as: Shelf.self).articles.map(\.name) } == [
                "3", "4", "2", "1",
            ])
    }

    @Test func writesGoOnBesideAnEdit() async throws {
        let id = try await insert("Bolt")
        let stack = stack
        let written = DispatchSemaphore(value: 0)
        let running = DispatchSemaphore(value: 0)
        let edit = Task {
            try await stack.edit(id, as: Article.self) { draft in
                running.signal()
                written.wait()
                draft.stockCount = 1
            }
        }
        await running.arrive()
        _ = try await insert("Nut")
        written.signal()
        try await edit.value
        #expect(file.rows("SELECT ZNAME, ZSTOCKCOUNT FROM ZARTICLE ORDER BY Z_PK") == [["Bolt", "1"], ["Nut", "0"]])
    }

    @Test func aCancelledEditLeavesNothing() async throws {
        let id = try await insert("Bolt")
        let stack = stack
        let running = DispatchSemaphore(value: 0)
        let task = Task {
            try await stack.edit(id, as: Article.self) { draft in
                draft.name = "Nut"
                running.signal()
                #expect(wait { draft.context.isCancelled })
            }
        }
        await running.arrive()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(article("ZNAME") == ["Bolt"])
    }

    // MARK: What cannot be edited

    @Test func anObjectThatIsGoneOrOfAnotherClassIsRefused() async throws {
        let id = try await insert("Bolt")
        let other = await #expect(throws: (any Error).self) { try await stack.edit(id, as: Shelf.self) { _ in } }
        #expect((other as NSError?)?.code == NSCoreDataError)
        #expect((other as NSError?)?.localizedDescription.contains("Shelf") == true)
        try await stack.write { $0.delete(try $0.object(with: id, as: Article.self)) }
        let gone = await #expect(throws: (any Error).self) { try await stack.edit(id, as: Article.self) { _ in } }
        #expect((gone as NSError?)?.code == NSManagedObjectReferentialIntegrityError)
    }

    @Test func aClosedStackRefusesAndEndsDrafts() async throws {
        let id = try await insert("Bolt")
        let draft = try await stack.draft(of: id, as: Article.self)
        try await draft.perform { $0.name = "Nut" }
        try await stack.close()
        await #expect(throws: DataStackError.closed) { try await draft.perform { $0.name } }
        await #expect(throws: DataStackError.closed) { try await draft.apply() }
        await #expect(throws: DataStackError.closed) { try await stack.edit(id, as: Article.self) { _ in } }
        try await stack.reopen()
        await #expect(throws: DataStackError.closed) { try await draft.apply() }
        #expect(article("ZNAME") == ["Bolt"])
    }

    @Test func changesOfManyRowsAreRefusedInADraft() async throws {
        let id = try await insert("Bolt")
        let error = await #expect(throws: (any Error).self) {
            try await stack.edit(id, as: Article.self) { try $0.context.deleteAll(Article.self) }
        }
        #expect((error as NSError?)?.code == NSCoreDataError)
        await #expect(throws: (any Error).self) {
            try await stack.edit(id, as: Article.self) { draft in
                _ = try draft.context.execute(NSBatchDeleteRequest(objectIDs: [draft.object.objectID]))
            }
        }
        #expect(article("ZNAME") == ["Bolt"])
    }

    // MARK: Conflicts

    @Test func whatOthersChangedMeanwhileIsAConflict() async throws {
        let id = try await insert("Bolt")
        let draft = try await stack.draft(of: id, as: Article.self)
        try await draft.perform { $0.name = "Nut" }
        try await stack.write { context in
            let article = try context.object(with: id, as: Article.self)
            article.name = "Screw"
            article.stockCount = 5
        }
        let error = await #expect(throws: DraftConflictError.self) { try await draft.apply() }
        #expect(error?.conflicts == [DraftConflict(objectID: id, kind: .changed(properties: ["name", "stockCount"]))])
        #expect((error as (any Error)?).map { ($0 as NSError).code } == NSManagedObjectMergeError)
        #expect(error?.localizedDescription.contains("stockCount") == true)
        #expect(article("ZNAME, ZSTOCKCOUNT") == ["Screw", "5"])
        // The draft is as it was, and may overrule the others.
        #expect(try await draft.perform { "\($0.name) \($0.hasChanges)" } == "Nut true")
        try await draft.apply(mergePolicy: .mergeByPropertyObjectTrump)
        #expect(article("ZNAME, ZSTOCKCOUNT") == ["Nut", "5"])
    }

    @Test func whatAnotherProgramChangedIsAConflict() async throws {
        let id = try await insert("Bolt")
        let url = url
        let error = await #expect(throws: DraftConflictError.self) {
            try await stack.edit(id, as: Article.self) { draft in
                draft.stockCount = 1
                #expect(SQLiteFile(url).execute("UPDATE ZARTICLE SET ZNOTE = 'other', Z_OPT = Z_OPT + 1"))
            }
        }
        #expect(error?.conflicts == [DraftConflict(objectID: id, kind: .changed(properties: ["note"]))])
        #expect(article("ZSTOCKCOUNT, ZNOTE") == ["0", "other"])
    }

    @Test func anItemThatOthersDeletedMeanwhileIsAConflict() async throws {
        let id = try await insert("Bolt")
        let draft = try await stack.draft(of: id, as: Article.self)
        try await draft.perform { $0.name = "Nut" }
        try await stack.write { $0.delete(try $0.object(with: id, as: Article.self)) }
        let error = await #expect(throws: DraftConflictError.self) { try await draft.apply() }
        #expect(error?.conflicts == [DraftConflict(objectID: id, kind: .deleted)])
        #expect(file.integer("SELECT COUNT(*) FROM ZARTICLE") == 0)
        draft.discard()
        #expect(file.integer("SELECT COUNT(*) FROM ZARTICLE") == 0)
    }

    @Test func aDraftThatChangedNothingMeetsNoConflict() async throws {
        let id = try await insert("Bolt")
        let draft = try await stack.draft(of: id, as: Article.self)
        #expect(try await draft.perform { $0.name } == "Bolt")
        try await stack.write { $0.delete(try $0.object(with: id, as: Article.self)) }
        try await draft.apply()
        #expect(file.integer("SELECT COUNT(*) FROM ZARTICLE") == 0)
    }

    @Test func aValueThatIsTakenIsAConflictThatCanBeMended() async throws {
        let taken = try await insert("Nut")
        let id = try await insert("Bolt")
        let draft = try await stack.draft(of: id, as: Article.self)
        try await draft.perform { $0.name = "Nut" }
        let error = await #expect(throws: DraftConflictError.self) { try await draft.apply() }
        #expect(error?.conflicts == [DraftConflict(objectID: id, kind: .notUnique(properties: ["name"], other: taken))])
        #expect((error as (any Error)?).map { ($0 as NSError).code } == NSManagedObjectConstraintMergeError)
        try await draft.perform { $0.name = "Nut 2" }
        try await draft.apply()
        #expect(file.column("SELECT ZNAME FROM ZARTICLE ORDER BY Z_PK") == ["Nut", "Nut 2"])
    }

    @Test func aValueThatIsNotValidCanBeMended() async throws {
        let id = try await insert("Bolt")
        let draft = try await stack.draft(of: id, as: Article.self)
        try await draft.perform { $0.stockCount = -1 }
        let error = await #expect(throws: (any Error).self) { try await draft.apply() }
        #expect((error as NSError?)?.code == NSValidationNumberTooSmallError)
        try await draft.undo()
        try await draft.perform { $0.name = "Nut" }
        try await draft.apply()
        #expect(article("ZNAME, ZSTOCKCOUNT") == ["Nut", "0"])
    }

    // MARK: Over a time

    @MainActor @Test func eachBlockIsAStepAndNothingIsSeenElsewhere() async throws {
        let id = try await insert("Bolt")
        let view = try await stack.read { try $0.object(with: id, as: Article.self) }
        let draft = try await stack.draft(of: view)
        try await draft.perform { $0.name = "Nut" }
        try await draft.perform { $0.stockCount = 5 }
        try await draft.perform { $0.note = "many" }
        try await draft.undo()
        try await draft.undo()
        try await draft.redo()
        #expect(try await draft.perform { "\($0.name) \($0.stockCount) \($0.note ?? "")" } == "Nut 5 ")
        #expect(view.name == "Bolt")
        #expect(article("ZNAME") == ["Bolt"])
        try await draft.apply()
        #expect(view.name == "Nut")
        #expect(article("ZNAME, ZSTOCKCOUNT, ZNOTE") == ["Nut", "5", nil])
        await #expect(throws: DataStackError.draftEnded) { try await draft.perform { $0.name } }
        await #expect(throws: DataStackError.draftEnded) { try await draft.apply() }
    }

    @Test func undoGoesOnAfterAnApplicationThatFailed() async throws {
        _ = try await insert("Nut")
        let id = try await insert("Bolt")
        let draft = try await stack.draft(of: id, as: Article.self)
        try await draft.perform { $0.stockCount = 7 }
        try await draft.perform { $0.name = "Nut" }
        await #expect(throws: DraftConflictError.self) { try await draft.apply() }
        try await draft.undo()
        #expect(try await draft.perform { $0.name } == "Bolt")
        try await draft.apply()
        #expect(file.rows("SELECT ZNAME, ZSTOCKCOUNT FROM ZARTICLE ORDER BY Z_PK") == [["Nut", "0"], ["Bolt", "7"]])
    }

    @Test func aDiscardedDraftLeavesNothing() async throws {
        let id = try await insert("Bolt")
        let draft = try await stack.draft(of: id, as: Article.self)
        try await draft.perform { $0.name = "Nut" }
        draft.discard()
        await #expect(throws: DataStackError.draftEnded) { try await draft.undo() }
        #expect(article("ZNAME") == ["Bolt"])
        try await stack.edit(id, as: Article.self) { $0.name = "Screw" }
        #expect(article("ZNAME") == ["Screw"])
    }

    @Test(arguments: StoreKind.allCases) func aNewObjectIsThereWhenItsDraftIsApplied(kind: StoreKind) async throws {
        let stack = DataStack(
            entities: Article.self, Vendor.self, Shelf.self, store: kind.location(folder.file("new.sqlite")))
        let draft = try await stack.draft { context in Article(context: context, name: "New", unitPrice: 1) }
        try await draft.perform { $0.name = "Bolt" }
        #expect(try await stack.read { try $0.count(Article.self) } == 0)
        // Its making is no step.
        try await draft.undo()
        try await draft.undo()
        #expect(try await draft.perform { $0.name } == "New")
        try await draft.redo()
        try await draft.apply()
        let id = draft.objectID
        #expect(try await stack.read { try $0.object(with: id, as: Article.self).name } == "Bolt")
    }

    @Test func twoDraftsDoNotSeeEachOtherAndTheSecondMeetsTheFirst() async throws {
        let id = try await insert("Bolt")
        let first = try await stack.draft(of: id, as: Article.self)
        let second = try await stack.draft(of: id, as: Article.self)
        try await first.perform { $0.stockCount = 1 }
        try await second.perform { $0.stockCount += 2 }
        #expect(try await second.perform { $0.stockCount } == 2)
        try await first.apply()
        await #expect(throws: DraftConflictError.self) { try await second.apply() }
        #expect(article("ZSTOCKCOUNT") == ["1"])
    }

    /// A change that comes while the draft is applied is in it, or is refused.
    @Test func nothingIsLostThatIsChangedWhileADraftIsApplied() async throws {
        for round in 0..<20 {
            let id = try await insert("Bolt \(round)")
            let draft = try await stack.draft(of: id, as: Article.self)
            try await draft.perform { $0.stockCount = 1 }
            async let applied: Void = draft.apply()
            var last: String?
            do {
                for number in 0..<500 {
                    let name = "\(round) \(number)"
                    try await draft.perform { $0.name = name }
                    last = name
                }
            } catch DataStackError.draftEnded {}
            try await applied
            let saved = file.rows("SELECT ZNAME FROM ZARTICLE ORDER BY Z_PK DESC LIMIT 1").first?[0]
            #expect(saved == last ?? "Bolt \(round)")
        }
    }
}
