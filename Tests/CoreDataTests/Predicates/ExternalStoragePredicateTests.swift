import CoreData
import TestSupport
import Testing

/// Requests that look at attributes with external storage: short values lie in the row behind a
/// marker, long ones in files.
struct ExternalStoragePredicateTests {
    private static let values: [Data?] = [
        Data(), Data([1]), Data([2]), Data([1, 2]), Data("photo".utf8), Data(repeating: 7, count: 150_000),
        Data(repeating: 8, count: 150_000),
        Data(repeating: 7, count: 150_000), nil, Data([1]),
    ]

    private struct Album {
        let stack: TestStack

        init() throws {
            let photo = NSEntityDescription(
                "Photo", class: "NSManagedObject",
                [
                    NSAttributeDescription("number", .integer32AttributeType),
                    NSAttributeDescription("image", .binaryDataAttributeType),
                ])
            photo.attributesByName["image"]?.allowsExternalBinaryDataStorage = true
            let album = NSEntityDescription(
                "Album", class: "NSManagedObject", [NSAttributeDescription("name", .stringAttributeType)])
            relate(album, "photos", toMany: true, photo, inverse: "album")
            stack = try TestStack([photo, album])
            let owner = NSManagedObject(entity: stack.entity("Album"), insertInto: stack.context)
            owner.setValue("all", forKey: "name")
            for (number, value) in ExternalStoragePredicateTests.values.enumerated() {
                let photo = NSManagedObject(entity: stack.entity("Photo"), insertInto: stack.context)
                photo.setValue(number, forKey: "number")
                photo.setValue(value, forKey: "image")
                photo.setValue(owner, forKey: "album")
            }
            try stack.context.save()
            let empty = NSManagedObject(entity: stack.entity("Album"), insertInto: stack.context)
            empty.setValue("empty", forKey: "name")
            try stack.context.save()
        }

        func numbers(_ format: String, _ arguments: [Any] = [], sort: [NSSortDescriptor] = []) throws -> [Int] {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Photo")
            request.predicate = NSPredicate(format: format, argumentArray: arguments)
            request.sortDescriptors = sort + [NSSortDescriptor(key: "number", ascending: true)]
            return try stack.newContext().fetch(request).map {
                ($0.value(forKey: "number") as? Int32).map(Int.init) ?? -1
            }
        }

        func dictionaries(_ change: (NSFetchRequest<NSDictionary>) -> Void) throws -> [NSDictionary] {
            let request = NSFetchRequest<NSDictionary>(entityName: "Photo")
            request.resultType = .dictionaryResultType
            change(request)
            return try stack.newContext().fetch(request)
        }

        func albums(_ format: String, _ arguments: [Any]) throws -> [String?] {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Album")
            request.predicate = NSPredicate(format: format, argumentArray: arguments)
            return try stack.newContext().fetch(request).map { $0.value(forKey: "name") as? String }
        }
    }

    private static let large = Data(repeating: 7, count: 150_000)

    @Test func comparisonsSeeTheValueAndNotItsMarker() throws {
        let album = try Album()
        #expect(try album.numbers("image == %@", [Data([1])]) == [1, 9])
        #expect(try album.numbers("image == %@", [Self.large]) == [5, 7])
        #expect(try album.numbers("image != %@", [Self.large]) == [0, 1, 2, 3, 4, 6, 8, 9])
        #expect(try album.numbers("image == %@", [Data()]) == [0])
        #expect(try album.numbers("image > %@", [Data([1, 2])]) == [2, 4, 5, 6, 7])
        #expect(try album.numbers("image IN %@", [[Data([2]), Self.large]]) == [2, 5, 7])
        #expect(try album.numbers("image IN %@", [(0..<30).map { Data([UInt8($0)]) }]) == [1, 2, 9])
        #expect(try album.numbers("%@ == image", [Data([2])]) == [2])
        #expect(try album.numbers("image BETWEEN %@", [[Data([1]), Data([2])]]) == [1, 2, 3, 9])
    }

    @Test func nilIsTold() throws {
        let album = try Album()
        #expect(try album.numbers("image == nil") == [8])
        #expect(try album.numbers("image != nil AND number > 6") == [7, 9])
        #expect(try album.numbers("image IN %@", [[NSNull(), Data([2])]]) == [2, 8])
    }

    @Test func relationshipsLeadToTheValue() throws {
        let album = try Album()
        #expect(try album.albums("ANY photos.image == %@", [Self.large]) == ["all"])
        #expect(try album.albums("ANY photos.image == %@", [Data([9])]) == [])
        #expect(try album.albums("SUBQUERY(photos, $p, $p.image == %@).@count == 2", [Data([1])]) == ["all"])
        #expect(try album.albums("photos.image.@count == 7", []) == ["all"])
        #expect(try album.albums("photos.@max.image == %@", [Data("photo".utf8)]) == ["all"])
        #expect(try album.numbers("album.photos.@min.image == image") == [0])
    }

    @Test func sortsGoByTheValue() throws {
        let album = try Album()
        let sorted = try album.numbers("TRUEPREDICATE", sort: [NSSortDescriptor(key: "image", ascending: true)])
        #expect(sorted == [8, 0, 1, 9, 3, 2, 5, 7, 6, 4])
    }

    @Test func dictionariesHoldTheValue() throws {
        let album = try Album()
        let plain = try album.dictionaries {
            $0.propertiesToFetch = ["number", "image"]
            $0.sortDescriptors = [NSSortDescriptor(key: "number", ascending: true)]
        }
        #expect(plain.map { $0["image"] as? Data } == Self.values)
        let distinct = try album.dictionaries {
            $0.propertiesToFetch = ["image"]
            $0.returnsDistinctResults = true
        }
        #expect(Set(distinct.compactMap { $0["image"] as? Data }) == Set(Self.values.compactMap(\.self)))
        #expect(distinct.count == 8)
        let count = NSExpressionDescription("count", NSExpression(format: "count:(number)"), .integer64AttributeType)
        let groups = try album.dictionaries {
            $0.propertiesToFetch = ["image", count]
            $0.propertiesToGroupBy = ["image"]
        }
        #expect(groups.first { $0["image"] as? Data == Self.large }?["count"] as? Int == 2)
        #expect(groups.first { $0["image"] as? Data == Data([1]) }?["count"] as? Int == 2)
        #expect(groups.count == 8)
        let greatest = NSExpressionDescription(
            "greatest", NSExpression(format: "max:(image)"), .binaryDataAttributeType)
        #expect(
            try album.dictionaries { $0.propertiesToFetch = [greatest] }.first?["greatest"] as? Data
                == Data("photo".utf8))
    }
}
