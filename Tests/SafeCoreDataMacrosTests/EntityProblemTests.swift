import MacroTestSupport
import Testing

@testable import MacroImplementations

struct EntityProblemTests {
    private func problems(_ line: String) -> MacroExpansion {
        expansion("@Entity final class Item: NSManagedObject {\n    \(line)\n}")
    }

    @Test(arguments: [
        ("let name: String", "2:5: a property of an @Entity class needs 'var'", "var name: String"),
        (
            "lazy var name: String = \"\"", "2:5: a property of an @Entity class cannot be lazy",
            "var name: String = \"\""
        ),
        ("weak var other: Item?", "2:5: a property of an @Entity class cannot be weak", "var other: Item?"),
        ("var count = 0", "2:9: a property of an @Entity class needs its type", "count: Int = 0"),
        ("@Managed var name: String", "2:5: @Entity manages this property already", "var name: String"),
        (
            "@Attribute(.unique) var name: String { \"\" }", "2:5: @Attribute needs a stored property",
            "var name: String { \"\" }"
        ),
        ("@Derived(\"a\") var n: Int { 1 }", "2:5: @Derived needs a stored property", "var n: Int { 1 }"),
        ("@Relationship var others: NSOrderedSet?", "2:31: a to-many relationship is never nil", "NSOrderedSet"),
        ("@Relationship var others: Set<Item>?", "2:31: a to-many relationship is never nil", "Set<Item>"),
        ("var name: String!", "2:15: a property of an @Entity class is either optional or required", "String?"),
        (
            "@Transient @Relationship var o: Item?", "2:5: a property is either @Relationship or @Transient",
            "@Relationship var o: Item?"
        ),
        (
            "@Derived(\"a\") @Attribute var n: Int", "2:19: a property is either @Derived or @Attribute",
            "@Derived(\"a\") var n: Int"
        ),
        ("@Derived(\"a\") var n: Int = 1", "2:30: a derived property is computed by the store", "n: Int"),
    ])
    func aMistakeIsReportedWithItsRemedy(line: String, problem: String, remedy: String) {
        let result = problems(line)
        #expect(result.problems.count == 1, "\(result.problems)")
        #expect(result.problems.first?.hasPrefix(problem) == true, "\(result.problems)")
        #expect(result.remedies == [remedy])
    }

    @Test(arguments: [
        ("var name = make()", "2:9: a property of an @Entity class needs its type"),
        ("var a: Int, b: Int", "2:9: declare each property of an @Entity class by itself"),
        ("var name: String { didSet { } }", "2:24: a property of an @Entity class cannot have observers"),
        ("var action: () -> Void", "2:17: Core Data cannot store a '() -> Void'"),
        ("var pair: (Int, Int)?", "2:15: Core Data cannot store a '(Int, Int)'"),
        ("var anything: Any", "2:19: Core Data cannot store a 'Any'"),
        ("var value: any Codable", "2:16: Core Data cannot store a 'any Codable'"),
        ("@Transient var size: Int", "2:20: a transient property is not stored"),
        ("var children: NSOrderedSet", "2:19: an NSOrderedSet does not say what it holds"),
        ("var children: NSOrderedSet?", "2:19: an NSOrderedSet does not say what it holds"),
        ("var (width, height): (Int, Int)", "2:9: declare each property of an @Entity class by itself"),
        ("var description: String", "2:9: every managed object has a 'description' of its own"),
        ("var isDeleted: Bool = false", "2:9: every managed object has a 'isDeleted' of its own"),
        ("var entity: String?", "2:9: every managed object has a 'entity' of its own"),
        ("var context: String", "2:9: 'context' means something else in an @Entity class"),
        ("var `self`: Int", "2:9: 'self' means something else in an @Entity class"),
        ("var `two words`: Int", "2:9: a model has no property named 'two words'"),
        ("@Relationship(inverse: \\Other.a.b) var other: Other?", "2:28: the inverse of a relationship is a key path"),
        (
            "@Relationship(ownInverse: isOwn) var other: Other?",
            "2:31: whether a relationship is its own inverse is true or false"
        ),
        (
            "@Relationship(inverse: \\Other.a, ownInverse: true) var other: Other?",
            "2:50: a relationship has one inverse"
        ),
    ])
    func aMistakeWithoutAnObviousRemedyIsReported(line: String, problem: String) {
        let result = problems(line)
        #expect(result.problems.count == 1, "\(result.problems)")
        #expect(result.problems.first?.hasPrefix(problem) == true, "\(result.problems)")
        #expect(result.remedies.isEmpty)
    }

    @Test(arguments: [
        "static let all = 1", "static var count: Int = 0", "var total: Int { 1 }", "class var kind: Int { 1 }",
        "@Transient var action: (() -> Void)?",
    ])
    func whatTheModelDoesNotHoldIsLeftAlone(line: String) {
        #expect(problems(line).problems == [])
    }

