import MacroTestSupport
import SwiftSyntaxMacros
import Testing

@testable import MacroImplementations

private func expansion(_ source: String) -> MacroExpansion {
    MacroExpansion(source, macros: ["Managed": ManagedMacro.self, "ManagedAccessor": ManagedAccessorMacro.self])
}

struct MacroDiagnosticsTests {
    @Test func aManagedPropertyGetsTwoAccessors() {
        let result = expansion("class A { @Managed var name: String? }")
        #expect(result.problems.isEmpty)
        #expect(result.expanded.contains(#"_managedValue(forSlotNamed: "name")"#))
        #expect(result.expanded.contains(#"_setManagedValue(newValue, forSlotNamed: "name")"#))
    }

    @Test(arguments: [
        ("@Managed let name: String", "2:14: @Managed needs 'var'", "@Managed var name: String"),
        ("@Managed lazy var name: String", "2:14: @Managed cannot be lazy", "@Managed var name: String"),
        (
            "@Managed static var name: String?", "2:14: @Managed needs an instance property",
            "@Managed var name: String?"
        ),
        ("@Managed var age: Int16 = 0", "2:29: @Managed cannot have an initial value", "age: Int16"),
        ("@Managed var age: Int { 1 }", "2:27: @Managed writes the accessors itself", "var age: Int { 1 }"),
        (
            "@ManagedAccessor func addToTasks(_ v: Task) { }", "2:49: @ManagedAccessor writes the body itself",
            "@ManagedAccessor func addToTasks(_ v: Task)"
        ),
        (
            "@ManagedAccessor static func addToTasks(_ v: Task)", "2:22: @ManagedAccessor needs an instance method",
            "@ManagedAccessor func addToTasks(_ v: Task)"
        ),
    ])
    func aMistakeIsReportedWithItsRemedy(line: String, problem: String, remedy: String) {
        let result = expansion("class A {\n    \(line)\n}")
        #expect(result.problems.count == 1)
        #expect(result.problems.first?.hasPrefix(problem) == true, "\(result.problems)")
        #expect(result.remedies == [remedy])
    }

    @Test(arguments: [
        ("@Managed var name", "2:18: @Managed needs the property's type"),
        (#"@Managed(key: "a\(b)") var name: String?"#, "2:19: the key of @Managed must be a string literal"),
        ("@ManagedAccessor func grow(_ v: Int)", "2:27: @ManagedAccessor needs one of the methods"),
        ("@ManagedAccessor func addToTasks(_ v: Int) -> Int", "2:27: @ManagedAccessor needs one of the methods"),
        ("@ManagedAccessor func addTo(_ v: Int)", "2:27: @ManagedAccessor needs one of the methods"),
    ])
    func aMistakeWithoutAnObviousRemedyIsReported(line: String, problem: String) {
        let result = expansion("class A {\n    \(line)\n}")
        #expect(result.problems.count == 1)
        #expect(result.problems.first?.hasPrefix(problem) == true, "\(result.problems)")
        #expect(result.remedies.isEmpty)
    }

    @Test func aManagedPropertyBelongsInAClass() {
        let result = expansion("struct A {\n    @Managed var name: String?\n}")
        #expect(result.problems == ["2:5: @Managed belongs in a class that inherits from NSManagedObject"])
    }
}
