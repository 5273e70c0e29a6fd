import SafeCoreData
import TestSupport
import Testing

@Entity
class Vessel: NSManagedObject {
    var name: String
    @Relationship(inverse: \Vessel.tugs) var tow: Vessel?
    var tugs: Set<Vessel>
}

@Entity
class Steamer: Vessel {
    var power: Int
}

@Entity
final class Tug: Steamer {
    var pull: Double
}

/// Each of its required values may be what nil reads as.
@Entity
final class Chore: NSManagedObject {
    var title: String
    var isDone: Bool
    var count: Int
    var factor: Double
    var price: Decimal
    var made: Date
    var bytes: Data
    var code: UUID
    var weight: ChoreWeight
    var state: TicketState
    var extent: IncidentExtent
}

enum ChoreWeight: Int { case none, some }

struct SnapshotApplicationTests {
    private static let emptyChore = """
        {"title":"","isDone":false,"count":0,"factor":0,"price":0,"made":0,"bytes":"",\
        "code":"00000000-0000-0000-0000-000000000000","weight":0,"state":"open","extent":{"width":0,"place":"indoors"}}
        """

    @Test func aNewObjectGetsValuesThatNilReadsAs() throws {
        let chores = try EntityStack(Chore.self)
        try chores.context.apply(JSONDecoder().decode(Chore.Snapshot.self, from: Data(Self.emptyChore.utf8)))
        try chores.context.save()
        let row = ["", "0", "0", "0.0", "0", "0", "", "0", "open", #"{"place":"indoors","width":0}"#]
        let columns = """
            SELECT ZTITLE, ZISDONE, ZCOUNT, ZFACTOR, ZPRICE, ZMADE, CAST(ZBYTES AS TEXT), ZWEIGHT, ZSTATE, \
            CAST(ZEXTENT AS TEXT) FROM ZCHORE
            """
        #expect(chores.file.rows(columns) == [row])

        let chore = try #require(try chores.freshContext().all(Chore.self).first)
        let copy = try EntityStack(Chore.self)
        try copy.context.apply(chore.snapshotGraph(depth: 1))
        try copy.context.save()
        #expect(copy.file.rows(columns) == [row])
    }

    /// An object that was never valid does not become so, nor its copy.
    @Test func whatHasNoValueOfItsTypeGivesNone() throws {
        let chores = try EntityStack(Chore.self)
        let chore = Chore(entity: Chore.entity(in: chores.context), insertInto: chores.context)
        let copy = try EntityStack(Chore.self)
        try copy.context.apply(chore.snapshot())
        let error = #expect(throws: NSError.self) { try copy.context.save() }
        let keys = error?.singleErrors.compactMap { $0.userInfo[NSValidationKeyErrorKey] as? String } ?? []
        #expect(Set(keys).isSuperset(of: ["extent", "state"]), "\(keys)")
    }

    /// Texts that differ only in how a letter is composed are two.
    @Test func aTextOfOtherCodePointsIsAChange() throws {
        let stack = try EntityStack(Vessel.self, Steamer.self, Tug.self)
        let vessel = Vessel(context: stack.context, name: "caf\u{e9}")
        try stack.context.save()
        var snapshot = vessel.snapshot()
        let former = snapshot
        snapshot.name = "cafe\u{301}"
        #expect(snapshot != former)
        try stack.context.apply(snapshot)
        #expect(vessel.name.unicodeScalars.count == 5)
        try stack.context.save()
        #expect(stack.file.value("SELECT length(ZNAME) FROM ZVESSEL") == "5")
    }

    @Test func aGraphOfASubclassHasAllItsProperties() throws {
        let fleet = try EntityStack(Vessel.self, Steamer.self, Tug.self)
        let tug = Tug(context: fleet.context, inheriting: .init(inheriting: .init(name: "A"), power: 7), pull: 1.5)
        let other = Tug(
            context: fleet.context, inheriting: .init(inheriting: .init(name: "B", tow: tug), power: 8), pull: 2.5)
        tug.tow = other
        try fleet.context.save()
        let graph = tug.snapshotGraph(depth: 3)
        #expect(graph.root.pull == 1.5)
        #expect((tug as Steamer).snapshotGraph(depth: 0).root.power == 7)

        let copy = try EntityStack(Vessel.self, Steamer.self, Tug.self)
        try copy.context.apply(graph)
        try copy.context.save()
        #expect(
            copy.file.rows(
                "SELECT v.ZNAME, v.ZPOWER, v.ZPULL, t.ZNAME FROM ZVESSEL v JOIN ZVESSEL t ON t.Z_PK = v.ZTOW ORDER BY 1"
            ) == [
                ["A", "7", "1.5", "B"], ["B", "8", "2.5", "A"],
            ])
    }

    let stack: EntityStack
    let context: NSManagedObjectContext

    init() throws {
        stack = try EntityStack(Article.self)
        context = stack.context
    }

