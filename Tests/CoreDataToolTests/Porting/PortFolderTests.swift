import CoreData
import Foundation
import TestSupport
import Testing

@testable import CoreDataToolKit

/// Which files `coredata port` reads and writes.
struct PortFolderTests {
    private let old = "let k = #keyPath(A.b)\n"

    @Test func withoutWriteNothingChanges() throws {
        let workplace = try Workplace()
        _ = try workplace.file("A.swift", Data(old.utf8))
        let before = try workplace.contents()
        let run = ToolRun(["port", workplace.folder.path])
        #expect(run.status == 0)
        #expect(
            run.output == """
                A.swift:1: '#keyPath(A.b)' -> '"b"'
                1 change in 1 file of 1, 0 places left for a person.
                Nothing was written: --write does.

                """)
        #expect(try workplace.contents() == before)
    }

    @Test func linksAndHiddenFoldersAreNotFollowed() throws {
        let outside = try Workplace()
        let target = try outside.file("Out.swift", Data(old.utf8))
        let workplace = try Workplace()
        let folder = workplace.folder
        for name in [".build", "Inner"] {
            try FileManager.default.createDirectory(
                at: folder.appendingPathComponent(name), withIntermediateDirectories: true)
            try Data(old.utf8).write(to: folder.appendingPathComponent(name + "/B.swift"))
        }
        try FileManager.default.createSymbolicLink(
            atPath: folder.appendingPathComponent("L.swift").path, withDestinationPath: target)
        try FileManager.default.createSymbolicLink(
            atPath: folder.appendingPathComponent("Link").path, withDestinationPath: outside.folder.path)
        _ = try workplace.file("Read.txt", Data(old.utf8))
        let run = ToolRun(["port", folder.path, "--write"])
        #expect(run.status == 0)
        #expect(run.errors == "skipped: L.swift is a symbolic link.\nskipped: Link is a symbolic link.\n")
        func text(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }
        #expect(try text(target) == old)
        #expect(try text(folder.path + "/.build/B.swift") == old)
        #expect(try text(folder.path + "/Read.txt") == old)
        #expect(try text(folder.path + "/Inner/B.swift") == "let k = \"b\"\n")
    }

    @Test func filesKeepTheirPermissions() throws {
        let workplace = try Workplace()
        let path = try workplace.file("A.swift", Data(old.utf8))
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: path)
        #expect(ToolRun(["port", workplace.folder.path, "--write"]).status == 0)
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o640)
    }

    @Test func filesThatAreNoTextAreNamed() throws {
        let workplace = try Workplace()
        _ = try workplace.file("A.swift", Data([0x40, 0xff, 0xfe]))
        let run = ToolRun(["port", workplace.folder.path, "--write"])
        #expect(run.status == 0)
        #expect(run.errors == "skipped: A.swift is not UTF-8 text.\n")
        #expect(try workplace.contents()["A.swift"] == Data([0x40, 0xff, 0xfe]))
    }

    @Test func aMissingFolderIsNamed() {
        let run = ToolRun(["port", "/nowhere/at/all"])
        #expect(run.status == 1)
        #expect(run.errors == "coredata: There is no folder '/nowhere/at/all'. Check the path.\n")
    }

    @Test func theFindingsAreThereAsJSON() throws {
        let workplace = try Workplace()
        _ = try workplace.file("A.swift", Data((old + "import UIKit\n").utf8))
        let report = try #require(try ToolRun(["port", workplace.folder.path, "--json"]).json() as? [[String: Any]])
        #expect(report.first?["file"] as? String == "A.swift")
        let left = try #require(report.first?["left"] as? [[String: Any]])
        #expect(left.first?["line"] as? Int == 2)
        #expect((report.first?["changes"] as? [[String: Any]])?.count == 1)
    }

    /// Porting ends for texts of any bytes, and porting twice changes nothing more.
    @Test(arguments: 0..<20) func anyMixtureOfPiecesIsPortedOnce(seed: Int) throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        let pieces = [
            "@NSManaged", "@objc(", ")", "var x: Int", "{", "}", "\"", "\"\"\"", "#", "\\(", "/*", "*/", "//", "\n",
            " ", "#keyPath(",
            "A.b",
            "class A: NSManagedObject", "extension A", "override init(entity: E, insertInto: C)", "#if os(iOS)",
            "#else", "#endif", "/",
            "`", "é",
            "autoreleasepool {", "import Foundation", "import CoreData", "init(context: NSManagedObjectContext)",
            "convenience", "\r\n",
        ]
        for _ in 0..<50 {
            let text = (0..<Int.random(in: 1...30, using: &generator)).compactMap { _ in
                pieces.randomElement(using: &generator)
            }.joined()
            let source = SwiftSource(Array(text.utf8))
            let once = PortedFile(source, classes: ManagedClasses([source]))
            let ported = SwiftSource(once.bytes)
            let twice = PortedFile(ported, classes: ManagedClasses([ported]))
            #expect(String(data: Data(once.bytes), encoding: .utf8) != nil, "\(text)")
            #expect(twice.bytes == once.bytes, "\(text)")
        }
    }

    /// Files that import Foundation or XCTest alone, and expectations, compile with Core Data's
    /// predicates.
    @Test(arguments: ["5", "6"]) func portedFilesWithoutCoreDataCompile(languageMode: String) throws {
        let library = try PortRun(
            """
            import Foundation

            extension NSPredicate {
                static func name(_ name: String) -> NSPredicate { NSPredicate(format: "name == %@", name) }
            }
            func order() -> [NSSortDescriptor] { [NSSortDescriptor(key: "name", ascending: true)] }
            """)
        let tests = try PortRun(
            """
            import XCTest

            final class ListTests: XCTestCase {
                func testNames() {
                    let predicate: NSPredicate = .name("Ada")
                    XCTAssertEqual(predicate, NSPredicate(format: "name == 'Ada'"))
                    let one = XCTNSPredicateExpectation(predicate: NSPredicate(block: { _, _ in true }), object: nil)
                    let two = expectation(for: NSPredicate(format: "count == 1"), evaluatedWith: [1])
                    let three = XCTNSPredicateExpectation(predicate: NSPredicate(value: true), object: nil)
                    wait(for: [one, two, three], timeout: 1)
                }
            }
            """)
        #expect(library.left + tests.left == [])
        let run = try CompilerRun(["Library": library.text(), "ListTests": tests.text()], languageMode: languageMode)
        #expect(run.unexpected == [], "\(run.output)")
    }

    /// The ported class compiles and keeps values.
    @Test func aPortedClassCompilesAndRuns() throws {
        let port = try PortRun(
            """
            import Foundation
            import CoreData

            @objc(Person)
            public final class Person: NSManagedObject {
                @NSManaged @objc public dynamic var name: String?
                @NSManaged public var friends: NSSet?
                public override init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
                    super.init(entity: entity, insertInto: context)
                }
                var sorted: [Person] {
                    let order = NSSortDescriptor(key: #keyPath(Person.name), ascending: true)
                    return (friends?.allObjects as? [Person] ?? []).sorted { order.compare($0, to: $1) == \
            .orderedAscending }
                }
            }
            extension Person {
                @objc(addFriendsObject:)
                @NSManaged public func addToFriends(_ value: Person)
            }
            """)
        let main = """
            import CoreData
            let name = NSAttributeDescription()
            name.name = NSStringFromClass(NSAttributeDescription.self).isEmpty ? "" : "name"
            name.attributeType = .stringAttributeType
            name.isOptional = true
            let person = NSEntityDescription()
            person.name = "Person"
            person.managedObjectClassName = "Person"
            let friends = NSRelationshipDescription()
            friends.name = "friends"
            friends.isOptional = true
            friends.destinationEntity = person
            person.properties = [name, friends]
            let model = NSManagedObjectModel()
            model.entities = [person]
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            try coordinator.addPersistentStore(type: .inMemory, at: URL(fileURLWithPath: "/dev/null"))
            let context = NSManagedObjectContext(.mainQueue)
            context.persistentStoreCoordinator = coordinator
            let ada = Person(context: context), bob = Person(context: context), cay = Person(context: context)
            ada.name = "Ada"
            bob.name = "Bob"
            cay.name = "Cay"
            ada.addToFriends(cay)
            ada.addToFriends(bob)
            try context.save()
            print(ada.sorted.compactMap(\\.name))
            """
        let program = try CompiledProgram([port.workplace.folder.appendingPathComponent("File.swift")], main: main)
        #expect(program.complaints == "")
        #expect(program.output == "[\"Bob\", \"Cay\"]\n")
    }
}
