import CoreData
import TestSupport
import Testing

/// Different dictionaries of values that stores keep in a form of their own: elements of
/// composites, archives, bytes that may lie in files.
@Suite(.everyStore) struct DistinctValueTests {
    private let stack: TestStack

    /// Bytes that a file of their own is made for, where the store keeps files.
    private static let large = Data(repeating: 7, count: 200_000)

    init() throws {
        let place = NSCompositeAttributeDescription()
        place.name = "place"
        place.elements = [.init("city", .stringAttributeType), .init("floor", .integer32AttributeType)]
        let words = NSAttributeDescription("words", .transformableAttributeType)
        words.valueTransformerName = "NSSecureUnarchiveFromData"
        let picture = NSAttributeDescription("picture", .binaryDataAttributeType)
        picture.allowsExternalBinaryDataStorage = true
        stack = try TestStack([
            NSEntityDescription(
                "Photo", class: "NSManagedObject",
                [.init("title", .stringAttributeType), .init("rank", .integer32AttributeType), place, words, picture])
        ])
        let rows: [(title: String, rank: Int, city: String?, floor: Int, words: [String], picture: Data)] = [
            ("a", 4, "Rome", 1, ["x"], Data([1])), ("a", 1, "Oslo", 2, ["x"], Self.large),
            ("b", 3, "Rome", 2, ["y"], Self.large),
            ("b", 2, nil, 3, ["x"], Data([1])), ("c", 5, "Oslo", 2, ["y"], Data([2])),
        ]
        for row in rows {
            let photo = NSEntityDescription.insertNewObject(forEntityName: "Photo", into: stack.context)
            photo.setValue(row.title, forKey: "title")
            photo.setValue(row.rank, forKey: "rank")
            var place: [String: Any] = ["floor": row.floor]
            place["city"] = row.city
            photo.setValue(place, forKey: "place")
            photo.setValue(row.words as NSArray, forKey: "words")
            photo.setValue(row.picture, forKey: "picture")
        }
        try stack.context.save()
    }

    /// - Parameter keys: with a sign where the order is descending.
    private func fetch(_ columns: [String], by keys: [String], limit: Int = 0) throws -> [String] {
        let request = NSFetchRequest<NSDictionary>(entityName: "Photo")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = columns
        request.returnsDistinctResults = true
        request.sortDescriptors = keys.map { key in
            NSSortDescriptor(key: String(key.drop { $0 == "-" }), ascending: !key.hasPrefix("-"))
        }
        request.fetchLimit = limit
        return try stack.context.fetch(request).map { row in columns.map { Self.text(row[$0]) }.joined(separator: " ") }
    }

    private static func text(_ value: Any?) -> String {
        switch value {
        case nil: "-"
        case let data as Data: "\(data.count)"
        case let words as NSArray: words.componentsJoined(by: "+")
        case let number as Int: "\(number)"
        default: "\(value ?? "")"
        }
    }

    @Test func elementsAreShownAndOrderedBy() throws {
        #expect(try fetch(["place.city"], by: ["rank"]) == ["Oslo", "-", "Rome"])
        #expect(try fetch(["place.city"], by: ["-rank"]) == ["Oslo", "Rome", "-"])
        #expect(
            try fetch(["place.city", "place.floor"], by: ["place.floor", "-place.city"]) == [
                "Rome 1", "Rome 2", "Oslo 2", "- 3",
            ])
        #expect(try fetch(["title"], by: ["place.city", "rank"]) == ["b", "a", "c"])
        #expect(try fetch(["title"], by: ["-place.floor", "-rank"]) == ["b", "c", "a"])
        #expect(try fetch(["title"], by: ["place.city", "rank"], limit: 2) == ["b", "a"])
    }

    @Test func archivesAreOneWhenTheirValuesAre() throws {
        #expect(try fetch(["words"], by: ["rank"]) == ["x", "y"])
        #expect(try fetch(["words"], by: ["-rank"]) == ["y", "x"])
        #expect(try fetch(["title", "words"], by: ["rank"]) == ["a x", "b x", "b y", "c y"])
        #expect(try fetch(["words"], by: ["title", "-rank"], limit: 1) == ["x"])
    }

    @Test func bytesInFilesAreOneWithNoOthers() throws {
        // Two files with the same bytes are two values for a file of SQLite, which has their names.
        let large = "\(Self.large.count)"
        let found = try fetch(["picture"], by: ["rank"])
        #expect(found.filter { $0 != large } == ["1", "1"])
        #expect((1...2).contains(found.count { $0 == large }))
        #expect(found.first == large)
        #expect(try fetch(["title", "picture"], by: ["-rank"]) == ["c 1", "a 1", "b \(large)", "b 1", "a \(large)"])
    }

    @Test func wholeCompositesAreComparedByAllTheirElements() throws {
        let found = try fetch(["place"], by: ["rank"])
        #expect(found.count == 4)
    }
}
