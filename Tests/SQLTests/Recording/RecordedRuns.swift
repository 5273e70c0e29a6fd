import TestSupport

@testable import CoreData

/// Operations on stores whose statements are recorded.
enum RecordedRuns {
    static let all: [(name: String, run: @Sendable () throws -> String)] =
        Question.all.map { part in ("predicates-" + part.name, { try predicates(part.questions) }) } + [
            ("schema", schema), ("odd-schema", oddSchema), ("fetches", fetches), ("dictionaries", dictionaries),
            ("relationships", relationships),
            ("saves", saves), ("odd-saves", oddSaves), ("history", history), ("batches", batches),
            ("repeated-fetches", repeatedFetches),
            ("migration", migration),
            ("migration-of-relationships", migrationOfRelationships),
        ]

    private static func predicates(_ questions: [Question]) throws -> String {
        let store = try RecordedStore(Company.model())
        store.recorder.clear()
        for question in questions {
            let title = question.format.count > 300 ? question.format.prefix(100) + "…" : question.format[...]
            store.fetch("\(question.entity): \(title)", question.entity) {
                $0.predicate = question.predicate(store.objectID)
                $0.shape = .count
            }
        }
        return store.recorder.text
    }

    private static func schema() throws -> String { try RecordedStore(Company.model()).recorder.text }

    private static func oddSchema() throws -> String { try RecordedStore(Company.oddModel()).recorder.text }

    // MARK: Fetches

    private static func fetches() throws -> String {
        let store = try RecordedStore(Company.model())
        store.recorder.clear()
        let adults = NSPredicate(format: "age >= 18")
        for entity in ["Department", "Employee", "Manager"] {
            for includesSubentities in [true, false] {
                for (name, shape) in [("rows", StoreFetch.Shape.rows), ("references", .references), ("count", .count)] {
                    store.fetch("\(name) of \(entity)\(includesSubentities ? " and subentities" : "")", entity) {
                        $0.shape = shape
                        $0.includesSubentities = includesSubentities
                        if entity != "Department" { $0.predicate = adults }
                    }
                }
            }
        }
        for shape in [StoreFetch.Shape.references, .count] {
            for (limit, offset, excluded) in [(5, 0, []), (0, 7, []), (5, 7, []), (0, 0, [3, 1, 2]), (4, 2, [9, 8])]
                as [(Int, Int, Set<Int64>)]
            {
                store.fetch("\(shape) with limit \(limit), offset \(offset), without \(excluded.sorted())", "Employee")
                {
                    $0.shape = shape
                    $0.limit = limit
                    $0.offset = offset
                    $0.excludedKeys = excluded
                    $0.predicate = adults
                    $0.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
                }
            }
        }
        for key in Sorting.keys {
            store.fetch("sorted by \(key)", "Employee") {
                $0.shape = .references
                $0.sortDescriptors = [
                    NSSortDescriptor(key: key, ascending: true), NSSortDescriptor(key: "SELF", ascending: false),
                ]
            }
        }
        for selector in Sorting.selectors {
            store.fetch("sorted with \(selector)", "Employee") {
                $0.shape = .references
                $0.sortDescriptors = ["name", "age"].map {
                    NSSortDescriptor(key: $0, ascending: $0 == "age", selector: Selector(selector))
                }
            }
        }
        return store.recorder.text
    }

    /// Fetches whose statements are kept for others of the same shape.
    private static func repeatedFetches() throws -> String {
        let store = try RecordedStore(Company.model())
        store.recorder.clear()
        let department = store.objectID("Department", 1)
        let pairs: [(String, [[Any]])] = [
            ("name == %@", [["a"], ["b"], [NSNull()], [5]]),
            ("age == %@ AND rating > %@", [[1, 2.5], [2, 3], ["3", 4], ["x", 1]]),
            ("name BEGINSWITH %@", [["a"], ["b"], [""], ["\u{10ffff}"], ["zz"]]),
            ("name ENDSWITH %@", [["a"], ["bcé"], [""], ["d"]]),
            ("name CONTAINS %@", [["a"], [""], ["bc"]]), ("name LIKE[c] %@", [["a*"], ["b*"]]),
            ("badge == %@", [[Question.badge], ["x"]]),
            (
                "hired < %@",
                [[Date(timeIntervalSinceReferenceDate: 1)], [Date(timeIntervalSinceReferenceDate: 2)], [3]]
            ),
            ("department == %@", [[department], [store.objectID("Department", 2)], [store.objectID("Tag", 2)]]),
            ("ANY tags.name == %@", [["a"], ["b"]]), ("active == %@", [[true], [false], [1]]),
            ("salary > %@", [[Decimal(1)], [2.5]]),
            ("NOT (age == %@ OR name == %@)", [[1, "a"], [2, "b"]]), ("address.city == %@", [["a"], ["b"]]),
            ("photo == %@", [[Data([1])], [Data([2])]]), ("age == %@ OR age == %@", [[1, 1], [1, 2], [2, 1]]),
            ("department.name BEGINSWITH %@ AND name != %@", [["a", "b"], ["c", "d"]]),
            ("age > shoes + %@", [[1], [2]]),
            ("salary * 2 == %@", [[1], [2]]), ("entity.name == %@", [["Manager"], ["Employee"]]),
        ]
        for (format, arguments) in pairs {
            for list in arguments {
                store.fetch("\(format) \(list.map { $0 is NSManagedObjectID ? "object" : "\($0)" })", "Employee") {
                    $0.predicate = NSPredicate(format: format, argumentArray: list)
                    $0.shape = .references
                    $0.limit = 3
                }
            }
        }
        for (limit, offset, excluded) in [(1, 2, [4]), (3, 4, [5, 6]), (0, 4, []), (2, 0, [])]
            as [(Int, Int, Set<Int64>)]
        {
            store.fetch("limit \(limit), offset \(offset), without \(excluded.sorted())", "Employee") {
                $0.predicate = NSPredicate(format: "name BEGINSWITH %@", "n\(limit)")
                $0.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
                $0.shape = .references
                $0.limit = limit
                $0.offset = offset
                $0.excludedKeys = excluded
            }
        }
        return store.recorder.text
    }

