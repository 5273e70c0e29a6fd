@testable import CoreData

/// Saves of every kind into a store of the company.
enum SavedCompany {
    static func fill(_ store: RecordedStore) throws {
        store.recorder.clear()
        for entity in ["Department", "Employee", "Tag", "Task", "Project"] {
            store.recorder.note("keys for \(entity)")
            _ = try store.store.reserveKeys(entity == "Employee" ? 5 : 3, for: store.layout(entity))
        }
        _ = try store.store.reserveKeys(2, for: store.layout("Manager"))
        store.save("inserts") {
            $0.inserts = [
                store.change("Department", 1, ["name": .string("Sales")]),
                store.change("Tag", 1, ["name": .string("red")]),
                store.change("Tag", 2), store.change("Tag", 3), store.change("Task", 1, ["name": .string("Sweep")]),
                store.change("Task", 2),
                store.change("Task", 3), store.change("Project", 1), store.change("Project", 2),
                store.change("Project", 3),
            ]
            $0.author.contextName = "importer"
            $0.author.transactionAuthor = "tests"
        }
        store.save("an insert of every type") {
            $0.inserts = [
                store.change(
                    "Employee", 1,
                    [
                        "name": .string("Anna"), "age": .integer(30), "shoes": .integer(38), "steps": .integer(1),
                        "salary": .decimal(10.5),
                        "hired": .double(1000.5), "rating": .double(0.5), "score": .double(2.25),
                        "badge": .uuid(Question.badge),
                        "site": .string("https://example.com/b"), "active": .integer(1), "notes": .data(Data([1, 2])),
                        "photo": .data(Data([3, 4])), "likes": .data(Data([5])), "address.city": .string("Bern"),
                        "address.place.latitude": .double(46.5),
                        "department": .reference(store.reference("Department", 1)),
                    ])
            ]
        }
        store.save("more inserts") {
            $0.inserts = (2...4).map { store.change("Employee", Int64($0), ["name": .string("n\($0)")]) }
            $0.inserts += [
                store.change("Manager", 6, ["level": .integer(3), "boss": .reference(store.reference("Employee", 1))])
            ]
        }
        try updates(store)
        try relationships(store)
        try conflicts(store)
        try deletes(store)
    }

    private static func updates(_ store: RecordedStore) throws {
        try store.save("an update") {
            $0.updates = [
                store.change(
                    "Employee", 1,
                    ["name": .null, "photo": .data(Data([6])), "department": .null, "address.city": .string("Basel")],
                    base: try store.row("Employee", 1))
            ]
        }
        try store.save("an update of a reference to several entities") {
            $0.updates = [
                store.change(
                    "Employee", 2, ["boss": .reference(store.reference("Manager", 6))],
                    base: try store.row("Employee", 2)),
                store.change(
                    "Employee", 3, ["boss": .reference(store.reference("Employee", 1))],
                    base: try store.row("Employee", 3)),
            ]
        }
        try store.save("an update of a version alone") {
            var change = store.change("Tag", 1, base: try store.row("Tag", 1))
            change.touchesVersionOnly = true
            $0.updates = [change]
        }
        try store.save("unique values change places") {
            let (first, second) = (try store.row("Employee", 1), try store.row("Employee", 2))
            $0.updates = [
                store.change("Employee", 1, ["badge": .uuid(Question.badges[2])], base: first),
                store.change("Employee", 2, ["badge": .uuid(Question.badge)], base: second),
            ]
        }
        try store.save("unique values are exchanged") {
            let (first, second) = (try store.row("Employee", 1), try store.row("Employee", 2))
            $0.updates = [
                store.change("Employee", 1, ["badge": .uuid(Question.badge)], base: first),
                store.change("Employee", 2, ["badge": .uuid(Question.badges[2])], base: second),
            ]
        }
    }

    private static func relationships(_ store: RecordedStore) throws {
        func references(_ entity: String, _ keys: Int64...) -> [RowReference] {
            keys.map { store.reference(entity, $0) }
        }
        store.save("many to many") {
            $0.relationshipChanges = [
                store.relationship("Employee", 1, "tags", added: references("Tag", 1, 2)),
                store.relationship("Employee", 2, "tags", added: references("Tag", 2), removed: references("Tag", 1)),
            ]
        }
        store.save("its own inverse") {
            $0.relationshipChanges = [
                store.relationship(
                    "Employee", 1, "friends", added: references("Employee", 2, 3), removed: references("Employee", 4))
            ]
        }
        store.save("ordered on both sides") {
            $0.relationshipChanges = [
                store.relationship("Employee", 1, "projects", added: references("Project", 1, 2, 3)),
                store.relationship("Project", 1, "members", added: references("Employee", 2)),
            ]
        }
        store.save("ordered anew") {
            $0.relationshipChanges = [
                store.relationship(
                    "Employee", 1, "projects", removed: references("Project", 2), order: references("Project", 3, 1))
            ]
        }
        try store.save("ordered, one to many") {
            $0.updates = try (1...3).map { key in
                store.change(
                    "Task", key, ["owner": .reference(store.reference("Employee", 1))], base: try store.row("Task", key)
                )
            }
            $0.relationshipChanges = [store.relationship("Employee", 1, "tasks", added: references("Task", 1, 2, 3))]
        }
        store.save("ordered anew, one to many") {
            $0.relationshipChanges = [store.relationship("Employee", 1, "tasks", order: references("Task", 3, 1, 2))]
        }
        store.save("without an inverse") {
            $0.relationshipChanges = [
                store.relationship("Employee", 1, "favourites", added: references("Tag", 1, 2)),
                store.relationship("Manager", 6, "favourites", added: references("Tag", 3)),
            ]
        }
        store.save("without an inverse, ordered anew") {
            $0.relationshipChanges = [
                store.relationship(
                    "Employee", 1, "favourites", added: references("Tag", 3), removed: references("Tag", 1),
                    order: references("Tag", 3, 2))
            ]
        }
    }

