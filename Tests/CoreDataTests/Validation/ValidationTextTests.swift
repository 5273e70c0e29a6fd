@testable import CoreData
import TestSupport
import Testing

/// The failure reasons of validation errors, which are texts for the user of a form.
struct ValidationTextTests {
    @Test(arguments: [
        ("name", "Name"), ("unitPrice", "Unit price"), ("articleID", "Article ID"), ("URLString", "URL string"),
        ("zip_code", "Zip code"),
        ("address.city", "Address city"), ("x", "X"), ("line2", "Line2"), ("", ""), ("größe", "Größe"),
        ("isHTMLPage", "Is HTML page"),
    ])
    func namesOfPropertiesBecomeWords(name: String, words: String) { #expect(ValidationText.name(name) == words) }

    private static let day = Date(timeIntervalSinceReferenceDate: 86_400 * 365)

    private func errors(
        _ validations: [(NSPredicate, Any)], _ type: NSAttributeType, _ value: Any?, optional: Bool = true
    ) throws
        -> NSError
    {
        let attribute = NSAttributeDescription("unitName", type, optional: optional)
        attribute.setValidation(predicates: validations.map(\.0), warnings: validations.map(\.1))
        let stack = try TestStack([NSEntityDescription("Form", class: "NSManagedObject", [attribute])])
        let object = NSEntityDescription.insertNewObject(forEntityName: "Form", into: stack.context)
        object.setValue(value, forKey: "unitName")
        return try #require(errorThrown { try stack.context.save() })
    }

    @Test(arguments: [
        ("length >= 1", "", "Unit name must have at least 1 character"),
        ("length <= 3", "long", "Unit name must have at most 3 characters"),
        ("length == 2", "long", "Unit name must have 2 characters"),
        ("SELF MATCHES '[a-z]+'", "A", "Unit name does not have the right form"),
        ("SELF != 'x'", "x", "Unit name must not be x"),
        ("SELF BEGINSWITH 'a' AND length > 3", "b", "Unit name is not valid"),
    ])
    func textsSayWhatTheyMustBe(predicate: String, value: String, text: String) throws {
        let error = try errors([(NSPredicate(format: predicate), 0 as NSNumber)], .stringAttributeType, value)
        #expect(error.localizedFailureReason == text)
        // The text for a log says where.
        #expect(error.localizedDescription.contains("Form.unitName"))
    }

    @Test(arguments: [
        ("SELF >= 0", -1, "Unit name must be at least 0"), ("SELF <= 9", 10, "Unit name must be at most 9"),
        ("SELF > 0", 0, "Unit name must be greater than 0"), ("SELF < 9", 9, "Unit name must be less than 9"),
    ])
    func numbersSayWhatTheyMustBe(predicate: String, value: Int, text: String) throws {
        let error = try errors([(NSPredicate(format: predicate), 0 as NSNumber)], .integer32AttributeType, value)
        #expect(error.localizedFailureReason == text)
    }

    @Test func datesAreShownAsTheUserReadsThem() throws {
        let predicate = NSPredicate(format: "SELF >= %@", Self.day as NSDate)
        let error = try errors(
            [(predicate, 0 as NSNumber)], .dateAttributeType, Date(timeIntervalSinceReferenceDate: 0))
        let text = DateFormatter.localizedString(from: Self.day, dateStyle: .medium, timeStyle: .short)
        #expect(error.localizedFailureReason == "Unit name must not be before \(text)")
    }

    @Test func aMissingValueIsNamed() throws {
        let error = try errors([], .stringAttributeType, nil, optional: false)
        #expect(error.localizedFailureReason == "Unit name must have a value")
    }

    @Test func theModelsOwnTextComesFirst() throws {
        let error = try errors(
            [(NSPredicate(format: "length > 3"), "Give it a longer name")], .stringAttributeType, "x")
        #expect(error.localizedFailureReason == "Give it a longer name")
    }

    @Test func severalErrorsHaveALineEach() throws {
        let error = try errors(
            [
                (NSPredicate(format: "length > 3"), 0 as NSNumber),
                (NSPredicate(format: "SELF MATCHES '[a-z]*'"), 0 as NSNumber),
            ],
            .stringAttributeType, "X")
        #expect(error.code == 1560)
        #expect(
            error.localizedFailureReason
                == "Unit name must have more than 3 characters\nUnit name does not have the right form")
    }

    @Test func relationshipsCountTheirEntries() throws {
        let author = NSEntityDescription("Author", class: "NSManagedObject", [])
        let book = NSEntityDescription("Book", class: "NSManagedObject", [])
        relate(author, "bestBooks", toMany: true, deleteRule: .denyDeleteRule, book, inverse: "author")
        let books = try #require(author.relationshipsByName["bestBooks"])
        (books.isOptional, books.minCount, books.maxCount) = (false, 1, 2)
        let stack = try TestStack([author, book])
        let object = NSEntityDescription.insertNewObject(forEntityName: "Author", into: stack.context)
        #expect(
            errorThrown { try stack.context.save() }?.localizedFailureReason == "Best books must have at least 1 entry")
        let all = (0..<3).map { _ in NSEntityDescription.insertNewObject(forEntityName: "Book", into: stack.context) }
        object.setValue(NSSet(array: all), forKey: "bestBooks")
        #expect(
            errorThrown { try stack.context.save() }?.localizedFailureReason == "Best books may have at most 2 entries")
        object.setValue(NSSet(array: Array(all.prefix(2))), forKey: "bestBooks")
        try stack.context.save()
        stack.context.delete(object)
        #expect(
            errorThrown { try stack.context.save() }?.localizedFailureReason
                == "This cannot be deleted while Best books is not empty")
    }
}
