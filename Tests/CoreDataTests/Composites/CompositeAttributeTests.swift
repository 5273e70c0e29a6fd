import CoreData
import TestSupport
import Testing

final class CompositeItem: NSManagedObject {
    @Managed var name: String?
    @Managed var size: [String: Any]?
}

@Suite(.everyStore) struct CompositeAttributeTests {
    let stack: TestStack

    init() throws {
        stack = try TestStack(Self.entities())
        try Self.fill(stack.context)
    }

    private static func entities() -> [NSEntityDescription] {
        let unit = NSCompositeAttributeDescription()
        unit.name = "unit"
        unit.elements = [.init("symbol", .stringAttributeType), .init("factor", .doubleAttributeType)]
        let size = NSCompositeAttributeDescription()
        size.name = "size"
        size.elements = [
            .init("width", .integer32AttributeType), .init("height", .integer32AttributeType), unit,
            .init("measured", .dateAttributeType), .init("code", .UUIDAttributeType),
            .init("isExact", .booleanAttributeType), .init("price", .decimalAttributeType),
        ]
        return [NSEntityDescription("Item", class: "CompositeItem", [.init("name", .stringAttributeType), size])]
    }

    private static let code = UUID()

    private static func fill(_ context: NSManagedObjectContext) throws {
        for (name, width) in [("narrow", 1), ("wide", 9)] {
            let item = CompositeItem(context: context)
            item.name = name
            item.size = ["width": width, "height": 2, "unit": ["symbol": "cm", "factor": 0.01]]
            guard name == "wide" else { continue }
            item.size?["measured"] = Date(timeIntervalSinceReferenceDate: 1000)
            item.size?["code"] = code
            item.size?["isExact"] = true
            item.size?["price"] = NSDecimalNumber(string: "1.25")
        }
        CompositeItem(context: context).name = "shapeless"
        try context.save()
    }

    private static func request(_ predicate: NSPredicate?) -> NSFetchRequest<CompositeItem> {
        let request = NSFetchRequest<CompositeItem>(entityName: "Item")
        request.predicate = predicate
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        return request
    }

    /// Predicates on elements, with the names of the items that match.
    private static var predicates: [(NSPredicate, [String])] {
        [
            (NSPredicate(format: "size.width > 5"), ["wide"]),
            (NSPredicate(format: "size.width > 100"), []),
            (NSPredicate(format: "size.height > 100"), []),
            (NSPredicate(format: "size.unit.symbol == 'cm' AND size.width == 9"), ["wide"]),
            (NSPredicate(format: "size.unit.symbol BEGINSWITH 'c'"), ["narrow", "wide"]),
            (NSPredicate(format: "size.unit.symbol ==[c] 'CM'"), ["narrow", "wide"]),
            (NSPredicate(format: "size.width BETWEEN {0, 3}"), ["narrow"]),
            (NSPredicate(format: "size.width IN {1, 2, 3}"), ["narrow"]),
            (NSPredicate(format: "size.unit.factor < 0.5 AND size.width + size.height > 10"), ["wide"]),
            (NSPredicate(format: "size.width == nil"), ["shapeless"]),
            (NSPredicate(format: "size.measured < %@", Date(timeIntervalSinceReferenceDate: 2000) as NSDate), ["wide"]),
            (NSPredicate(format: "size.code == %@", code as NSUUID), ["wide"]),
            (NSPredicate(format: "size.isExact == YES"), ["wide"]),
            (NSPredicate(format: "size.price == 1.25 AND size.price < %@", NSDecimalNumber(string: "1.3")), ["wide"]),
        ]
    }

    @Test("330: a composite attribute is a dictionary of its elements") func compositesAreDictionaries() throws {
        let request = NSFetchRequest<CompositeItem>(entityName: "Item")
        request.predicate = NSPredicate(format: "name == 'wide'")
        let item = try #require(try stack.newContext().fetch(request).first)
        let size = try #require(item.size)
        #expect(size["width"] as? Int == 9)
        #expect(size["height"] as? Int == 2)
        let unit = try #require(size["unit"] as? [String: Any])
        #expect(unit["symbol"] as? String == "cm")
        #expect(unit["factor"] as? Double == 0.01)
    }

    @Test("330: predicates reach the elements of composite attributes", .foldsTexts) func predicatesReachElements()
        throws
    {
        for (predicate, names) in Self.predicates {
            let found = try stack.newContext().fetch(Self.request(predicate))
            #expect(found.map(\.name) == names, "\(predicate)")
        }
    }

    @Test("330: predicates on elements see unsaved changes") func unsavedElements() throws {
        let context = stack.newContext()
        let narrow = try #require(try context.fetch(Self.request(NSPredicate(format: "name == 'narrow'"))).first)
        narrow.size?["width"] = 50
        let found = try context.fetch(Self.request(NSPredicate(format: "size.width > 5")))
        #expect(found.map(\.name) == ["narrow", "wide"])
    }

    @Test("330: results are sorted by elements") func sortingByElements() throws {
        let request = Self.request(NSPredicate(format: "size != nil"))
        for (ascending, names) in [(true, ["narrow", "wide"]), (false, ["wide", "narrow"])] {
            request.sortDescriptors = [NSSortDescriptor(key: "size.width", ascending: ascending)]
            #expect(try stack.newContext().fetch(request).map(\.name) == names)
        }
    }

    @Test("330: dictionaries have elements as columns") func elementsAsColumns() throws {
        let request = NSFetchRequest<NSDictionary>(entityName: "Item")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = ["name", "size.width"]
        request.predicate = NSPredicate(format: "size.width == 9")
        #expect(try stack.context.fetch(request) == [["name": "wide", "size.width": 9]])
    }

    @Test("330: an element that does not exist is named") func unknownElements() throws {
        for format in ["size.depth > 5", "size.unit.name == 'cm'", "size.width.height == 1"] {
            let error = errorThrown { _ = try stack.context.fetch(Self.request(NSPredicate(format: format))) }
            #expect(error?.code == CocoaError.coreData.rawValue)
            #expect(error?.localizedDescription.contains("no element") == true, "\(String(describing: error))")
        }
    }

    @Test("330: a new dictionary replaces the elements") func compositesAreReplaced() throws {
        let request = NSFetchRequest<CompositeItem>(entityName: "Item")
        request.predicate = NSPredicate(format: "name == 'narrow'")
        let item = try #require(try stack.context.fetch(request).first)
        item.size = ["width": 70]
        #expect(item.hasPersistentChangedValues)
        try stack.context.save()
        let stored = try #require(try stack.newContext().fetch(request).first)
        #expect(stored.size?["width"] as? Int == 70)
        #expect(stored.size?["height"] == nil)
    }
}

struct CompositeElementStopTests {
    @Test("331: composites may not have elements of undefined or object ID type")
    func someElementTypesAreNotAllowed() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let size = NSCompositeAttributeDescription()
            size.name = "size"
            size.elements = [.init("other", .objectIDAttributeType)]
            let item = NSEntityDescription("Item", class: "NSManagedObject", [size])
            _ = try TestStack([item])
        }
        #expect(Complaint(result?.standardErrorContent).lacks("'other'", "object ID", "composite attribute") == [])
    }
}