    private static func conflicts(_ store: RecordedStore) throws {
        let stale = try store.row("Employee", 3)
        try store.save("a change by another") {
            $0.updates = [store.change("Employee", 3, ["age": .integer(1)], base: try store.row("Employee", 3))]
        }
        store.save("an update of an old version") {
            $0.updates = [store.change("Employee", 3, ["age": .integer(2)], base: stale)]
        }
        store.save("a check of an old version") { $0.versionChecks = [store.change("Employee", 3, base: stale)] }
        store.save("a deletion of an old version") { $0.deletes = [store.change("Employee", 3, base: stale)] }
        store.save("a unique value that another has") {
            $0.inserts = [store.change("Employee", 5, ["badge": .uuid(Question.badge)])]
        }
        store.save("a key that another has") { $0.inserts = [store.change("Tag", 1)] }
    }

    private static func deletes(_ store: RecordedStore) throws {
        try store.save("deletions") {
            $0.deletes = [
                store.change("Employee", 1, base: try store.row("Employee", 1)),
                store.change("Tag", 2, base: try store.row("Tag", 2)),
                store.change("Department", 1),
            ]
        }
    }
}

/// Sort orders whose SQL is looked at.
enum Sorting {
    static let keys = [
        "name", "age", "salary", "hired", "active", "badge", "department.name", "boss.department.name", "tags.@count",
        "address.city",
        "likes", "address", "department", "entity.name", "photo", "nothing",
    ]

    static let selectors = [
        "compare:", "caseInsensitiveCompare:", "localizedCompare:", "localizedCaseInsensitiveCompare:",
        "localizedStandardCompare:",
        "length:",
    ]
}

/// Fetches for dictionaries whose SQL is looked at.
struct DictionaryFetch {
    let title: String
    let fill: @Sendable (inout StoreFetch) -> Void

    private init(
        _ title: String, _ columns: @escaping @Sendable () -> StoreFetch.DictionaryColumns,
        _ more: @escaping @Sendable (inout StoreFetch) -> Void = { _ in }
    ) {
        self.title = title
        fill = { fetch in
            fetch.shape = .dictionaries
            fetch.columns = columns()
            more(&fetch)
        }
    }

    static func expression(_ name: String, _ format: String, _ type: NSAttributeType) -> NSExpressionDescription {
        let description = NSExpressionDescription()
        description.name = name
        description.expression = NSExpression(format: format)
        description.expressionResultType = type
        return description
    }

    static let all = [
        DictionaryFetch("all attributes") { .init(properties: []) },
        DictionaryFetch("some") {
            .init(properties: [
                "name", "department", "boss", "address", "address.city", "objectID", "department.name", "photo",
                "tags.@count",
            ])
        },
        DictionaryFetch("distinct", { .init(properties: ["name", "age"], isDistinct: true) }) {
            $0.sortDescriptors = [NSSortDescriptor(key: "name", ascending: false)]
            $0.limit = 5
            $0.offset = 2
        },
        DictionaryFetch("distinct, in another order", { .init(properties: ["name"], isDistinct: true) }) {
            $0.sortDescriptors = [NSSortDescriptor(key: "age", ascending: true)]
        },
        DictionaryFetch("aggregates") {
            .init(properties: [
                expression("n", "count:(name)", .integer64AttributeType),
                expression("all", "@count", .integer64AttributeType),
                expression("oldest", "max:(age)", .integer64AttributeType),
                expression("sum", "@sum.age", .integer64AttributeType),
                expression("mean", "average:(age)", .doubleAttributeType),
                expression("pay", "sum:(salary)", .decimalAttributeType),
                expression("meanPay", "average:(salary)", .decimalAttributeType),
                expression("first", "min:(hired)", .dateAttributeType),
                expression("tags", "sum:(tags.@count)", .integer64AttributeType),
                expression("photos", "count:(photo)", .integer64AttributeType),
            ])
        },
        DictionaryFetch(
            "groups",
            {
                .init(
                    properties: [
                        "department.name", "active", expression("n", "count:(name)", .integer64AttributeType),
                        "tags.@count",
                    ],
                    groupBy: ["department.name", "active"], having: NSPredicate(format: "n > 1 AND active == YES"))
            }
        ) {
            $0.predicate = NSPredicate(format: "age > 3")
            $0.sortDescriptors = [
                NSSortDescriptor(key: "n", ascending: false), NSSortDescriptor(key: "department.name", ascending: true),
            ]
            $0.includesSubentities = false
        },
        DictionaryFetch("objects") {
            .init(properties: [
                expression("me", "SELF", .objectIDAttributeType),
                expression("place", "department", .objectIDAttributeType),
                expression("older", "age + 1", .integer64AttributeType),
                expression("upper", "uppercase:(name)", .stringAttributeType),
                expression("entity", "entity.name", .stringAttributeType),
            ])
        },
        DictionaryFetch("refused") { .init(properties: ["nothing"]) },
    ]
}
