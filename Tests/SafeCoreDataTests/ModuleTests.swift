import SafeCoreData
import Testing

struct ModuleTests {
    @Test func importingTheModuleBringsTheEngine() {
        #expect(NSPredicate(format: "count > 1").predicateFormat == "count > 1")
    }
}
