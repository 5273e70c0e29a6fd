import TestSupport
import Testing

@testable import CoreData

/// Limits of dates, in the form of the models that Xcode compiles and in that of a comparison of
/// the date itself.
struct DateLimitTests {
    private static let early = Date(timeIntervalSinceReferenceDate: -31_622_400.25)
    private static let late = Date(timeIntervalSinceReferenceDate: 1e10)

    private static func model(_ predicates: [NSPredicate], codes: [Int] = [1640, 1630]) -> NSManagedObjectModel {
        let due = NSAttributeDescription("due", .dateAttributeType)
        due.setValidation(predicates: predicates, warnings: codes.map { NSNumber(value: $0) })
        return NSManagedObjectModel([NSEntityDescription("Task", [due])])
    }

    private static let forms: [[NSPredicate]] = [
        AttributeLimit.dates(from: early, to: late).map(\.predicate),
        [
            NSPredicate(format: "timeIntervalSinceReferenceDate >= -31622400.25"),
            NSPredicate(format: "timeIntervalSinceReferenceDate <= 10000000000"),
        ],
        [NSPredicate(format: "SELF >= %@", early as NSDate), NSPredicate(format: "SELF <= %@", late as NSDate)],
    ]

    @Test func whatIsMadeIsAComparisonOfAKeyPathWithANumber() throws {
        let comparisons = Self.forms[0].compactMap { $0 as? NSComparisonPredicate }
        #expect(comparisons.map(\.leftExpression.expressionType) == [.keyPath, .keyPath])
        #expect(comparisons.map { $0.rightExpression.constantValue as? NSNumber } == [-31_622_400.25, 1e10])
    }

    @Test(arguments: 0..<3) func eachFormIsFound(_ form: Int) throws {
        let model = Self.model(Self.forms[form])
        let cached = try NSManagedObjectModel.decode(modelCache: model.encodedModelCache())
        for model in [model, cached] {
            let attribute = try #require(model.entitiesByName["Task"]?.attributesByName["due"])
            let limits = AttributeLimits(of: attribute)
            #expect(limits.least as? Date == Self.early)
            #expect(limits.greatest as? Date == Self.late)
            #expect(limits.others == [])
        }
    }

    @Test(arguments: 0..<3) func eachFormIsWritten(_ form: Int) throws {
        let contents = try Self.model(Self.forms[form]).xcdatamodelContents()
        #expect(contents.omissions == [])
        #expect(contents.text.contains("minDateTimeInterval=\"-31622400.25\""))
        #expect(contents.text.contains("maxDateTimeInterval=\"10000000000\""))
    }

    @Test(arguments: [
        ("timeIntervalSinceReferenceDate > 0", 1640), ("timeIntervalSinceReferenceDate >= 0", 1630),
        ("timeIntervalSince1970 >= 0", 1640), ("timeIntervalSinceReferenceDate >= \"0\"", 1640),
        ("NOT timeIntervalSinceReferenceDate >= 0", 1640), ("0 <= timeIntervalSinceReferenceDate", 1640),
        ("timeIntervalSinceReferenceDate >= 0", 0), ("$a.timeIntervalSinceReferenceDate >= 0", 1640),
    ])
    func whatIsNoLimitStaysAPredicate(_ format: String, code: Int) throws {
        let model = Self.model([NSPredicate(format: format)], codes: [code])
        let limits = AttributeLimits(of: try #require(model.entitiesByName["Task"]?.attributesByName["due"]))
        #expect(limits.least == nil)
        #expect(limits.greatest == nil)
        #expect(limits.others == [NSPredicate(format: format).predicateFormat])
    }

    @Test func aSecondLimitOfOneKindIsKeptBesideTheFirst() throws {
        let model = Self.model([Self.forms[0][0], Self.forms[2][0]], codes: [1640, 1640])
        let limits = AttributeLimits(of: try #require(model.entitiesByName["Task"]?.attributesByName["due"]))
        #expect(limits.least as? Date == Self.early)
        #expect(limits.others == [Self.forms[2][0].predicateFormat])
    }

    @Test(arguments: 0..<3) func eachFormIsCheckedWithTheSameCodesAndTexts(_ form: Int) throws {
        let model = Self.model(Self.forms[form])
        let coordinator = try NSPersistentStoreCoordinator(validating: model)
        _ = try coordinator.addPersistentStore(type: .inMemory, at: URL(fileURLWithPath: "/dev/null"))
        let context = coordinator.newContext()
        try context.performAndWait {
            let task = NSEntityDescription.insertNewObject(forEntityName: "Task", into: context)
            for (date, code, rule, place) in [
                (Self.early.addingTimeInterval(-0.25), 1640, "SELF >= CAST(-31622400.250000, \"NSDate\")", 0),
                (Self.late.addingTimeInterval(0.25), 1630, "SELF <= CAST(10000000000.000000, \"NSDate\")", 1),
            ] {
                task.setValue(date, forKey: "due")
                let error = #expect(throws: NSError.self) { try context.save() }
                #expect(error?.code == code)
                #expect(error?.localizedDescription == "Task.due must satisfy \(rule), but is \(date).")
                // Programs are told the predicate of their model.
                #expect(error?.userInfo[NSValidationPredicateErrorKey] as? NSPredicate == Self.forms[form][place])
            }
            for date in [Self.early, Self.late, nil] {
                task.setValue(date, forKey: "due")
                try context.save()
            }
        }
    }
}