    @Test func namesOfTheInitialValuesOfSubclassesAreRefusedWhereTheseExist() {
        #expect(problems("var object: String").problems == [])
        #expect(problems("var inherited: String").problems == [])
        let open = expansion("@Entity class Item: NSManagedObject {\n    var object: String\n}")
        #expect(
            open.problems == ["2:9: 'object' means something else in an @Entity class: give the property another name"])
    }

    @Test func theStorageOfAPropertyMayBeDeclared() {
        #expect(problems("var name: String\n    @Managed private var primitiveName: String?").problems == [])
        #expect(problems("var name: String\n    @Managed private var primitiveCount: Int64").problems.count == 1)
    }

    @Test func anEntityIsAClassWithASuperclass() {
        let alone = expansion("@Entity final class Item { var a: Int }")
        #expect(alone.problems == ["1:21: a class marked @Entity inherits from NSManagedObject or another such class"])
        #expect(alone.remedies == ["Item: NSManagedObject"])
        #expect(
            expansion("@Entity struct Item { var a: Int }").problems == [
                "1:1: @Entity belongs on a class that inherits from NSManagedObject"
            ])
    }

    @Test(arguments: [
        ("@Entity class Item<Kind>: NSManagedObject {}", "1:19: an @Entity class cannot be generic", [String]()),
        (
            "@Entity class Item: NSObject {}", "1:21: a class marked @Entity inherits from NSManagedObject",
            ["NSManagedObject"]
        ),
        (
            "@MainActor @Entity class Item: NSManagedObject {}",
            "1:1: an @Entity class cannot be isolated to the main actor",
            ["@Entity class Item: NSManagedObject {}"]
        ),
    ])
    func aClassThatCannotBeAnEntityIsReported(text: String, problem: String, remedies: [String]) {
        let result = expansion(text)
        #expect(result.problems.count == 1, "\(result.problems)")
        #expect(result.problems.first?.hasPrefix(problem) == true, "\(result.problems)")
        #expect(result.remedies == remedies)
        #expect(!result.expanded.contains("EntityObject"))
    }

    @Test func aPropertyWhoseExistenceDependsOnTheBuildIsReported() {
        let result = problems(
            """
            #if DEBUG
                var trace: String?
                #if os(Linux)
                let place: String
                #endif
                var length: Int { 1 }
                static let all = 1
                func show() {}
                #else
                var size: Int
                #endif
            """)
        let lines = result.problems.map { $0.split(separator: ":")[0] }
        #expect(lines == ["3", "5", "11"])
        #expect(result.problems.allSatisfy { $0.contains("cannot stand inside '#if'") })
    }

    @Test func aMarkOutsideOfAnEntityIsReported() {
        let result = expansion("class Item: NSManagedObject { @Attribute(.unique) var a: Int }")
        #expect(result.problems == ["1:31: @Attribute belongs on a stored property of a class marked @Entity"])
    }

    @Test(arguments: [
        ("final class Object", "1:21: 'Object' means something else in an @Entity class: give the class another name"),
        (
            "final class Snapshot",
            "1:21: 'Snapshot' means something else in an @Entity class: give the class another name"
        ),
        (
            "class InitialValues",
            "1:15: 'InitialValues' means something else in an @Entity class: give the class another name"
        ),
    ])
    func aClassIsNotNamedLikeAGeneratedMember(declaration: String, problem: String) {
        #expect(expansion("@Entity \(declaration): NSManagedObject { var name: String }").problems == [problem])
    }

    @Test func aFinalRootClassMayBeNamedInitialValues() {
        #expect(expansion("@Entity final class InitialValues: NSManagedObject { var name: String }").problems == [])
    }

    @Test(arguments: [
        ("var payload: Object", "2:18: 'Object' means"), ("var all: [Snapshot]?", "2:15: 'Snapshot' means"),
        ("var all: Set<Snapshot.Kind>", "2:18: 'Snapshot' means"),
    ])
    func aPropertysTypeIsNotNamedLikeAGeneratedMember(line: String, problem: String) {
        let result = problems(line)
        #expect(result.problems.count == 1, "\(result.problems)")
        #expect(result.problems.first?.hasPrefix(problem) == true, "\(result.problems)")
        #expect(
            result.problems.first?.hasSuffix("in an @Entity class: write it with its module, or give it another name")
                == true)
    }

    @Test(arguments: [
        "var payload: App.Object", "var last: Other.Snapshot", "@Transient var cache: Object?",
        "var values: InitialValues",
    ])
    func otherTypesOfTheseNamesAreLeftAlone(line: String) {
        #expect(problems(line).problems == [])
    }
}
