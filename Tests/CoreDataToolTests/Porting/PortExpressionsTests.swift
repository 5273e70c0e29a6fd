import Foundation
import TestSupport
import Testing

@testable import CoreDataToolKit

/// Changes of `coredata port` outside of declarations.
struct PortExpressionsTests {
    @Test(arguments: [
        ("let k = #keyPath(Person.name)", "let k = \"name\""),
        ("f(#keyPath(App.Person.car.wheels), 1)", "f(\"car.wheels\", 1)"),
        ("x = #keyPath( Person . `default` )", "x = \"default\""),
        ("x = #keyPath(name)", "x = \"name\""),
        ("NSStringFromSelector(#selector(getter: Person.name))", "\"name\""),
        ("NSStringFromSelector(#selector(getter: name)) + s", "\"name\" + s"),
        (
            "NSSortDescriptor(key: k, ascending: true, selector: #selector(NSString.localizedStandardCompare(_:)))",
            "NSSortDescriptor(key: k, ascending: true, selector: Selector(\"localizedStandardCompare:\"))"
        ),
        ("#selector(NSString.caseInsensitiveCompare)", "Selector(\"caseInsensitiveCompare:\")"),
        ("NSPredicate(format: f, arguments: getVaList(args))", "NSPredicate(format: f, argumentArray: args)"),
        (
            "NSPredicate(format: f, arguments: getVaList([a, #keyPath(P.b)]))",
            "NSPredicate(format: f, argumentArray: [a, \"b\"])"
        ),
        ("keyPath._kvcKeyPathString!", "KeyPathNames.name(of: keyPath)!"),
        ("let t = Foundation.ValueTransformer.self", "let t = CoreData.ValueTransformer.self"),
        ("Person.self.description()", "NSStringFromClass(Person.self)"),
        ("T.self.description() + a", "NSStringFromClass(T.self) + a"),
        ("App.Person.self.description()", "NSStringFromClass(App.Person.self)"),
        ("\"\\(#keyPath(Car.numberPlate)) == %@\"", "\"numberPlate == %@\""),
        ("\"a.\\(#keyPath(A.b)) == \\(x) && \\( #keyPath(A.`c`.d) ) > 1\"", "\"a.b == \\(x) && c.d > 1\""),
        ("#\"\\(#keyPath(A.b)) \\#(#keyPath(A.b))\"#", "#\"\\(#keyPath(A.b)) b\"#"),
        ("\"\"\"\n  \\(#keyPath(A.b)) \\\\(#keyPath(A.b))\n  \"\"\"", "\"\"\"\n  b \\\\(#keyPath(A.b))\n  \"\"\""),
        ("NSStringFromClass(Person.classForCoder())", "NSStringFromClass(Person.self)"),
        ("f(T.self.classForCoder(), Self.classForCoder())", "f(T.self, Self.self)"),
        ("let k = #selector(getter: Person.name).description", "let k = \"name\""),
        ("type(of: self).description()", "NSStringFromClass(type(of: self))"),
        ("f(a.type(of: x).description())", "f(a.type(of: x).description())"),
        (
            "NSBatchDeleteRequest(fetchRequest: request() as! NSFetchRequest<NSFetchRequestResult>)",
            "NSBatchDeleteRequest(fetchRequest: request())"
        ),
        (
            "resources: [.process(\"Shop.xcdatamodeld\"), .process(\"a\")]",
            "resources: [.copy(\"Shop.xcdatamodeld\"), .process(\"a\")]"
        ),
        ("try autoreleasepool { try b() }", "try autoreleasepool { try b() }"),
        (
            "let t = (context.mergePolicy as AnyObject).mergeType",
            "let t = (context.mergePolicy as? NSMergePolicy)?.mergeType"
        ),
        (
            "XCTNSPredicateExpectation(predicate: NSPredicate(block: { _, _ in a }), object: nil)",
            "XCTNSPredicateExpectation(predicate: Foundation.NSPredicate(block: { _, _ in a }), object: nil)"
        ),
        (
            "expectation(for: NSPredicate(value: true), evaluatedWith: o)",
            "expectation(for: Foundation.NSPredicate(value: true), evaluatedWith: o)"
        ),
        (
            "expectation(for: NSPredicate(format: \"count == 1\"), evaluatedWith: o)",
            "expectation(for: Foundation.NSPredicate(block: { object, _ in NSPredicate(format: \"count == "
                + "1\").evaluate(with: object) }), "
                + "evaluatedWith: o)"
        ),
    ])
    func expressionsAreWrittenOtherwise(_ old: String, _ new: String) throws {
        let port = try PortRun(old)
        #expect(try port.text() == new)
        #expect(port.left == [])
    }

