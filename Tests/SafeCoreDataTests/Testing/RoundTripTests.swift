import SafeCoreData
import SafeCoreDataTesting
import TestSupport
import Testing

/// A class without a macro whose property does not keep what it is given.
final class Forgetful: NSManagedObject {
    @Managed var name: String?
    @Managed var size: Int64

    override func willSave() {
        super.willSave()
        if primitiveValue(forKey: "name") as? String != "forgotten" { setPrimitiveValue("forgotten", forKey: "name") }
    }
}

struct RoundTripTests {
    @Test func classesWithMacrosRoundTrip() throws {
        try assertRoundTrips(Article.self)
        try assertRoundTrips(Vendor.self)
        try assertRoundTrips(Shelf.self)
        try assertRoundTrips(PaperNovel.self)
        try assertRoundTrips(Part.self)
    }

    @Test func classesWithoutMacrosRoundTrip() throws {
        for type in [LibraryAuthor.self, LibraryNovel.self, LibraryTag.self] as [NSManagedObject.Type] {
            #expect(try roundTripDifferences(of: type, in: Library.model()) == [])
        }
    }

    @Test func everyDifferenceIsReported() throws {
        let model = NSManagedObjectModel()
        model.entities = [
            NSEntityDescription(
                "Forgetful",
                [
                    NSAttributeDescription("name", .stringAttributeType, optional: false),
                    NSAttributeDescription("size", .integer64AttributeType, optional: false),
                ])
        ]
        let differences = try roundTripDifferences(of: Forgetful.self, in: model)
        #expect(differences.filter { $0.hasPrefix("name: text") && $0.contains("it is forgotten") }.count == 3, "\(differences)")
        #expect(!differences.contains { $0.hasPrefix("size") })
        #expect(throws: RoundTripFailure.self) { try assertRoundTrips(Forgetful.self, in: model) }
    }

    @Test func aClassWithoutAnEntityIsReported() throws {
        #expect(try roundTripDifferences(of: Forgetful.self).count == 1)
        #expect(try roundTripDifferences(of: Forgetful.self, in: Library.model()).count == 1)
        #expect(try roundTripDifferences(of: PaperMedium.self) == ["PaperMedium is abstract: check its subclasses."])
    }
}
