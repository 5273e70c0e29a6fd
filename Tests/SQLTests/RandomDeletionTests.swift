import CoreData
import TestSupport
import Testing

/// Batch deletions among relationships of every form (ordered ones, a reflexive one, one without an
/// inverse), in stores of each kind, against the same deletions of objects.
struct RandomDeletionTests {
    private final class Firm {
        let folder: TemporaryFolder
        let coordinator: NSPersistentStoreCoordinator
        private var contexts: [NSManagedObjectContext] = []

        init(_ kind: StoreKind, seed: UInt64) throws {
            folder = try TemporaryFolder()
            let model = Company.model()
            // A server without ICU folds no texts.
            if kind == .postgreSQL, !PostgreSQLServer.hasICU {
                model.entitiesByName["Employee"]?.properties.removeAll { $0.name == "folded" }
            }
            coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            _ = try coordinator.addPersistentStore(
                ofType: kind.type, configurationName: nil, at: kind.url(folder.file("firm.sqlite")))
            try fill(seed)
        }

        func newContext() -> NSManagedObjectContext {
            let context = coordinator.newContext()
            contexts.append(context)
            return context
        }

        /// Objects with random relationships, the same for the same seed.
        private func fill(_ seed: UInt64) throws {
            var generator = SeededGenerator(seed: seed)
            let context = newContext()
            func new(_ entity: String, _ count: Int) -> [NSManagedObject] {
                (0..<count).map { number in
                    let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
                    object.setValue("\(entity.prefix(1))\(number)", forKey: "name")
                    return object
                }
            }
            let departments = new("Department", 3)
            let employees = new("Employee", 8) + new("Manager", 3)
            let (tags, tasks, projects) = (new("Tag", 4), new("Task", 8), new("Project", 4))
            func some(_ objects: [NSManagedObject]) -> [NSManagedObject] {
                objects.shuffled(using: &generator).filter { _ in Int.random(in: 0..<3, using: &generator) == 0 }
            }
            for employee in employees {
                employee.setValue(departments.randomElement(using: &generator), forKey: "department")
                if Bool.random(using: &generator) {
                    employee.setValue(employees.randomElement(using: &generator), forKey: "boss")
                }
                employee.setValue(Int.random(in: 20...60, using: &generator), forKey: "age")
                employee.setValue(NSSet(array: some(tags)), forKey: "tags")
                employee.setValue(NSOrderedSet(array: some(projects)), forKey: "projects")
                employee.mutableSetValue(forKey: "friends").addObjects(from: some(employees))
            }
            // Each tag is the favourite of one employee at most.
            for tag in tags {
                employees.randomElement(using: &generator)?.mutableOrderedSetValue(forKey: "favourites").add(tag)
            }
            for task in tasks {
                employees.randomElement(using: &generator)?.mutableOrderedSetValue(forKey: "tasks").add(task)
            }
            try context.save()
        }

        /// All objects with what they lead to.
        func contents() throws -> [String] {
            let context = newContext()
            // A batch leaves row caches alone: no row of before it is used.
            context.stalenessInterval = 0
            return try coordinator.managedObjectModel.entities.flatMap { entity -> [String] in
                let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
                request.includesSubentities = false
                return try context.fetch(request).map { object in
                    let relationships = entity.relationshipsByName.keys.sorted().map { name -> String in
                        let names: [String] =
                            switch object.value(forKey: name) {
                            case let set as NSSet:
                                set.allObjects.compactMap { ($0 as? NSManagedObject)?.value(forKey: "name") as? String }
                                    .sorted()
                            case let set as NSOrderedSet:
                                set.array.compactMap { ($0 as? NSManagedObject)?.value(forKey: "name") as? String }
                            case let one as NSManagedObject: [one.value(forKey: "name") as? String ?? "?"]
                            default: []
                            }
                        return "\(name) \(names)"
                    }
                    let derived = ["headcount", "years", "friendCount", "workplace"].filter {
                        entity.attributesByName[$0] != nil
                    }
                    .map { "\($0) \(object.value(forKey: $0).map { "\($0)" } ?? "nil")" }
                    return
                        "\(object.value(forKey: "name") ?? "?"): \((relationships + derived).joined(separator: ", "))"
                }
            }.sorted()
        }
    }

    @Test(arguments: 1...(LongTests.areEnabled ? 300 : 4)) func batchDeletionsAreDeletionsOfObjects(seed: Int) throws {
        var generator = SeededGenerator(seed: UInt64(seed) &* 31)
        let firms = try StoreKind.allCases.map { try Firm($0, seed: UInt64(seed)) }
        let byHand = try Firm(.sqlite, seed: UInt64(seed))
        var steps: [String] = []
        for _ in 0..<4 {
            let requests = [
                ("Employee", "age < \(Int.random(in: 20...45, using: &generator))"),
                ("Employee", "department.name == 'D1'"),
                ("Employee", "ANY tags.name == 'T2'"), ("Manager", "TRUEPREDICATE"), ("Tag", "name == 'T1'"),
                ("Project", "members.@count > 2"), ("Department", "name == 'D0'"), ("Task", "name > 'T4'"),
            ]
            let (entity, predicate) = requests[Int.random(in: 0..<requests.count, using: &generator)]
            steps.append("\(entity) where \(predicate)")
            let request = NSFetchRequest<NSManagedObject>(entityName: entity)
            request.predicate = NSPredicate(format: predicate)
            for firm in firms { try firm.newContext().execute(NSBatchDeleteRequest(fetchRequest: request)) }
            let context = byHand.newContext()
            for object in try context.fetch(request) { context.delete(object) }
            try context.save()
            let expected = try byHand.contents()
            for firm in firms {
                let found = try firm.contents()
                #expect(found == expected, "\(Set(found).symmetricDifference(expected).sorted())\n\(steps)")
                guard found == expected else { return }
            }
        }
    }
}