    private static func dictionaries() throws -> String {
        let store = try RecordedStore(Company.model())
        store.recorder.clear()
        for result in DictionaryFetch.all {
            store.fetch(result.title, "Employee") { result.fill(&$0) }
        }
        return store.recorder.text
    }

    // MARK: Related rows

    private static func relationships() throws -> String {
        let store = try RecordedStore(Company.model())
        store.recorder.clear()
        for (entity, name) in RelatedPaths.all {
            let (slot, layout) = (store.slot(name, of: entity), store.layout(entity))
            for keys in [[7], Array(1...9), [1, 30, 60]] as [[Int64]] {
                store.recorder.note("\(entity).\(name) of \(keys)")
                _ = try store.store.relatedRows(toAll: keys, through: slot, of: layout)
            }
            store.recorder.note("\(entity).\(name) of one")
            _ = try store.store.relatedRows(to: 7, through: slot, of: layout)
        }
        for entity in ["Department", "Employee", "Manager"] {
            for keys in [[7], Array(1...9), Array(1...9) + Array(20...29), [1, 30, 60]] as [[Int64]] {
                store.recorder.note("\(entity) with keys \(keys)")
                _ = try store.store.readRows(keys, of: store.layout(entity))
            }
        }
        return store.recorder.text
    }

    // MARK: Saves

    private static func saves() throws -> String {
        let store = try RecordedStore(Company.model())
        try SavedCompany.fill(store)
        return store.recorder.text
    }

    private static func oddSaves() throws -> String {
        let store = try RecordedStore(Company.oddModel())
        store.recorder.clear()
        for entity in ["First", "Second"] {
            store.recorder.note("\(try store.store.reserveKeys(3, for: store.layout(entity)))")
        }
        store.save("inserts") {
            $0.inserts = [
                store.change("First", 1, ["text": .string("a"), "größe": .double(1.5)]),
                store.change("Second", 4, ["text": .integer(3)]),
                store.change(
                    "First", 2,
                    [
                        "last": .reference(store.reference("Second", 4)),
                        "whole": .reference(store.reference("Second", 4)),
                    ]),
            ]
        }
        store.save("relationships") {
            $0.relationshipChanges = [
                store.relationship("First", 1, "Others", added: [store.reference("Second", 4)]),
                store.relationship(
                    "Second", 4, "all", added: [store.reference("First", 1), store.reference("First", 2)]),
                store.relationship("First", 1, "all", added: [store.reference("Second", 4)]),
            ]
        }
        try store.save("deletes") {
            $0.deletes = [
                store.change("Second", 4, base: try store.row("Second", 4)),
                store.change("First", 1, base: try store.row("First", 1)),
            ]
        }
        store.fetch("abstract", "Thïng") { $0.sortDescriptors = [NSSortDescriptor(key: "ordnung", ascending: true)] }
        return store.recorder.text
    }

    private static func history() throws -> String {
        let model = Company.model()
        model.entitiesByName["Employee"]?.attributesByName["name"]?.preservesValueInHistoryOnDeletion = true
        let store = try RecordedStore(model, options: [NSPersistentHistoryTrackingKey: true])
        try SavedCompany.fill(store)
        return store.recorder.text
    }

    // MARK: Migrations