    @Test(arguments: [
        "let u = NSURL()", "value as? NSURL", "for b in Bundle.allBundles {}", "a.flatMap(Set<Car>.init)",
        "r as? NSFetchRequest<NSFetchRequestResult>", "b.url(forResource: \"VersionInfo\", withExtension: \"plist\")",
        "class P { override class func keyPathsForValuesAffectingValue(forKey k: String) -> Set<String> { [] } }",
        "import PackageDescription\nlet package = Package(name: \"Shop\")",
        "let k = #keyPath(Person)", "NSStringFromSelector(action)", "b.addTarget(self, action: #selector(tap(_:)))",
        "a.b()._kvcKeyPathString", "withVaList(a) { f(getVaList(a)) }", "unsafeBitCast(r, to: NSFetchRequest<A>.self)",
        "r as! NSFetchRequest<A>", "person.observe(\\.name) { _, _ in }",
        "o.addObserver(self, forKeyPath: k, options: [], context: nil)",
        "Bundle.main.urls(forResourcesWithExtension: \"json\", subdirectory: nil)",
        "let c: NSPersistentCloudKitContainer",
        "\"\\(x + #keyPath(A.b))\"", "\"\\(#selector(A.b))\"", "\"\\(f(\"\\(#keyPath(A.b))\"))\"", "import UIKit",
        "import os.lock",
        "import Combine", "b.url(forResource: \"Shop\", withExtension: \"momd\")",
        "enum Kind: String { case version = \"mom\" }",
        "let lock = OSAllocatedUnfairLock()", "objc_getAssociatedObject(context, &key)", "center.publisher(for: name)",
        "keyValueObservingExpectation(for: o, keyPath: k)", "NSClassFromString(entity.managedObjectClassName!)",
        "self.classForCoder()",
        "Box<Int>.classForCoder()", "\"\\(T.self.classForCoder())\"", "let object = NSManagedObject()",
        "f(Person()); class Person: NSManagedObject {}",
        "Person.classForCoder().description()", "(context.mergePolicy as AnyObject).mergeType!",
        "XCTNSPredicateExpectation(predicate: predicate, object: o)",
        "expectation(for: NSPredicate(format: f), evaluatedWith: o)",
        "expectation(for: NSPredicate(format: \"a == \\(b)\"), evaluatedWith: o)",
        "XCTNSPredicateExpectation(predicate: NSPredicate(format: \"a == %@\", b), object: o)",
    ])
    func whatIsNotMechanicalIsLeftAndNamed(_ text: String) throws {
        let port = try PortRun(text)
        #expect(try port.text() == text)
        #expect(port.left.count == 1, "\(port.run.output)")
    }

    @Test(arguments: [
        "var c: NSFetchedResultsController<A>!", "context.setQueryGenerationFrom(NSQueryGenerationToken.current)",
        "NSMappingModel.inferredMappingModel(forSourceModel: a, destinationModel: b)", "object.classForCoder",
        "NSMappingModel(from: nil, forSourceModel: a, destinationModel: b)", "NSMappingModel(contentsOf: url)",
        "\"a momd b\"",
        "let s = \"\\n #keyPath(A.b)\"", "expectation(forNotification: n, object: o)", "expectation(description: d)",
        "NSClassFromString(name)", "\"\\(object.classForCoder)\"", "NSManagedObject.self", "url as NSURL",
        "Set<Car>(cars)",
        "NSStringFromClass(Person.self)", "Bundle.main", "import PackageDescription\nlet a = \"../OpenCoreData\"",
        "class Person: NSManagedObject { func Person() {} }",
    ])
    func whatExistsHereIsNotLeft(_ text: String) throws {
        #expect(try PortRun(text).left == [])
    }

