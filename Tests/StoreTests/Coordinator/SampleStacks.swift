@testable import CoreData

/// Models and stacks for tests of coordinators and stores.
enum SampleStacks {
    static func attribute(
        _ name: String, _ type: NSAttributeType, optional: Bool = true
    ) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.isOptional = optional
        return attribute
    }

    private static func relationship(_ name: String, _ max: Int, ordered: Bool = false) -> NSRelationshipDescription {
        let relationship = NSRelationshipDescription()
        relationship.name = name
        relationship.maxCount = max
        relationship.isOrdered = ordered
        relationship.isOptional = true
        return relationship
    }

    private static func connect(
        _ first: NSRelationshipDescription, in owner: NSEntityDescription, _ second: NSRelationshipDescription,
        in other: NSEntityDescription
    ) {
        first.destinationEntity = other
        second.destinationEntity = owner
        first.inverseRelationship = second
        second.inverseRelationship = first
        owner.properties += [first]
        other.properties += [second]
    }

    /// Departments with employees (and managers among them), employees with tags (many to many) and
    /// ordered tasks.
    static func company(salary: NSAttributeType = .integer64AttributeType) -> NSManagedObjectModel {
        let department = entity("Department", [attribute("name", .stringAttributeType)])
        let employee = entity(
            "Employee",
            [
                attribute("name", .stringAttributeType), attribute("salary", salary),
                attribute("hired", .dateAttributeType), attribute("rating", .doubleAttributeType),
            ])
        let manager = entity("Manager", [attribute("level", .integer16AttributeType)])
        employee.subentities = [manager]
        let tag = entity("Tag", [attribute("name", .stringAttributeType)])
        let task = entity("Task", [attribute("title", .stringAttributeType)])
        connect(relationship("employees", 0), in: department, relationship("department", 1), in: employee)
        connect(relationship("tags", 0), in: employee, relationship("employees", 0), in: tag)
        connect(relationship("tasks", 0, ordered: true), in: employee, relationship("assignee", 1), in: task)
        let model = NSManagedObjectModel()
        model.entities = [department, employee, manager, tag, task]
        model.setEntities([department, employee, manager], forConfigurationName: "People")
        model.setEntities([tag, task], forConfigurationName: "Work")
        return model
    }

    static func entity(_ name: String, _ properties: [NSPropertyDescription]) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        entity.properties = properties
        return entity
    }

    /// A coordinator with one store in memory.
    static func inMemory(_ model: NSManagedObjectModel = company()) throws -> NSPersistentStoreCoordinator {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(
            ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
        return coordinator
    }

    static func context(_ coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    /// Inserts an object with values.
    static func insert(
        _ entity: String, _ values: [String: Any] = [:], into context: NSManagedObjectContext
    ) throws -> NSManagedObject {
        guard let description = context.persistentStoreCoordinator?.managedObjectModel.entitiesByName[entity] else {
            throw CocoaError(.coreData)
        }
        let object = NSManagedObject(entity: description, insertInto: context)
        for (key, value) in values { object.setValue(value, forKey: key) }
        return object
    }

    static func names(
        _ context: NSManagedObjectContext, _ entity: String, _ format: String? = nil, sort: [NSSortDescriptor] = []
    ) throws -> [String] {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = format.map { NSPredicate(format: $0, argumentArray: []) }
        request.sortDescriptors = sort.isEmpty ? [NSSortDescriptor(key: "name", ascending: true)] : sort
        return try context.fetch(request).map { $0.value(forKey: "name") as? String ?? "nil" }
    }
}
