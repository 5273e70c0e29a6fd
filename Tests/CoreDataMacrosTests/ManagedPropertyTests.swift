import CoreData
import Testing

/// A stand-in for managed objects: it records each call of the expanded code.
class RecordingObject {
    var values: [String: Any] = [:]
    var calls: [String] = []

    func _managedValue(forSlotNamed name: StaticString) -> String? { values["\(name)"] as? String }
    func _setManagedValue(_ value: String?, forSlotNamed name: StaticString) { values["\(name)"] = value }
    func _managedValue(forSlotNamed name: StaticString) -> Int16 { values["\(name)"] as? Int16 ?? 0 }
    func _setManagedValue(_ value: Int16, forSlotNamed name: StaticString) { values["\(name)"] = value }

    func _addRelated(_ value: Any, forKey key: String) { calls.append("add \(value) to \(key)") }
    func _removeRelated(_ value: Any, forKey key: String) { calls.append("remove \(value) from \(key)") }
    func _insertRelated(_ value: Any, at index: Any, forKey key: String) {
        calls.append("insert \(value) at \(index) into \(key)")
    }
    func _removeRelated(at index: Any, forKey key: String) { calls.append("remove at \(index) from \(key)") }
    func _replaceRelated(at index: Any, with value: Any, forKey key: String) {
        calls.append("replace at \(index) by \(value) in \(key)")
    }
}

final class Employee: RecordingObject {
    @Managed public var name: String?
    @Managed public private(set) var age: Int16
    @Managed(key: "description_") var text: String?
    @Managed var `default`: String?

    func grow() { age += 1 }
}

extension Employee {
    @Managed var city: String?

    @ManagedAccessor public func addToTasks(_ value: String)
    @ManagedAccessor public func addToTasks(_ values: [String])
    @ManagedAccessor func removeFromTasks(_ value: String)
    @ManagedAccessor func insertIntoTasks(_ value: String, at idx: Int)
    @ManagedAccessor func removeFromTasks(at indexes: IndexSet)
    @ManagedAccessor func replaceTasks(at idx: Int, with value: String)
    @ManagedAccessor(key: "URLs") func addToURLs(_ value: String)
    @ManagedAccessor(key: "URLs") func addURLsObject(_ value: String)
}

struct ManagedPropertyTests {
    @Test func aPropertyReadsAndWritesItsSlot() {
        let employee = Employee()
        employee.name = "Ada"
        employee.grow()
        employee.city = "London"
        employee.default = "yes"
        #expect(employee.name == "Ada")
        #expect(employee.age == 1)
        #expect(Set(employee.values.keys) == ["name", "age", "city", "default"])
    }

    @Test func aKeyNamesTheModelledProperty() {
        let employee = Employee()
        employee.text = "x"
        #expect(employee.values["description_"] as? String == "x")
    }

    @Test func anAccessorMethodNamesItsRelationship() {
        let employee = Employee()
        employee.addToTasks("a")
        employee.addToTasks(["b", "c"])
        employee.removeFromTasks("a")
        employee.insertIntoTasks("d", at: 1)
        employee.removeFromTasks(at: IndexSet(integer: 2))
        employee.replaceTasks(at: 0, with: "e")
        employee.addToURLs("u")
        employee.addURLsObject("u")
        #expect(
            employee.calls == [
                "add a to tasks", #"add ["b", "c"] to tasks"#, "remove a from tasks", "insert d at 1 into tasks",
                "remove at 1 indexes from tasks", "replace at 0 by e in tasks", "add u to URLs", "add u to URLs",
            ])
    }
}
