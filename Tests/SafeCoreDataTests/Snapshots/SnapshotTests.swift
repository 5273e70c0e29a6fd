import SafeCoreData
import TestSupport
import Testing

struct SnapshotTests {
    let stack: EntityStack
    let context: NSManagedObjectContext

    init() throws {
        stack = try EntityStack(Article.self)
        context = stack.context
    }

    /// A vendor of two articles, one of them on a shelf; saved.
    private func stock() throws -> (vendor: Vendor, bolt: Article, nut: Article) {
        let vendor = Vendor(context: context, name: "ACME")
        let bolt = Article(
            context: context, name: "Bolt", unitPrice: 0.12, stockCount: 7, note: "steel", quality: .good, unit: .piece,
            dimensions: Dimensions(width: 1, height: 2), tags: ["a", "b"], vendor: vendor)
        let nut = Article(context: context, name: "Nut", unitPrice: 0.05, vendor: vendor)
        _ = Shelf(context: context, label: "top", articles: [nut, bolt])
        try context.save()
        return (vendor, bolt, nut)
    }

    private func articles(_ format: String = "TRUEPREDICATE") -> NSFetchRequest<Article> {
        let request = NSFetchRequest<Article>(entityName: "Article")
        request.predicate = NSPredicate(format: format)
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        return request
    }

    @Test func aSnapshotHasTheValuesOfTheObject() throws {
        let (vendor, bolt, _) = try stock()
        let snapshot = bolt.snapshot()
        #expect(snapshot.objectID == ObjectReference(bolt))
        #expect(snapshot.name == "Bolt")
        #expect(snapshot.unitPrice == Decimal(string: "0.12"))
        #expect(snapshot.stockCount == 7)
        #expect(snapshot.note == "steel")
        #expect(snapshot.quality == .good)
        #expect(snapshot.unit == .piece)
        #expect(snapshot.dimensions == Dimensions(width: 1, height: 2))
        #expect(snapshot.tags == ["a", "b"])
        #expect(snapshot.vendor == ObjectReference(vendor))
        #expect(vendor.snapshot().articles == Set(vendor.articles.map { ObjectReference($0) }))
        #expect(bolt.shelf?.snapshot().articles == bolt.shelf?.articles.map { ObjectReference($0) })
    }

