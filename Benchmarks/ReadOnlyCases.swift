import CoreData
import SafeCoreData

// Reading through read-only views. The other side reads the same properties from the objects
// themselves.

extension Harness {
    private static let rounds = 20

    private static func sum(_ view: ReadOnly<Wide>) -> Int64 {
        view.a &+ view.b &+ view.c &+ view.d &+ view.e &+ view.f &+ view.g &+ view.h &+ view.i &+ view.j
    }

    private static func length(_ object: Employee) -> Int64 {
        Int64(object.name?.utf8.count ?? 0) &+ object.salary &+ Int64(object.department?.name?.utf8.count ?? 0)
    }

    private static func length(_ view: ReadOnly<Employee>) -> Int64 {
        Int64(view.name?.utf8.count ?? 0) &+ view.salary &+ Int64(view.department?.name?.utf8.count ?? 0)
    }

    func readOnlyViews() throws {
        try readIntegers()
        try readTexts()
    }

    private func readIntegers() throws {
        guard wants("S1") else { return }
        let (_, coordinator) = try wideStore(5_000)
        let context = context(coordinator)
        let objects = try context.fetch(NSFetchRequest<Wide>(entityName: "Wide"))
        let views = try context.fetch(readOnly: NSFetchRequest<Wide>(entityName: "Wide"))
        try compare("S1 read 10 integers of 5,000 views, 20 times", bound: 2) {
            Self.time {
                for _ in 0..<Self.rounds { for view in views { Self.sink &+= Self.sum(view) } }
            }
        } raw: {
            Self.time {
                for _ in 0..<Self.rounds { for object in objects { Self.sink &+= Self.sum(object) } }
            }
        }
    }

    private func readTexts() throws {
        guard wants("S2") else { return }
        let coordinator = try coordinator(newURL())
        let context = context(coordinator)
        for number in 0..<50 {
            let department = Department(context: context)
            department.name = "Department \(number)"
            for index in 0..<100 {
                let employee = Employee(context: context)
                employee.name = "Employee \(index)"
                employee.salary = Int64(index)
                employee.department = department
            }
        }
        try context.save()
        let objects = try context.fetch(NSFetchRequest<Employee>(entityName: "Employee"))
        let views = try context.fetch(readOnly: NSFetchRequest<Employee>(entityName: "Employee"))
        try compare("S2 read 2 texts, one across a relationship, of 5,000 views", bound: 2) {
            Self.time {
                for _ in 0..<Self.rounds { for view in views { Self.sink &+= Self.length(view) } }
            }
        } raw: {
            Self.time {
                for _ in 0..<Self.rounds { for object in objects { Self.sink &+= Self.length(object) } }
            }
        }
    }
}
