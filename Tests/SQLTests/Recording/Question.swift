@testable import CoreData

/// A predicate whose SQL is looked at.
struct Question: Sendable {
    let entity: String
    let format: String
    let arguments: [Argument]

    enum Argument: Sendable {
        case value(any Sendable)
        case object(String, Int64)
        case objects(String, [Int64])
    }

    init(_ entity: String, _ format: String, _ arguments: Argument...) {
        self.entity = entity
        self.format = format
        self.arguments = arguments
    }

    init(_ format: String, _ arguments: Argument...) {
        self.init(entity: "Employee", format: format, arguments: arguments)
    }

    private init(entity: String, format: String, arguments: [Argument]) {
        self.entity = entity
        self.format = format
        self.arguments = arguments
    }

    func predicate(_ objectID: (String, Int64) -> NSManagedObjectID) -> NSPredicate {
        NSPredicate(
            format: format,
            argumentArray: arguments.map { argument -> Any in
                switch argument {
                case .value(let value): value
                case .object(let entity, let key): objectID(entity, key)
                case .objects(let entity, let keys): keys.map { objectID(entity, $0) }
                }
            })
    }

    static let badge = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
    static let badges = (0..<UInt8(20)).map { UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, $0)) }

    // MARK: The questions

    static let equality = [
        Question("name == 'Anna'"), Question("name != 'Anna'"), Question("name == nil"), Question("name != nil"),
        Question("'Anna' == name"), Question("name == site"), Question("name != site"), Question("age == 30"),
        Question("age != 30"),
        Question("age == shoes"), Question("age != shoes"), Question("age == rating"), Question("active == YES"),
        Question("active == 1"), Question("active != NO"), Question("salary == 10.5"), Question("salary != 10.5"),
        Question("hired == %@", .value(Date(timeIntervalSinceReferenceDate: 1000.5))), Question("hired != hired"),
        Question("hired == 5"), Question("badge == %@", .value(badge)),
        Question("badge == '01020304-0506-0708-090A-0B0C0D0E0F10'"), Question("badge == 'no badge'"),
        Question("badge != 'no badge'"), Question("site == %@", .value(URL(fileURLWithPath: "/b"))),
        Question("name == 5"),
        Question("name == age"), Question("age == 'thirty'"), Question("age == '30'"), Question("name == hired"),
        Question("notes == %@", .value(Data([1, 2, 255]))), Question("photo == %@", .value(Data([1, 2]))),
        Question("photo == nil"),
        Question("photo != notes"), Question("name ==[c] 'BOB'"), Question("name !=[cd] 'ANDRE'"),
        Question("name ==[cd] site"),
        Question("1 == 1"), Question("'a' == 'b'"),
    ]

    static let orders = [
        Question("age > 30"), Question("age >= 30 AND age <= 50"), Question("age < shoes"), Question("30 < age"),
        Question("name < 'M'"), Question("name >=[c] 'm'"),
        Question("hired < %@", .value(Date(timeIntervalSinceReferenceDate: 0))),
        Question("hired < 5"), Question("salary <= 99.99"), Question("rating > nil"), Question("age BETWEEN {30, 40}"),
        Question("name BETWEEN {'a', 'b'}"), Question("name BETWEEN[c] {'a', 'b'}"),
        Question("age BETWEEN {shoes, steps + 1}"),
        Question("age < name"), Question("active > 0"), Question("hired > active"),
    ]

    static let texts = [
        Question("name BEGINSWITH 'An'"), Question("name BEGINSWITH ''"), Question("name BEGINSWITH 'a\u{10ffff}'"),
        Question("name BEGINSWITH[cd] 'an'"), Question("name ENDSWITH 'a'"), Question("name ENDSWITH ''"),
        Question("name ENDSWITH[c] 'A'"), Question("name CONTAINS 'nn'"), Question("name CONTAINS ''"),
        Question("name CONTAINS[cd] 'DRE'"), Question("name LIKE 'A*'"), Question("name LIKE[c] '?OB'"),
        Question("name MATCHES '[A-C].*a'"), Question("name MATCHES[c] 'a.*'"), Question("name BEGINSWITH site"),
        Question("age BEGINSWITH '3'"), Question("badge CONTAINS 'A'"), Question("name IN 'Anna and others'"),
        Question("site.length > 3"), Question("name.length == 4"), Question("address.city.length == 4"),
        Question("address.city BEGINSWITH 'B'"), Question("department.name BEGINSWITH 'L'"), Question("name LIKE nil"),
    ]

    static let lists = [
        Question("age IN {30, 60}"), Question("NOT (age IN {30, 60})"), Question("age IN {}"),
        Question("age IN %@", .value(Array(1...40))), Question("rating IN %@", .value((1...20).map { Double($0) / 4 })),
        Question("name IN %@", .value((1...20).map { "n\($0)\"'" })), Question("name IN[c] {'a', 'b'}"),
        Question("name IN %@", .value((1...20).map { "n\($0)\0" })), Question("badge IN %@", .value(badges)),
        Question("notes IN %@", .value((0..<UInt8(20)).map { Data([$0, 200]) })),
        Question("salary IN %@", .value(Array(1...20))),
        Question("active IN {YES, NO}"), Question("age IN {1, nil, 3}"), Question("age IN {shoes, 3}"),
        Question("age IN {1, 'two', 3.5}"),
        Question("hired IN %@", .value((1...20).map { Date(timeIntervalSinceReferenceDate: Double($0)) })),
        Question("{1, 2} CONTAINS age"), Question("ANY {1, 2} == age"), Question("ALL {1, 2} < age"),
        Question("address.city IN {'Bern'}"),
    ]

    static let objects = [
        Question("department == %@", .object("Department", 1)), Question("department != %@", .object("Department", 1)),
        Question("department == nil"), Question("department IN %@", .objects("Department", [1, 2])),
        Question("department IN %@", .objects("Department", Array(1...20))),
        Question("SELF == %@", .object("Employee", 1)),
        Question("SELF IN %@", .objects("Employee", [1, 2])),
        Question("SELF IN %@", .objects("Employee", Array(1...20))),
        Question("SELF != %@", .object("Employee", 1)), Question("department == %@", .object("Tag", 1)),
        Question("boss == SELF"),
        Question("boss.boss.department.name == 'Lab'"), Question("boss == department"),
        Question("department.objectID == boss"),
        Question("objectID == %@", .object("Employee", 1)), Question("entity.name == 'Manager'"),
        Question("boss.entity.name != 'Manager'"),
        Question("level == 3"), Question("Manager", "level == 3 AND name == 'x'"), Question("Tag", "name == 'x'"),
    ]

    static let collections = [
        Question("ANY tags.name == 'red'"), Question("tags.name == 'blue'"), Question("ALL tags.name == 'blue'"),
        Question("NONE tags.name == 'blue'"), Question("tags.@count == 2"), Question("tasks.@count > 1"),
        Question("favourites.@count == 0"),
        Question("friends.@count == 0"), Question("projects.@count == 0"), Question("ANY friends.name == 'x'"),
        Question("ANY favourites.name == 'x'"), Question("ANY tasks.name ==[c] 'x'"),
        Question("ANY projects.name == 'x'"),
        Question("ANY department.employees.age > 3"), Question("department.employees.@count == 2"),
        Question("department.employees.@sum.age > 2"), Question("department.employees.@avg.age > 2"),
        Question("department.employees.age.@max > 2"), Question("department.employees.@min.name == 'x'"),
        Question("department.employees.name.@count == 2"), Question("department.employees.@sum.salary > 2.5"),
        Question("department.employees.@avg.salary == salary"), Question("department.employees.@sum.rating > 2"),
        Question("department.employees.@max.hired > hired"), Question("department.employees.boss.name.@max == 'x'"),
        Question("SUBQUERY(tags, $t, $t.name == 'red' OR $t.name == name).@count == 2"),
        Question(
            "SUBQUERY(tasks, $t, $t.owner == SELF AND SUBQUERY($t.owner.tags, $u, $u.name == $t.name).@count > "
                + "0).@count == 2"
        ),
        Question("count:(tags) == 2"), Question("max:(tasks.name) == 'x'"),
        Question("boss IN SUBQUERY(department.employees, $e, $e.age > 3)"),
        Question("Department", "%@ IN employees", .object("Employee", 1)),
        Question("Department", "employees CONTAINS %@", .object("Employee", 1)),
        Question("Department", "ANY employees IN %@", .objects("Employee", [1, 2])),
        Question("Department", "ANY employees.active == YES"),
        Question("ANY tags == %@", .object("Tag", 1)), Question("ANY age == 3"), Question("ALL department.name == 'x'"),
        Question("ANY photo == %@", .value(Data([1]))), Question("Tag", "ANY employees.level == 3"),
    ]

    static let calculations = [
        Question("age + 10 == 40"), Question("age - shoes * 2 > steps / 3"), Question("rating / 2 > 1"),
        Question("modulus:by:(age, 3) == 1"),
        Question("bitwiseAnd:with:(age, 3) == 1"), Question("bitwiseOr:with:(age, 3) == 1"),
        Question("leftshift:by:(age, 3) == 1"),
        Question("rightshift:by:(age, 3) == 1"), Question("bitwiseXor:with:(age, 3) == 1"),
        Question("onesComplement:(age) == 1"),
        Question("abs:(age) == 1"), Question("sqrt:(rating) == 1"), Question("floor:(rating) == 1"),
        Question("ceiling:(age) == 1"),
        Question("trunc:(rating) == 1"), Question("exp:(rating) == 1"), Question("ln:(rating) == 1"),
        Question("log:(rating) == 1"),
        Question("age ** 2 == 4"), Question("salary + 1 == 2.5"), Question("salary * 2 > salary"),
        Question("salary / 3 == 0.1"),
        Question("uppercase:(name) == 'ANNA'"), Question("lowercase:(name) == 'anna'"),
        Question("canonical:(name) == 'anna'"),
        Question("length:(name) == 4"), Question("length:(age) == 4"), Question("noindex:(age) == 4"),
        Question("hired + 60 > hired"),
        Question("hired - hired > 60"), Question("TERNARY(age > 3, name, 'none') == 'x'"),
        Question("TERNARY(age > 3, age, rating) == 1"),
        Question("TERNARY(age > 3, salary + 1, 2) == 1"), Question("TERNARY(age > 3, department, nil) == department"),
        Question("modulus:by:(rating, 3) == 1"), Question("photo == noindex:(notes)"),
    ]

    static let composites = [
        Question("address == nil"), Question("address != nil"), Question("address.city == 'Bern'"),
        Question("address.place.latitude > 3"), Question("address.place == nil"),
        Question(
            "address == %@",
            .value(
                ["city": "Bern", "street": "", "place": ["latitude": 1.5, "longitude": 2.5]] as [String: any Sendable]
            )),
        Question("address != %@", .value(["city": "Bern"])), Question("address == boss.address"),
    ]

    static let compounds = [
        Question("TRUEPREDICATE"), Question("FALSEPREDICATE"), Question("NOT (age == 30)"),
        Question("NOT (age == 30 OR name == 'x')"),
        Question("age == 1 AND (name == 'x' OR NOT (rating > 2 AND active == YES))"), Question(tall(20)),
        Question(tall(24, alternating: true)),
        Question(wide(510, "age == %d", " OR ")), Question(wide(510, "age != %d", " AND ")),
        Question(wide(501, "rating > %d + age", " OR ")),
        Question(wide(120, "name BEGINSWITH 'n%d'", " OR ")),
    ]

    static let refused = [
        Question("nothing == 1"), Question("name.nothing == 1"), Question("tags.employees.name == 'x'"),
        Question("likes > 3"),
        Question("address > 3"), Question("address == 3"), Question("address.nothing == 3"), Question("name == $x"),
        Question("department < boss"), Question("tags.@median.name == 'x'"), Question("notes LIKE 'x'"),
        Question("age IN 5"), Question("tags == name.more"), Question("hired * 2 == 3"),
        Question("uppercase:(hired) == 'x'"),
    ]

    static let all: [(name: String, questions: [Question])] = [
        ("equality", equality), ("orders", orders), ("texts", texts), ("lists", lists), ("objects", objects),
        ("collections", collections),
        ("calculations", calculations), ("composites", composites), ("compounds", compounds), ("refused", refused),
    ]

    /// Conditions in parentheses, each with the next one within it.
    private static func tall(_ height: Int, alternating: Bool = false) -> String {
        (0..<height).reduce("name == 'x'") { inner, level in
            let isOr = alternating && level % 2 == 0
            return (alternating && level % 5 == 0 ? "NOT " : "") + "(age == \(level) \(isOr ? "OR" : "AND") (\(inner)))"
        }
    }

    private static func wide(_ count: Int, _ format: String, _ separator: String) -> String {
        (0..<count).map { format.replacingOccurrences(of: "%d", with: String($0)) }.joined(separator: separator)
    }
}
