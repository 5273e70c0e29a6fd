@testable import CoreData
import TestSupport
import Testing

final class ValidatedItem: NSManagedObject {
    @Managed var name: String?
    @Managed var size: Int32
    @Managed var date: Date?
    @Managed var cache: String?
    @Managed var code: String?
    var calls: [String] = []

    override func validateValue(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>, forKey key: String) throws {
        calls.append(key)
        try super.validateValue(value, forKey: key)
        guard key == "code", let code = value.pointee as? String else { return }
        if code == "bad" {
            throw NSError(domain: "ValidatedItem", code: 7, userInfo: [NSValidationKeyErrorKey: "code"])
        }
        if code == "worse" {
            let details = [7, 8].map { NSError(domain: "ValidatedItem", code: $0) }
            throw NSError(domain: NSCocoaErrorDomain, code: 1560, userInfo: [NSDetailedErrorsKey: details])
        }
        if code.contains(" ") { value.pointee = code.replacingOccurrences(of: " ", with: "-") as NSString }
    }
}

final class PlainValidatedItem: NSManagedObject {
    @Managed var name: String?
    @Managed var size: Int32
    @Managed var date: Date?
    @Managed var cache: String?
}

@Suite(.everyStore) struct AttributeValidationTests {
    let stack: TestStack
    static let year2000 = Date(timeIntervalSinceReferenceDate: -31_622_400)

    static func properties() -> [NSPropertyDescription] {
        let name = NSAttributeDescription("name", .stringAttributeType, optional: false)
        name.setValidation(
            predicates: [
                NSPredicate(format: "length <= 5"), NSPredicate(format: "length >= 2"),
                NSPredicate(format: "SELF MATCHES '[A-Za-z ]*'"),
            ], warnings: [1660 as NSNumber, 1670 as NSNumber, 1680 as NSNumber])
        let size = NSAttributeDescription("size", .integer32AttributeType, default: 1)
        size.setValidation(
            predicates: [NSPredicate(format: "SELF <= 10"), NSPredicate(format: "SELF >= 1")],
            warnings: [1610 as NSNumber, 1620 as NSNumber])
        let date = NSAttributeDescription("date", .dateAttributeType)
        date.setValidation(
            predicates: [
                NSPredicate(format: "SELF <= %@", year2000.addingTimeInterval(1000) as NSDate),
                NSPredicate(format: "SELF >= %@", year2000 as NSDate),
            ], warnings: [1630 as NSNumber, 1640 as NSNumber])
        let cache = NSAttributeDescription("cache", .stringAttributeType)
        cache.isTransient = true
        cache.setValidation(predicates: [NSPredicate(format: "length < 3")], warnings: ["cache too long"])
        return [name, size, date, cache]
    }

    init() throws {
        stack = try TestStack([
            NSEntityDescription("Plain", class: "PlainValidatedItem", Self.properties()),
            NSEntityDescription(
                "Item", class: "ValidatedItem",
                Self.properties() + [NSAttributeDescription("code", .stringAttributeType)]),
        ])
    }

    func plain(_ name: String? = "abc") -> PlainValidatedItem {
        let item = PlainValidatedItem(context: stack.context)
        item.name = name
        return item
    }

    func saveError() -> NSError? { errorThrown { try stack.context.save() } }

    @Test("68: assignment validates nothing, a request and a save do") func assignmentDoesNotValidate() throws {
        let item = plain()
        item.size = 100
        #expect(item.size == 100)
        stack.context.processPendingChanges()
        #expect(errorThrown { try item.validateForInsert() }?.code == 1610)
        #expect(saveError()?.code == 1610)
        item.size = 10
        #expect(errorThrown { try item.validateForInsert() } == nil)
        #expect(saveError() == nil)
        item.size = 0
        #expect(errorThrown { try item.validateForUpdate() }?.code == 1620)
    }

    @Test("70: validateValue checks a value against the description") func validateValueChecksTheDescription() throws {
        let item = plain()
        func code(_ value: AnyObject?, _ key: String) -> Int? {
            errorThrown {
                var value = value
                try item.validateValue(&value, forKey: key)
            }?.code
        }
        #expect(code(5 as NSNumber, "size") == nil)
        #expect(code(50 as NSNumber, "size") == 1610)
        #expect(code("abc" as NSString, "name") == nil)
        #expect(code("toolong" as NSString, "name") == 1660)
        #expect(code(nil, "name") == 1570)
        #expect(code(nil, "date") == nil)
        #expect(code(5 as NSNumber, "name") != nil)
        #expect(item.name == "abc")
    }

