import SafeCoreData
import TestSupport
import Testing

/// Snapshots of objects that are known by a superclass: nothing of them is lost unseen.
struct SubclassSnapshotTests {
    private let stack: EntityStack
    private let context: NSManagedObjectContext
    private let novel: PaperNovel

    init() throws {
        stack = try EntityStack(PaperNovel.self)
        context = stack.context
        novel = PaperNovel(
            context: context, inheriting: .init(inheriting: .init(title: "Emma"), author: "Austen"), genre: "comedy")
        _ = PaperBook(context: context, inheriting: .init(title: "Elements"), author: "Euclid")
        try context.save()
    }

    private let media = NSFetchRequest<PaperMedium>(entityName: "PaperMedium")
    private let books = NSFetchRequest<PaperBook>(entityName: "PaperBook")
    private let novels = NSFetchRequest<PaperNovel>(entityName: "PaperNovel")

    /// A context whose requests are answered with rows, and one with unsaved changes, whose
    /// requests are answered with objects.
    private func contexts() -> [NSManagedObjectContext] {
        let changed = stack.freshContext()
        _ = PaperBook(context: changed, inheriting: .init(title: "New"), author: "Nobody")
        return [stack.freshContext(), changed]
    }

    // MARK: Requests

    @Test func aRequestForASuperclassIsRefusedWhereASubclassHasMore() throws {
        for context in contexts() {
            let error = #expect(throws: SnapshotError.self) { try context.snapshots(of: media) }
            guard case .losesProperties(let snapshot, let objectClass, let properties)? = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
            #expect(snapshot == "PaperMedium.Snapshot")
            #expect(["PaperBook", "PaperNovel"].contains(objectClass))
            #expect(properties == (objectClass == "PaperBook" ? ["author", "pages"] : ["author", "genre", "pages"]))
            #expect(error?.localizedDescription.contains("\(objectClass).Snapshot.self") == true)
        }
    }

    @Test func aRequestForASubclassWithoutATypeIsRefused() throws {
        for context in contexts() {
            #expect(throws: SnapshotError.self) { try context.snapshots(of: novels) }
        }
    }

