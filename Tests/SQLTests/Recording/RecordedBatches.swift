import TestSupport

@testable import CoreData

extension RecordedRuns {
    /// Batch requests of each form.
    static func batches() throws -> String {
        let store = try RecordedStore(Company.model())
        let context = store.coordinator.newContext()
        store.recorder.clear()
        func execute(_ title: String, _ request: NSPersistentStoreRequest, _ policy: NSMergePolicy = .error) {
            store.recorder.note(title)
            context.mergePolicy = policy
            do { _ = try context.execute(request) } catch {
                store.recorder.note("refused: \((error as NSError).localizedDescription)")
            }
        }
        let badge = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
        execute(
            "departments",
            NSBatchInsertRequest(entityName: "Department", objects: [["name": "Tools"], ["name": "Toys"]]))
        let employees: [[String: Any]] = [
            ["name": "A", "age": 30, "badge": badge], ["name": "B", "department": store.objectID("Department", 1)],
        ]
        execute("employees", NSBatchInsertRequest(entityName: "Employee", objects: employees))
        execute("employees, refused", NSBatchInsertRequest(entityName: "Employee", objects: employees))
        for (name, policy) in [
            ("object", NSMergePolicy.mergeByPropertyObjectTrump), ("overwrite", .overwrite),
            ("store", .mergeByPropertyStoreTrump),
        ] {
            let request = NSBatchInsertRequest(entityName: "Employee", objects: [["badge": badge, "age": 31]])
            request.resultType = .objectIDs
            execute("with the policy \(name)", request, policy)
        }
        func update(_ title: String, _ predicate: String?, _ properties: [AnyHashable: Any]) {
            let request = NSBatchUpdateRequest(entityName: "Employee")
            request.predicate = predicate.map { NSPredicate(format: $0) }
            request.propertiesToUpdate = properties
            request.resultType = predicate == nil ? .updatedObjectsCountResultType : .updatedObjectIDsResultType
            execute(title, request)
        }
        update("all", nil, ["age": NSExpression(format: "age + 1"), "salary": NSDecimalNumber(string: "12.5")])
        update(
            "by a predicate", "age > 30",
            ["address": ["city": "X"], "shoes": NSExpression(format: "age / 2.0"), "department": NSNull()])
        update("across a relationship", "department.name == 'Tools'", ["name": NSExpression(format: "department.name")])
        update("many others", "ANY tags.name == 'x'", ["age": NSExpression(format: "tags.@count")])
        func delete(_ title: String, _ entity: String, _ predicate: String?, limit: Int = 0) {
            let request = NSFetchRequest<any NSFetchRequestResult>(entityName: entity)
            request.predicate = predicate.map { NSPredicate(format: $0) }
            request.fetchLimit = limit
            execute(title, NSBatchDeleteRequest(fetchRequest: request))
        }
        delete("with relationships", "Employee", "name == 'A'")
        delete("without", "Task", "owner.name == 'B'")
        delete("by a column of its own", "Task", "name == 'B'")
        delete("some", "Task", nil, limit: 3)
        execute(
            "by IDs",
            NSBatchDeleteRequest(objectIDs: [store.objectID("Department", 1), store.objectID("Department", 2)]))
        return store.recorder.text
    }
}