    @Test("70: a class's own check runs after the description's, for each property at save")
    func ownChecksRunAtSave() throws {
        let item = ValidatedItem(context: stack.context)
        item.name = "abc"
        item.code = "bad"
        let error = saveError()
        #expect(error?.domain == "ValidatedItem")
        #expect(error?.code == 7)
        #expect(Set(item.calls).isSuperset(of: ["name", "size", "date", "code"]))
        item.code = "good"
        #expect(saveError() == nil)
    }

    @Test("70, 75: all failures that a class's own check reports at once are in the error")
    func ownChecksMayReportSeveralFailures() throws {
        let item = ValidatedItem(context: stack.context)
        item.name = "abc"
        item.code = "worse"
        let error = try #require(saveError())
        #expect(error.code == 1560)
        #expect(error.singleErrors.map(\.code).sorted() == [7, 8])
    }

    @Test("71: a class's own check may replace the value, which is then saved") func ownChecksMayReplaceValues() throws
    {
        let item = ValidatedItem(context: stack.context)
        item.name = "abc"
        item.code = "a b"
        try stack.context.save()
        #expect(item.code == "a-b")
        #expect(!stack.context.hasChanges)
        #expect(stack.stored("code", of: "Item") == ["a-b"])
    }

    @Test("72: nil for a required attribute is error 1570") func missingValues() throws {
        let item = plain(nil)
        let error = try #require(saveError())
        #expect(error.domain == NSCocoaErrorDomain)
        #expect(error.code == 1570)
        #expect(error.userInfo[NSValidationObjectErrorKey] as? NSManagedObject === item)
        #expect(error.userInfo[NSValidationKeyErrorKey] as? String == "name")
        #expect(error.userInfo[NSValidationValueErrorKey] == nil)
        item.name = "abc"
        try stack.context.save()
        item.name = nil
        #expect(saveError()?.code == 1570)
    }

    @Test("72: a required attribute that nobody ever set is missing") func valuesThatWereNeverSet() throws {
        _ = PlainValidatedItem(context: stack.context)
        let error = try #require(saveError())
        #expect(error.code == 1570)
        #expect(error.userInfo[NSValidationKeyErrorKey] as? String == "name")
        #expect(stack.storedCount(of: "Plain") == 0)
    }

    @Test(
        "73: each limit has its code",
        arguments: [
            ("size", 11 as Int, 1610), ("size", 0, 1620), ("date", 5000, 1630), ("date", -5000, 1640),
        ])
    func limitsHaveCodes(key: String, value: Int, code: Int) throws {
        let item = plain()
        try stack.context.save()
        let given: Any = key == "date" ? Self.year2000.addingTimeInterval(Double(value)) : value
        item.setValue(given, forKey: key)
        #expect(saveError()?.code == code)
    }