    @Test func aRequestWithATypeGivesItsProperties() throws {
        for context in contexts() {
            #expect(
                try context.snapshots(PaperNovel.Snapshot.self, of: novels).map { "\($0.title) \($0.author)" } == [
                    "Emma Austen"
                ])
            #expect(
                try Set(context.snapshots(PaperMedium.Snapshot.self, of: media).map(\.title)).isSuperset(of: [
                    "Emma", "Elements",
                ]))
        }
    }

    @Test func keyPathsSayWhatIsWanted() throws {
        for context in contexts() {
            let titles = try context.snapshots(of: media, \.title)
            #expect(Set(titles.map(\.title)).isSuperset(of: ["Emma", "Elements"]))
            let genres = try context.snapshots(PaperNovel.Snapshot.self, of: novels, \.genre)
            #expect(genres.map(\.genre) == ["comedy"])
            #expect(genres.map(\.propertyNames) == [["genre"]])
        }
    }

    @Test func aKeyPathThatTheTypeHasNoPlaceForIsRefused() throws {
        for context in contexts() {
            #expect(
                throws: SnapshotError.losesProperties(
                    snapshot: "PaperMedium.Snapshot", objectClass: "PaperNovel", properties: ["genre"])
            ) { try context.snapshots(of: novels, \.title, \.genre) }
        }
    }

    @Test func aRequestThatFindsNoSubclassIsServed() throws {
        let request = NSFetchRequest<PaperBook>(entityName: "PaperBook")
        request.includesSubentities = false
        #expect(try stack.freshContext().snapshots(PaperBook.Snapshot.self, of: request).map(\.author) == ["Euclid"])
        let none = NSFetchRequest<PaperMedium>(entityName: "PaperMedium")
        none.predicate = NSPredicate(value: false)
        #expect(try stack.freshContext().snapshots(of: none).isEmpty)
    }

    @Test func everyObjectIsShownInTheTypeOfItsOwnClass() throws {
        for context in contexts() {
            let snapshots = try context.snapshotsOfOwnClasses(of: media)
            let novels = snapshots.compactMap { $0 as? PaperNovel.Snapshot }
            #expect(novels.map { "\($0.title) \($0.author) \($0.genre ?? "")" } == ["Emma Austen comedy"])
            #expect(snapshots.compactMap { $0 as? PaperBook.Snapshot }.contains { $0.author == "Euclid" })
        }
    }

    @Test func snapshotsOfOwnClassesHaveTheirRelationships() throws {
        let fleet = try EntityStack(Vessel.self, Steamer.self, Tug.self)
        let tug = Tug(context: fleet.context, inheriting: .init(inheriting: .init(name: "A"), power: 7), pull: 1.5)
        let towed = Vessel(context: fleet.context, name: "B", tow: tug)
        try fleet.context.save()
        let snapshots = try fleet.freshContext().snapshotsOfOwnClasses(of: Vessel.fetchRequest())
        let found = try #require(snapshots.compactMap { $0 as? Tug.Snapshot }.first)
        #expect(found.tugs == [ObjectReference(towed)])
        #expect(found.pull == 1.5)
    }

    // MARK: Views

    @MainActor @Test(arguments: [true, false])
    func aReadGivesSnapshotsOfATypeAndOfKeyPaths(isInMemory: Bool) async throws {
        let folder = try TemporaryFolder()
        let stack = DataStack(
            entities: PaperNovel.self, store: isInMemory ? .inMemory : .file(folder.file("media.sqlite")))
        try await stack.write { context in
            _ = PaperNovel(
                context: context, inheriting: .init(inheriting: .init(title: "Emma"), author: "Austen"), genre: "comedy"
            )
        }
        let novels = novels
        let media = media
        #expect(
            try await stack.read { try $0.snapshots(PaperNovel.Snapshot.self, of: novels) }.map(\.author) == ["Austen"])
        #expect(
            try await stack.read { try $0.snapshots(PaperNovel.Snapshot.self, of: novels, \.genre) }.map(
                \.propertyNames) == [["genre"]])
        #expect(try await stack.read { try $0.snapshots(of: media, \.title) }.map(\.title) == ["Emma"])
        #expect(
            try await stack.read { try $0.snapshotsOfOwnClasses(of: media) }.map { $0 is PaperNovel.Snapshot } == [true]
        )
        await #expect(throws: SnapshotError.self) { try await stack.read { try $0.snapshots(of: media) } }
        await #expect(throws: SnapshotError.self) { try await stack.read { try $0.snapshots(of: novels) } }
    }

    @Test func aViewOfAHierarchyGivesASnapshotOfATypeOrOfItsOwnClass() throws {
        let view = ReadOnly(novel)
        #expect(throws: SnapshotError.self) { try view.snapshot() }
        #expect(throws: SnapshotError.self) { try ReadOnly<PaperMedium>(view)?.snapshot() }
        #expect(view.snapshot(PaperNovel.Snapshot.self) == novel.snapshot())
        #expect(view.snapshot(PaperNovel.Snapshot.self, \.genre).propertyNames == ["genre"])
        let medium = try #require(ReadOnly<PaperMedium>(view))
        #expect(medium.snapshotOfOwnClass as? PaperNovel.Snapshot == novel.snapshot())
        #expect((novel as PaperMedium).snapshotOfOwnClass as? PaperNovel.Snapshot == novel.snapshot())
    }

    @Test func aViewOfAnObjectOfTheRootClassGivesItsSnapshot() throws {
        let fleet = try EntityStack(Vessel.self, Tug.self)
        let vessel = Vessel(context: fleet.context, name: "A")
        try fleet.context.save()
        #expect(try ReadOnly(vessel).snapshot() == vessel.snapshot())
    }

    // MARK: Graphs and applying

    @Test func aGraphOfASuperclassKeepsAllProperties() throws {
        var graph = (novel as PaperMedium).snapshotGraph(depth: 0)
        #expect(graph[graph.root.objectID, as: PaperNovel.Snapshot.self]?.genre == "comedy")
        graph.root.title = "Emma, revised"
        let decoded = try JSONDecoder().decode(
            SnapshotGraph<PaperMedium.Snapshot>.self, from: JSONEncoder().encode(graph))
        #expect(decoded == graph)
        let copy = try EntityStack(PaperNovel.self)
        #expect(try copy.context.apply(decoded) is PaperNovel)
        try copy.context.save()
        #expect(
            copy.file.rows("SELECT ZTITLE, ZAUTHOR, ZGENRE FROM ZPAPERMEDIUM") == [
                ["Emma, revised", "Austen", "comedy"]
            ])
    }

    @Test func aGraphOfAViewKeepsAllProperties() throws {
        let graph = try #require(ReadOnly<PaperMedium>(ReadOnly(novel))).snapshotGraph(depth: 1)
        #expect(graph[ObjectReference(novel), as: PaperNovel.Snapshot.self] == novel.snapshot())
    }

    @Test func aGraphOfAViewHasARootOfTheTypeThatIsNamed() throws {
        let view = ReadOnly(novel)
        #expect(view.snapshotGraph(PaperNovel.Snapshot.self, depth: 1).root == novel.snapshot())
        let medium = try #require(ReadOnly<PaperMedium>(view))
        #expect(medium.snapshotGraph(depth: 0).rootOfOwnClass as? PaperNovel.Snapshot == novel.snapshot())
        let data = try JSONEncoder().encode(medium.snapshotGraph(depth: 0))
        let decoded = try JSONDecoder().decode(SnapshotGraph<PaperMedium.Snapshot>.self, from: data)
        #expect(decoded.rootOfOwnClass as? PaperNovel.Snapshot == novel.snapshot())
        let whole: PaperNovel.Snapshot = novel.snapshot()
        #expect(SnapshotGraph(root: whole, related: []).rootOfOwnClass as? PaperNovel.Snapshot == whole)
    }

    @Test func aSuperclassesSnapshotMakesNoObjectWithoutTheRest() throws {
        let media = try stack.freshContext().snapshots(PaperMedium.Snapshot.self, of: media)
        let copy = try EntityStack(PaperNovel.self)
        #expect(throws: SnapshotError.self) { try copy.context.apply(media) }
        #expect(!copy.context.hasChanges)
        // Together with the snapshots that have the rest it does no harm, nor does it for objects
        // that are there.
        let all = try stack.freshContext().snapshotsOfOwnClasses(of: self.media)
        try copy.context.applyAll(all + media)
        try copy.context.save()
        #expect(copy.file.column("SELECT ZAUTHOR FROM ZPAPERMEDIUM ORDER BY 1") == ["Austen", "Euclid"])
        let other = stack.freshContext()
        var known = try #require(media.first { $0.title == "Emma" })
        known.title = "Persuasion"
        try other.apply(known)
        try other.save()
        #expect(
            stack.file.rows("SELECT ZTITLE, ZGENRE FROM ZPAPERMEDIUM WHERE ZAUTHOR = 'Austen'") == [
                ["Persuasion", "comedy"]
            ])
    }
}