    /// Opens a store with one model, fills it, and opens it with the next.
    private static func migrate(
        _ first: NSManagedObjectModel, _ second: NSManagedObjectModel, _ fill: (RecordedStore) throws -> Void
    ) throws -> String {
        let before = try RecordedStore(first, options: [NSPersistentHistoryTrackingKey: true])
        let url = before.folder.file("store.sqlite")
        try fill(before)
        try before.coordinator.remove(before.persistentStore)
        before.recorder.clear()
        _ = try RecordedStore(
            second, before.folder, url, before.recorder,
            options: [
                NSPersistentHistoryTrackingKey: true, NSMigratePersistentStoresAutomaticallyOption: true,
                NSInferMappingModelAutomaticallyOption: true,
            ])
        return before.recorder.text
    }

    private static func migration() throws -> String {
        let second = Company.model()
        let employee = try require(second.entitiesByName["Employee"])
        employee.properties += [
            NSAttributeDescription("grade", .integer16AttributeType, optional: false, default: 7),
            NSAttributeDescription("nick", .stringAttributeType),
        ]
        employee.properties.removeAll { $0.name == "site" }
        employee.attributesByName["age"]?.isOptional = false
        employee.attributesByName["age"]?.defaultValue = 18
        employee.attributesByName["notes"]?.allowsExternalBinaryDataStorage = true
        employee.attributesByName["photo"]?.allowsExternalBinaryDataStorage = false
        employee.attributesByName["score"]?.renamingIdentifier = "score"
        employee.attributesByName["score"]?.name = "points"
        let tag = try require(second.entitiesByName["Tag"])
        tag.renamingIdentifier = "Tag"
        tag.name = "Label"
        second.entitiesByName["Project"]?.uniquenessConstraints = [["name"]]
        return try migrate(Company.model(), second, SavedCompany.fill)
    }

    private static func migrationOfRelationships() throws -> String {
        func version(_ change: (NSEntityDescription, NSEntityDescription) -> Void) -> NSManagedObjectModel {
            let owner = NSEntityDescription(
                "Owner", class: "NSManagedObject", [NSAttributeDescription("name", .stringAttributeType)])
            let other = NSEntityDescription(
                "Other", class: "NSManagedObject", [NSAttributeDescription("name", .stringAttributeType)])
            let more = NSEntityDescription(
                "More", class: "NSManagedObject", [NSAttributeDescription("size", .integer16AttributeType)])
            other.subentities = [more]
            relate(owner, "kept", toMany: true, other, inverse: "keeper")
            change(owner, other)
            return NSManagedObjectModel([owner, other, more])
        }
        let first = version { owner, other in
            relate(owner, "many", toMany: true, other, inverse: "manyBack", inverseToMany: true)
            relate(owner, "one", other, inverse: "oneBack", inverseToMany: true)
            relate(owner, "list", toMany: true, other, inverse: "listBack")
            owner.properties += [NSRelationshipDescription("alone", to: other, toMany: true)]
            relate(owner, "pairs", toMany: true, other, inverse: "pairsBack", inverseToMany: true)
        }
        let second = version { owner, other in
            relate(owner, "many", toMany: true, ordered: true, other, inverse: "manyBack", inverseToMany: true)
            relate(owner, "one", toMany: true, other, inverse: "oneBack", inverseToMany: true)
            relate(owner, "list", toMany: true, ordered: true, other, inverse: "listBack")
            relate(owner, "alone", toMany: true, other, inverse: "aloneBack", inverseToMany: true)
            owner.properties += [NSRelationshipDescription("pairs", to: other, toMany: true)]
        }
        return try migrate(first, second) { store in
            let others = (1...3).map { store.reference("Other", Int64($0)) }
            store.save("fill") {
                $0.inserts = (1...2).map { store.change("Owner", Int64($0), ["one": .reference(others[$0])]) }
                $0.inserts += [
                    store.change("Other", 1, ["listBack": .reference(store.reference("Owner", 1))]),
                    store.change("Other", 2),
                    store.change("More", 3, ["size": .integer(3)]),
                ]
                $0.relationshipChanges = [
                    store.relationship("Owner", 1, "many", added: others),
                    store.relationship("Owner", 1, "alone", added: [others[0]]),
                    store.relationship("Owner", 1, "pairs", added: [others[1]]),
                ]
            }
        }
    }
}

/// The value, or an error.
private func require<Value>(_ value: Value?) throws -> Value {
    guard let value else { throw CocoaError(.coreData) }
    return value
}

/// Relationships of each kind, from both sides.
enum RelatedPaths {
    static let all = [
        ("Employee", "department"), ("Employee", "boss"), ("Employee", "reports"), ("Employee", "tasks"),
        ("Employee", "tags"),
        ("Employee", "projects"), ("Project", "members"), ("Employee", "friends"), ("Employee", "favourites"),
        ("Department", "employees"), ("Tag", "employees"), ("Task", "owner"), ("Manager", "tags"),
    ]
}
