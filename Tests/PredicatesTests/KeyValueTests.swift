import Predicates
import Testing

struct KeyValueTests {
    private final class Department: KeyValueCoding {
        var name: String?
        var employees: Set<Employee> = []
        init(name: String?) { self.name = name }

        func value(forKey key: String) -> Any? {
            switch key {
            case "name": name
            case "employees": employees
            default: nil
            }
        }

        func setValue(_ value: Any?, forKey key: String) {
            if key == "name" { name = value as? String }
        }
    }

    private class Person {
        let age: Int?
        init(age: Int?) { self.age = age }
    }

    private final class Employee: Person, Hashable {
        var department: Department?
        let skills: [String]

        init(age: Int?, skills: [String]) {
            self.skills = skills
            super.init(age: age)
        }

        static func == (left: Employee, right: Employee) -> Bool { left === right }
        func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
    }

    private func makeDepartment() -> Department {
        let department = Department(name: "Tools")
        department.employees = [
            Employee(age: 30, skills: ["a", "b"]), Employee(age: 40, skills: ["b"]), Employee(age: nil, skills: []),
        ]
        for employee in department.employees { employee.department = department }
        return department
    }

    @Test func aPathGoesThroughObjectsAndSets() {
        let department = makeDepartment()
        #expect(department.value(forKeyPath: "name") as? String == "Tools")
        #expect(department.value(forKeyPath: "employees.@count") as? Int == 3)
        #expect(department.value(forKeyPath: "employees.department.name") as? [String] == ["Tools"])
        #expect(department.value(forKeyPath: "self.name") as? String == "Tools")
        let ages = department.value(forKeyPath: "employees.age") as? Set<AnyHashable>
        #expect(ages == [30, 40])
        #expect(department.value(forKeyPath: "employees.age.@count") as? Int == 2)
    }

    /// Importers tell what is null from what is not given.
    @Test func aNullAtTheEndOfADictionarysPathIsANull() {
        let person =
            ["name": NSNull(), "address": ["city": NSNull(), "street": "Hill"] as NSDictionary] as NSDictionary
        #expect(person.value(forKeyPath: "name") is NSNull)
        #expect(person.value(forKeyPath: "address.city") is NSNull)
        #expect(person.value(forKeyPath: "address.street") as? String == "Hill")
        #expect(person.value(forKeyPath: "address.number") == nil)
        #expect(NSPredicate(format: "name == nil AND address.city == nil").evaluate(with: person))
    }