    @Test func aSnapshotUpdatesItsObject() throws {
        let bolt = Article(context: context, name: "Bolt", unitPrice: 1, tags: ["a"])
        try context.save()
        var snapshot = bolt.snapshot()
        snapshot.name = "Screw"
        snapshot.quality = .good
        snapshot.tags = ["b"]
        let other = stack.freshContext()
        let applied = try other.apply(snapshot)
        #expect(applied.changedValues().keys.sorted() == ["name", "quality", "tags"])
        try other.save()
        #expect(
            stack.file.rows("SELECT ZNAME, ZQUALITY, CAST(ZTAGS AS TEXT) FROM ZARTICLE") == [["Screw", "2", #"["b"]"#]])
    }

    @Test func equalValuesChangeNothing() throws {
        let vendor = Vendor(context: context, name: "ACME")
        let bolt = Article(
            context: context, name: "Bolt", unitPrice: 1, dimensions: Dimensions(width: 1, height: 1), vendor: vendor)
        _ = Shelf(context: context, label: "top", articles: [bolt])
        try context.save()
        let other = stack.freshContext()
        try other.applyAll([bolt.snapshot(), vendor.snapshot()])
        #expect(!other.hasChanges)
    }

    @Test func aNewSnapshotMakesAnObjectWithInitialValues() throws {
        var snapshot = Article.Snapshot()
        snapshot.name = "Bolt"
        snapshot.unitPrice = 2
        let article = try context.apply(snapshot)
        try context.save()
        #expect(article.name == "Bolt")
        #expect(article.quality == .fair)
        #expect(article.serial > 0)
        #expect(try stack.freshContext().all(Article.self).map(\.name) == ["Bolt"])
    }

    @Test func relatedObjectsAreMadeInAnyOrder() throws {
        var vendor = Vendor.Snapshot()
        vendor.name = "ACME"
        var bolt = Article.Snapshot()
        (bolt.name, bolt.unitPrice, bolt.vendor) = ("Bolt", 1, vendor.objectID)
        var nut = Article.Snapshot()
        (nut.name, nut.unitPrice) = ("Nut", 1)
        vendor.articles = [bolt.objectID, nut.objectID]
        let snapshots: [any EntitySnapshot] = [bolt, vendor, nut]
        try context.applyAll(snapshots)
        try context.save()
        let fetched = try #require(try stack.freshContext().all(Vendor.self).first)
        #expect(Set(fetched.articles.map(\.name)) == ["Bolt", "Nut"])
        #expect(stack.file.value("SELECT COUNT(*) FROM ZARTICLE") == "2")
    }

    @Test func aReferenceToNothingChangesNothing() throws {
        var bolt = Article.Snapshot()
        (bolt.name, bolt.unitPrice) = ("Bolt", 1)
        let missing = ObjectReference.new(Vendor.self)
        bolt.vendor = missing
        #expect(throws: SnapshotError.unknownObjects([missing])) { try context.apply(bolt) }
        #expect(!context.hasChanges)
        #expect(context.insertedObjects.isEmpty)
    }

    @Test func aReferenceToAnotherClassChangesNothing() throws {
        let shelf = Shelf(context: context, label: "top")
        try context.save()
        var bolt = Article.Snapshot()
        (bolt.name, bolt.unitPrice, bolt.vendor) = ("Bolt", 1, ObjectReference(shelf))
        #expect(
            throws: SnapshotError.wrongClass(property: "vendor", reference: ObjectReference(shelf), expected: "Vendor")
        ) {
            try context.apply(bolt)
        }
        #expect(throws: SnapshotError.self) { try context.apply(Vendor.Snapshot(ObjectReference(shelf))) }
        #expect(!context.hasChanges)
    }

    @Test func manySnapshotsAreAppliedAtOnce() throws {
        let articles = (0..<1000).map { Article(context: context, name: "A\($0)", unitPrice: 1) }
        try context.save()
        let snapshots = articles.map { article in
            var snapshot = article.snapshot(\.stockCount)
            snapshot.stockCount = 5
            return snapshot
        }
        let other = stack.freshContext()
        #expect(try other.apply(snapshots).count == 1000)
        try other.save()
        #expect(stack.file.value("SELECT COUNT(*) FROM ZARTICLE WHERE ZSTOCKCOUNT = 5") == "1000")
    }

    @Test func aStoreIsCopiedThroughJSON() throws {
        let vendor = Vendor(context: context, name: "ACME")
        let articles = ["Bolt", "Nut"].map { Article(context: context, name: $0, unitPrice: 1, vendor: vendor) }
        _ = Shelf(context: context, label: "top", articles: [articles[1], articles[0]])
        try context.save()
        let graph = vendor.snapshotGraph(depth: 3)
        #expect(graph.related.count == 3)
        let text = try JSONEncoder().encode(graph)
        let decoded = try JSONDecoder().decode(SnapshotGraph<Vendor.Snapshot>.self, from: text)
        #expect(decoded == graph)

        let copy = try EntityStack(Article.self)
        let copied = try copy.context.apply(decoded)
        try copy.context.save()
        #expect(copied.name == "ACME")
        let shelf = try #require(try copy.freshContext().all(Shelf.self).first)
        #expect(shelf.articles.map(\.name) == ["Nut", "Bolt"])
        #expect(shelf.articles.map { $0.vendor?.name } == ["ACME", "ACME"])
        #expect(copy.file.value("SELECT COUNT(*) FROM ZARTICLE") == "2")
    }

    @Test func aGraphEndsAtItsDepth() throws {
        let vendor = Vendor(context: context, name: "ACME")
        let bolt = Article(context: context, name: "Bolt", unitPrice: 1, vendor: vendor)
        let shelf = Shelf(context: context, label: "top", articles: [bolt])
        try context.save()
        #expect(vendor.snapshotGraph(depth: 0).related.isEmpty)
        let graph = vendor.snapshotGraph(depth: 1)
        #expect(Set(graph.related.keys) == [ObjectReference(bolt)])
        #expect(graph[ObjectReference(bolt), as: Article.Snapshot.self]?.shelf == ObjectReference(shelf))
        #expect(graph[ObjectReference(vendor), as: Vendor.Snapshot.self] == vendor.snapshot())
    }
}