    @Test("73: length and pattern of texts have their codes", arguments: [("abcdef", 1660), ("a", 1670), ("a1", 1680)])
    func textLimitsHaveCodes(text: String, code: Int) { #expect(textCode(text) == code) }

    func textCode(_ text: String) -> Int? {
        _ = plain(text)
        return saveError()?.code
    }

    @Test("74: an error holds object, key, value and predicate") func errorsSayWhatIsWrong() throws {
        let item = plain()
        item.size = 11
        let error = try #require(saveError())
        #expect(error.userInfo[NSValidationObjectErrorKey] as? NSManagedObject === item)
        #expect(error.userInfo[NSValidationKeyErrorKey] as? String == "size")
        #expect(error.userInfo[NSValidationValueErrorKey] as? Int == 11)
        #expect((error.userInfo[NSValidationPredicateErrorKey] as? NSPredicate)?.predicateFormat == "SELF <= 10")
        let cocoa = try #require(error as Error as? CocoaError)
        #expect(cocoa.code == .validationNumberTooLarge)
    }

    @Test("75: several failures of an object are one error 1560") func severalFailuresAreOneError() throws {
        let item = plain(nil)
        item.size = 11
        let error = try #require(saveError())
        #expect(error.code == 1560)
        #expect(error.domain == NSCocoaErrorDomain)
        #expect(error.singleCodes == [1570, 1610])
        #expect(errorThrown { try item.validateForInsert() }?.singleCodes == [1570, 1610])
    }

    @Test("76: failures of several objects are one error 1560 that holds all") func failuresOfSeveralObjects() throws {
        let first = plain(nil)
        first.size = 11
        let second = plain()
        second.size = 0
        let error = try #require(saveError())
        #expect(error.code == 1560)
        #expect(error.singleCodes == [1570, 1610, 1620])
        let objects = error.singleErrors.compactMap { $0.userInfo[NSValidationObjectErrorKey] as? NSManagedObject }
        #expect(Set(objects) == [first, second])
    }

    @Test("77: a predicate that fails reports its warning") func warningsAreReported() throws {
        let item = plain()
        item.cache = "long"
        let error = try #require(saveError())
        #expect(error.domain == NSCocoaErrorDomain)
        #expect((1550..<1700).contains(error.code))
        #expect(error.localizedDescription.contains("cache too long"))
        #expect(error.userInfo[NSValidationKeyErrorKey] as? String == "cache")
    }

    @Test("77: warnings may be error codes, beside texts") func warningsMayBeCodes() throws {
        let name = NSAttributeDescription("name", .stringAttributeType)
        let (short, first) = (NSPredicate(format: "length <= 3"), NSPredicate(format: "SELF BEGINSWITH 'a'"))
        name.setValidationPredicates(
            [short, first], withValidationWarnings: [NSValidationStringTooLongError, "not an a"])
        #expect(name.validationWarnings.first as? NSNumber == 1660)
        let stack = try TestStack([NSEntityDescription("Coded", [name])])
        let object = NSEntityDescription.insertNewObject(forEntityName: "Coded", into: stack.context)
        object.setValue("bcde", forKey: "name")
        let error = errorThrown { try stack.context.save() }
        #expect(error?.singleCodes == [1550, 1660])
        #expect(error?.localizedDescription.contains("not an a") == true)
    }

    @Test("77: texts, codes and nothing are told apart") func warningsOfEveryForm() {
        let name = NSAttributeDescription("name", .stringAttributeType)
        let rules = [NSPredicate(value: true)]
        name.setValidationPredicates(rules, withValidationWarnings: ["text"])
        #expect(name.validationWarnings as? [String] == ["text"])
        name.setValidationPredicates(rules, withValidationWarnings: [1680])
        #expect(name.validationWarnings as? [NSNumber] == [1680])
        let (codes, anything, optional) = ([NSNumber(value: 1670)], ["text"] as [Any], ["text"] as [String]?)
        name.setValidationPredicates(rules, withValidationWarnings: codes)
        #expect(name.validationWarnings as? [NSNumber] == codes)
        name.setValidationPredicates(rules, withValidationWarnings: anything)
        #expect(name.validationWarnings as? [String] == ["text"])
        name.setValidationPredicates(nil, withValidationWarnings: nil)
        #expect(name.validationPredicates.isEmpty)
        #expect(name.validationWarnings.isEmpty)
        name.setValidationPredicates(rules, withValidationWarnings: optional)
        name.setValidationPredicates([], withValidationWarnings: [])
        #expect(name.validationPredicates.isEmpty)
        #expect(name.validationWarnings.isEmpty)
        let set = name.setValidationPredicates
        set(rules, ["text"])
        #expect(name.validationWarnings as? [String] == ["text"])
    }

    @Test("80, 334: transient attributes are validated") func transientsAreValidated() throws {
        let item = plain()
        item.cache = "long"
        #expect(saveError()?.userInfo[NSValidationKeyErrorKey] as? String == "cache")
        item.cache = "ok"
        #expect(saveError() == nil)
    }

    @Test("69: an update validates what changed, also when a limit is broken through a primitive setter")
    func updatesAreValidated() throws {
        let item = plain()
        try stack.context.save()
        item.size = 12
        #expect(saveError()?.code == 1610)
        stack.context.rollback()
        #expect(item.size == 1)
        item.name = "abd"
        item.setPrimitiveValue(12 as Int32, forKey: "size")
        #expect(saveError()?.code == 1610)
    }

    @Test func everyBrokenRuleIsTold() throws {
        let item = plain()
        item.name = "much-too-long"
        let error = try #require(saveError())
        #expect(error.code == NSValidationMultipleErrorsError)
        let details = try #require(error.userInfo[NSDetailedErrorsKey] as? [NSError])
        #expect(details.map(\.code).sorted() == [1660, 1680])
        item.size = 12
        #expect((saveError()?.userInfo[NSDetailedErrorsKey] as? [NSError])?.map(\.code).sorted() == [1610, 1660, 1680])
        var value: AnyObject? = "-" as NSString
        let single = errorThrown { try item.validateValue(&value, forKey: "name") }
        #expect((single?.userInfo[NSDetailedErrorsKey] as? [NSError])?.map(\.code) == [1670, 1680])
    }
}

struct ValidationPredicateStopTests {
    @Test("77: predicates and warnings come in equal number") func predicatesAndWarningsArePairs() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let name = NSAttributeDescription("name", .stringAttributeType)
            name.setValidationPredicates([NSPredicate(value: true)], withValidationWarnings: [])
        }
        #expect(Complaint(result?.standardErrorContent).lacks("name", "1 validation predicates but 0 warnings") == [])
    }
}