    @Test func collectionOperatorsButTheMeanLeaveNilOut() {
        let department = makeDepartment()
        #expect(department.value(forKeyPath: "employees.@sum.age") as? Int == 70)
        // The mean takes a value that is missing for zero; that of a predicate leaves it out, as
        // stores do.
        #expect(department.value(forKeyPath: "employees.@avg.age") as? Double == 70.0 / 3)
        #expect(NSPredicate(format: "employees.@avg.age == 35").evaluate(with: department))
        #expect(
            NSExpression(forKeyPath: "employees.@avg.age").expressionValue(with: department, context: nil) as? Double
                == 35)
        #expect(department.value(forKeyPath: "employees.@min.age") as? Int == 30)
        #expect(department.value(forKeyPath: "employees.@max.age") as? Int == 40)
        let ages = department.value(forKeyPath: "employees.@unionOfObjects.age") as? [Int]
        #expect(ages?.sorted() == [30, 40])
        let names = department.value(forKeyPath: "employees.@distinctUnionOfObjects.department.name")
        // Distinct values of the elements of a set are a set.
        #expect(names as? Set<String> == ["Tools"])
        #expect(names as? NSSet == NSSet(array: ["Tools"]))
        let skills = department.value(forKeyPath: "employees.@unionOfArrays.skills") as? [String]
        #expect(skills?.sorted() == ["a", "b", "b"])
        let distinct = department.value(forKeyPath: "employees.@distinctUnionOfArrays.skills") as? Set<String>
        #expect(distinct == ["a", "b"])
        #expect(NSPredicate(format: "'b' IN employees.@distinctUnionOfArrays.skills").evaluate(with: department))
    }

    @Test func operatorsOnNothingCountZeroAndHaveNoExtremes() {
        let empty: [String: Any] = ["items": [Int]()]
        #expect(KeyValue.value(forKeyPath: "items.@count", of: empty) as? Int == 0)
        #expect(KeyValue.value(forKeyPath: "items.@sum.self", of: empty) as? Int == 0)
        #expect(KeyValue.value(forKeyPath: "items.@max.self", of: empty) == nil)
        #expect(KeyValue.value(forKeyPath: "items.@avg.self", of: empty) == nil)
        #expect(KeyValue.value(forKeyPath: "none.@avg.self", of: empty) == nil)
        let unknown: [[String: Any]] = [[:], [:]]
        #expect(KeyValue.value(forKeyPath: "@avg.age", of: unknown) as? Double == 0)
        #expect(KeyValue.value(forKeyPath: "@sum.age", of: unknown) as? Int == 0)
        #expect(KeyValue.value(forKeyPath: "@min.age", of: unknown) == nil)
        #expect(KeyValue.value(forKeyPath: "none.@count", of: empty) as? Int == 0)
    }

    @Test func unionsOfSetsJoinTheSets() {
        let rows: [[String: Any]] = [["s": Set([1, 2])], ["s": NSSet(array: [2, 3])]]
        let sets = NSSet(array: rows.map { $0 as NSDictionary })
        for all in [
            KeyValue.value(forKeyPath: "@distinctUnionOfSets.s", of: sets),
            KeyValue.value(forKeyPath: "@unionOfSets.s", of: sets),
            KeyValue.value(forKeyPath: "@unionOfSets.s", of: rows),
        ] {
            #expect(all as? Set<Int> == [1, 2, 3])
            #expect(all as? NSSet == NSSet(array: [1, 2, 3]))
        }
        // An array has an array of what is distinct.
        let all = KeyValue.value(forKeyPath: "@distinctUnionOfSets.s", of: rows)
        #expect((all as? [Int])?.sorted() == [1, 2, 3])
        #expect(KeyValue.value(forKeyPath: "@distinctUnionOfSets.s", of: [[String: Any]]()) as? [Int] == [])
        #expect(KeyValue.value(forKeyPath: "@distinctUnionOfSets.s", of: NSSet()) as? Set<Int> == [])
    }

    @Test func valuesOfAnOrderedSetAreOne() {
        let lines = NSOrderedSet(
            array: [["name": "b", "n": 1], ["n": 2], ["name": "a"], ["name": "b"]] as [NSDictionary])
        #expect(lines.value(forKey: "name") as? NSOrderedSet == NSOrderedSet(array: ["b", "a"]))
        let order: NSDictionary = ["lines": lines]
        #expect(order.value(forKeyPath: "lines.name") as? NSOrderedSet == NSOrderedSet(array: ["b", "a"]))
        #expect(order.value(forKeyPath: "lines.@sum.n") as? Int == 3)
        #expect(NSPredicate(format: "ANY lines.name == 'a' AND lines.name.@count == 4").evaluate(with: order))
        let prices = NSOrderedSet(
            array: [["price": NSDecimalNumber(value: 2)], ["price": NSDecimalNumber(value: 2)]] as [NSDictionary])
        #expect(prices.value(forKey: "price") as? [NSDecimalNumber] == [2])
    }

    @Test func unionsOfObjectsAndArraysAreArrays() {
        let sets: [[String: Any]] = [["s": [1, 2], "n": 1], ["s": NSArray(array: [2, 3]), "n": 1], ["n": NSNull()]]
        #expect(KeyValue.value(forKeyPath: "@unionOfArrays.s", of: sets) as? [Int] == [1, 2, 2, 3])
        #expect(KeyValue.value(forKeyPath: "@distinctUnionOfArrays.s", of: sets) as? [Int] == [1, 2, 3])
        #expect(KeyValue.value(forKeyPath: "@unionOfObjects.n", of: sets) as? [Int] == [1, 1])
        #expect(KeyValue.value(forKeyPath: "@distinctUnionOfObjects.n", of: sets) as? [Int] == [1])
    }

    @Test func predicatesAskUnionsOfSets() {
        let sets: NSDictionary = ["rows": [["s": Set([1, 2])], ["s": Set([2, 3])]]]
        #expect(NSPredicate(format: "3 IN rows.@distinctUnionOfSets.s").evaluate(with: sets))
        #expect(!NSPredicate(format: "4 IN rows.@distinctUnionOfSets.s").evaluate(with: sets))
    }

    @Test func foundationCollectionsReadByKey() {
        let rows: NSArray = [["a": 1], ["a": 2], ["b": 3]]
        #expect((rows.value(forKey: "a") as? NSArray) == [1, 2, NSNull()])
        #expect(rows.value(forKeyPath: "@sum.a") as? Int == 3)
        #expect(NSSet(array: ["x", "yy"]).value(forKey: "length") as? Set<Int> == [1, 2])
        #expect(NSSet(array: [["a": 1], ["b": 2]] as [NSDictionary]).value(forKey: "a") as? Set<Int> == [1])
        #expect(
            NSOrderedSet(array: ["x", "yy"]).value(forKey: "length") as? NSOrderedSet == NSOrderedSet(array: [1, 2]))
        let nested: NSDictionary = ["a": ["b": [1, 2, 3]]]
        #expect(nested.value(forKeyPath: "a.b.@count") as? Int == 3)
        #expect(nested.value(forKey: "a") is NSDictionary || nested.value(forKey: "a") is [String: [Int]])
    }

    private struct Tag: Hashable {
        let number: Int
        let name: String
    }

    /// Texts that differ only in how a letter is composed are two, which no `Set` of strings holds.
    @Test func textsOfOtherCodePointsStayApart() {
        let (short, long) = ("caf\u{e9}", "cafe\u{301}")
        for number in 0..<20 {
            let names = [short, long, short].enumerated()
            let item: [String: Any] = ["tags": Set(names.map { Tag(number: number + $0.offset, name: $0.element) })]
            for name in [short, long] { #expect(NSPredicate(format: "ANY tags.name == %@", name).evaluate(with: item)) }
            #expect(NSPredicate(format: "tags.name == %@", [short, long]).evaluate(with: item))
            #expect(NSPredicate(format: "tags.name == %@", [long, short]).evaluate(with: item))
            #expect(!NSPredicate(format: "tags.name == %@", Set([long])).evaluate(with: item))
            #expect(NSPredicate(format: "tags.name.@count == 2").evaluate(with: item))
            let values: [Any?] = [
                KeyValue.value(forKeyPath: "tags.name", of: item), KeyValue.value(forKey: "name", of: item["tags"]),
                KeyValue.value(forKeyPath: "tags.@distinctUnionOfObjects.name", of: item),
                NSExpression(forKeyPath: "tags.name").expressionValue(with: item, context: nil),
            ]
            for value in values { #expect((value as? [String])?.map(\.unicodeScalars.count).sorted() == [4, 5]) }
        }
    }

    @Test func plainSwiftValuesAreReadByReflection() {
        struct Point {
            var x = 1
            var label: String?? = "p"
            var none: Int?
        }
        #expect(KeyValue.value(forKey: "x", of: Point()) as? Int == 1)
        #expect(KeyValue.value(forKey: "label", of: Point()) as? String == "p")
        #expect(KeyValue.value(forKey: "none", of: Point()) == nil)
        #expect(KeyValue.value(forKey: "unknown", of: Point()) == nil)
        #expect(KeyValue.value(forKey: "age", of: Employee(age: 3, skills: [])) as? Int == 3)
    }

    @Test func settingByPathReachesTheLastObject() {
        let department = makeDepartment()
        let dictionary: NSMutableDictionary = ["department": department]
        KeyValue.setValue("Parts", forKeyPath: "department.name", of: dictionary)
        #expect(department.name == "Parts")
        department.setValue(nil, forKeyPath: "name")
        #expect(department.name == nil)
        KeyValue.setValue("x", forKeyPath: "missing.name", of: dictionary)
        dictionary.setValue(nil, forKey: "department")
        #expect(dictionary.count == 0)
    }
}