    @Test func aSnapshotIsPrintedAsItsValues() throws {
        let shelf = Shelf(context: context, label: "top")
        let article = Article(context: context, name: "Bolt", unitPrice: 0.5, quality: .good, shelf: shelf)
        try context.save()
        let text = article.snapshot(\.name, \.unitPrice, \.note, \.quality, \.shelf).description
        #expect(
            text
                == "Article.Snapshot(\(ObjectReference(article)), name: \"Bolt\", unitPrice: 0.5, note: nil, "
                + "quality: 2, "
                + "shelf: \(ObjectReference(shelf)))")
    }

    @Test func snapshotsFromRowsEqualThoseOfObjects() throws {
        let (vendor, bolt, nut) = try stock()
        let fresh = stack.freshContext()
        #expect(try fresh.snapshots(of: articles()) == [bolt.snapshot(), nut.snapshot()])
        #expect(try fresh.snapshots(of: articles("stockCount > 5")) == [bolt.snapshot()])
        #expect(try fresh.snapshots(of: NSFetchRequest<Vendor>(entityName: "Supplier")) == [vendor.snapshot()])
        #expect(try fresh.snapshots(of: NSFetchRequest<Shelf>(entityName: "Shelf")).first == bolt.shelf?.snapshot())
        #expect(fresh.registeredObjects.isEmpty)
    }

    @Test func everyKindOfPropertyIsTheSameFromARowAndFromAnObject() throws {
        let stack = try EntityStack(Everything.self)
        let object = Everything.sample(in: stack.context)
        object.strings = ["x"]
        object.optionalURL = object.url
        object.optionalNumber = 2
        object.optionalLevel = .low
        object.optionalShape = .square(side: 3)
        try stack.context.save()
        let request = NSFetchRequest<Everything>(entityName: "Everything")
        let row = try #require(try stack.freshContext().snapshots(of: request).first)
        #expect(row == object.snapshot())
        #expect(row.u64 == .max)
        #expect(row.i8 == -8)
        #expect(row.url == object.url)
        #expect(row.number == 3.25)
        #expect(row.level == .high)
        #expect(row.shape == .circle(radius: 2))
        #expect(row.optionalDouble == nil)
        let decoded = try JSONDecoder().decode(Everything.Snapshot.self, from: JSONEncoder().encode(row))
        #expect(decoded == row)
    }

    @Test func unsavedChangesAreInSnapshots() throws {
        let (_, bolt, nut) = try stock()
        bolt.name = "Screw"
        nut.stockCount = 3
        #expect(try context.snapshots(of: articles()).map(\.name) == ["Nut", "Screw"])
        #expect(try context.snapshots(of: articles()).map(\.stockCount) == [3, 7])
    }

    @Test func aPartialSnapshotHasOnlyWhatWasAskedFor() throws {
        let (_, bolt, _) = try stock()
        let rows = try stack.freshContext().snapshots(of: articles("name == 'Bolt'"), \.name, \.vendor)
        let snapshot = try #require(rows.first)
        #expect(snapshot == bolt.snapshot(\.name, \.vendor))
        #expect(snapshot.name == "Bolt")
        #expect(snapshot.propertyNames == ["name", "vendor"])
        #expect(snapshot.has(\.vendor))
        #expect(!snapshot.has(\.stockCount))
        let text = String(decoding: try JSONEncoder().encode(snapshot), as: UTF8.self)
        #expect(!text.contains("stockCount"))
    }

    @Test func snapshotsOfSubclassesHaveTheInheritedProperties() throws {
        let stack = try EntityStack(PaperNovel.self)
        let values = PaperBook.InitialValues(inheriting: .init(title: "Emma"), author: "Austen")
        let novel = PaperNovel(context: stack.context, inheriting: values, genre: "comedy")
        try stack.context.save()
        let snapshot: PaperNovel.Snapshot = novel.snapshot()
        #expect(snapshot.title == "Emma")
        #expect(snapshot.author == "Austen")
        #expect(snapshot.genre == "comedy")
        #expect(snapshot.objectID == ObjectReference(novel))
        let fresh = stack.freshContext()
        let request = NSFetchRequest<PaperNovel>(entityName: "PaperNovel")
        #expect(try fresh.snapshots(PaperNovel.Snapshot.self, of: request) == [snapshot])
        let media = try fresh.snapshots(PaperMedium.Snapshot.self, of: NSFetchRequest(entityName: "PaperMedium"))
        #expect(media.map(\.title) == ["Emma"])
        let text = try JSONEncoder().encode(snapshot)
        #expect(try JSONDecoder().decode(PaperNovel.Snapshot.self, from: text) == snapshot)
    }

    @Test func referencesAreReadAndWrittenAsURIs() throws {
        let (_, bolt, _) = try stock()
        let reference = ObjectReference(bolt)
        #expect(reference.uri == bolt.objectID.uriRepresentation())
        #expect(ObjectReference(uri: reference.uri) == reference)
        #expect(!reference.isTemporary)
        #expect(ObjectReference(uri: URL(fileURLWithPath: "/a/b")) == nil)
        #expect(ObjectReference.new(Article.self) != ObjectReference.new(Article.self))
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([ObjectReference].self, from: Data(#"["x"]"#.utf8))
        }
    }

    @Test func anUnknownRawValueIsNotDecoded() throws {
        let (_, bolt, _) = try stock()
        let text = String(decoding: try JSONEncoder().encode(bolt.snapshot(\.unit)), as: UTF8.self)
        let changed = text.replacingOccurrences(of: "piece", with: "barrel")
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(Article.Snapshot.self, from: Data(changed.utf8))
        }
    }
}