    @Test func exactlyTheTypesThatAreSaidToBeMissingAreMissing() throws {
        let missing = PortingRules.missingTypes.sorted().map {
            "typealias Of\($0) = \($0)  // error: cannot find type '\($0)'"
        }
        let present = PortingRules.frameworkClasses.sorted().map { "typealias Of\($0) = \($0)" }
        let run = try CompilerRun(["Names": (["import CoreData"] + missing + present).joined(separator: "\n")])
        #expect(run.missing == [], "\(run.output)")
        #expect(run.unexpected == [], "\(run.output)")
        #expect(run.expectedCount == PortingRules.missingTypes.count)
    }

    // MARK: Imports

    @Test(arguments: [
        "extension NSPredicate {}", "let s: [NSSortDescriptor]", "let e = NSExpression(forKeyPath: k)",
        "class T: ValueTransformer {}",
        "let u: UndoManager?",
    ])
    func aFileThatImportsFoundationAloneGetsTheClassesOfCoreData(_ code: String) throws {
        let port = try PortRun("import Foundation\nimport Testing\n\(code)\n")
        #expect(try port.text() == "import CoreData\nimport Testing\n\(code)\n")
        #expect(port.left == [])
        #expect(
            try PortRun("import class Foundation.NSPredicate\nf()\n").text()
                == "import class CoreData.NSPredicate\nf()\n")
        let kept = try PortRun("public import Foundation\n\(code)\n")
        #expect(try kept.text() == "public import Foundation\n\(code)\n")
        #expect(kept.left.count == 1)
    }

    @Test func testsWithoutCoreDataImportItsClassesOneByOne() throws {
        let port = try PortRun(
            "import Foundation\nimport XCTest\n@testable import Lib\nlet p: NSPredicate\nlet u: UndoManager\n")
        #expect(
            try port.text()
                == "import Foundation\nimport XCTest\nimport class CoreData.NSPredicate\nimport class "
                + "CoreData.UndoManager\n"
                + "@testable import Lib\nlet p: NSPredicate\nlet u: UndoManager\n")
        // The predicate of an expectation is Foundation's.
        let expectation = "import XCTest\nexpectation(for: NSPredicate(block: { _, _ in a }), evaluatedWith: o)\n"
        #expect(try PortRun(expectation).text() == expectation.replacing("NSPredicate", with: "Foundation.NSPredicate"))
    }

    @Test func foundationIsNotImportedBesideCoreData() throws {
        #expect(
            try PortRun("import Foundation\nimport CoreData\nlet p: NSPredicate\n").text()
                == "import CoreData\nlet p: NSPredicate\n")
        #expect(try PortRun("import CoreData\r\nimport Foundation\r\nf()\r\n").text() == "import CoreData\r\nf()\r\n")
        for kept in [
            "import Foundation\nf()\n", "import struct Foundation.Date\nimport CoreData\n",
            "@_exported import Foundation\nimport CoreData\n",
        ] {
            #expect(try PortRun(kept).text() == kept)
        }
    }

    @Test func aPartOfCoreDataIsTheWholeOfIt() throws {
        #expect(try PortRun("import CoreData.NSFetchRequest\nf()\n").text() == "import CoreData\nf()\n")
        let twice = try PortRun(
            "import CoreData.NSFetchRequest\nimport CoreData.NSManagedObject\nimport Foundation\nf()\n")
        #expect(try twice.text() == "import CoreData\nf()\n")
        #expect(try PortRun("import CoreData\nimport CoreData.NSFetchRequest\n").text() == "import CoreData\n")
        #expect(try PortRun("import CoreData.CoreDataDefines\n").text() == "import CoreData.CoreDataDefines\n")
    }

    @Test func whatOtherModulesBringOnAMacIsImported() throws {
        let code = "let c: NSManagedObjectContext\n"
        #expect(try PortRun("import UIKit\n" + code).text() == "import UIKit\nimport CoreData\n" + code)
        #expect(try PortRun("import Foundation\n" + code).text() == "import CoreData\n" + code)
        #expect(
            try PortRun("import XCTest\n@testable import Lib\n" + code + "let p: NSPredicate\n").text()
                == "import XCTest\nimport CoreData\nimport class CoreData.NSPredicate\n@testable import Lib\n" + code
                + "let p: NSPredicate\n")
        let session = "let s = URLSession.shared\n"
        #expect(
            try PortRun("import Foundation\n" + session).text() == "import Foundation\nimport FoundationNetworking\n"
                + session)
        let known = "import FoundationNetworking\nimport Foundation\n" + session
        #expect(try PortRun(known).text() == known)
        #expect(
            try PortRun("import Foundation\nautoreleasepool {}\n").text() == "import CoreData\nautoreleasepool {}\n")
    }

    @Test(arguments: [
        "@preconcurrency import CoreData", "public import CoreData", "@testable internal import CoreData",
    ])
    func foundationIsNotImportedBesideAnAttributedCoreData(_ own: String) throws {
        let port = try PortRun("import Foundation\n\(own)\nlet p: NSPredicate\n")
        #expect(try port.text() == "\(own)\nlet p: NSPredicate\n")
        #expect(port.left == [])
    }

    @Test(arguments: ["@_exported import Foundation", "public import Foundation", "@preconcurrency import Foundation"])
    func aFoundationThatStaysBesideCoreDataIsNamed(_ kept: String) throws {
        let text = "\(kept)\nimport CoreData\nlet p: NSPredicate\n"
        let port = try PortRun(text)
        #expect(try port.text() == text)
        #expect(port.left.count == 1, "\(port.run.output)")
        #expect(port.left.first?.hasPrefix("1: ") == true, "\(port.run.output)")
        #expect(try PortRun("\(kept)\nf()\n").left == [])
    }

    @Test func namesThatXCTestBringsTooAreImportedOneByOne() throws {
        let port = try PortRun("import XCTest\nimport CoreData\n\nlet p: NSPredicate\nlet s: [NSSortDescriptor]\n")
        #expect(
            try port.text()
                == "import XCTest\nimport CoreData\nimport class CoreData.NSPredicate\nimport class "
                + "CoreData.NSSortDescriptor\n\n"
                + "let p: NSPredicate\nlet s: [NSSortDescriptor]\n")
    }

    // MARK: What stays

    @Test(arguments: [
        "// @NSManaged #keyPath(A.b)\n", "/* @objc /* #keyPath(A.b) */ @NSManaged */\n",
        "let s = \"@NSManaged #keyPath(A.b)\"\n",
        "let s = \"\"\"\n    @NSManaged \"#keyPath(A.b)\"\n    \"\"\"\n", "let s = #\"\"#keyPath(A.b)\\\" \"#\n",
        "let s = ##\"\"# #keyPath(A.b)\"##\n", "let r = /#keyPath(A.b)/\n", "let r = #/ @NSManaged \" /#\n",
        "let s = \"\\(f(\"#keyPath(A.b) \\(g(\")\"))\"))\"\n", "let s = #\"\"\"\n\"\"\" #keyPath(A.b)\n\"\"\"#\n",
        "#if os(macOS) || canImport(UIKit)\nlet k = #keyPath(A.b)\n#endif\n",
        "#if !os(Linux)\nimport UIKit\n#else\nf()\n#endif\n",
        "let dynamic = 1\nlet override = dynamic\n", "let x = a / b / #line\n",
        "var description: String { self.description() }\n",
        "func autoreleasepool(_ f: () -> Void) {}\n", "\u{FEFF}let ünïcode = \"é\"\r\n\tlet tab = 1", "",
    ])
    func textsAndCommentsAndOtherSystemsStayAsTheyAre(_ text: String) throws {
        let port = try PortRun(text)
        #expect(try port.text() == text)
        #expect(port.run.output.contains("0 changes in 0 files"))
    }

    @Test func codeBehindTextsAndExpressionsIsFound() throws {
        let port = try PortRun(
            """
            #if os(iOS)
            let a = #keyPath(A.b)
            #elseif os(Linux) && !canImport(ObjectiveC)
            let a = #keyPath(A.b)
            #else
            let a = #keyPath(A.b)
            #endif
            #if DEBUG
            let d = #keyPath(A.d)
            #endif
            let s = "\\(x) \\"" + #keyPath(A.c) // "
            let q = n / 2 + #keyPath(A.e).count / 3
            let u = "open
            let v = #keyPath(A.f)
            """)
        #expect(
            try port.text() == """
                #if os(iOS)
                let a = #keyPath(A.b)
                #elseif os(Linux) && !canImport(ObjectiveC)
                let a = "b"
                #else
                let a = #keyPath(A.b)
                #endif
                #if DEBUG
                let d = "d"
                #endif
                let s = "\\(x) \\"" + "c" // "
                let q = n / 2 + "e".count / 3
                let u = "open
                let v = "f"
                """)
    }
}
