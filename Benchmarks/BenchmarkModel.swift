import CoreData

/// 10 integers.
final class Wide: NSManagedObject {
    @Managed var a: Int64
    @Managed var b: Int64
    @Managed var c: Int64
    @Managed var d: Int64
    @Managed var e: Int64
    @Managed var f: Int64
    @Managed var g: Int64
    @Managed var h: Int64
    @Managed var i: Int64
    @Managed var j: Int64
}

/// Texts, a double, an integer and a date.
final class Mixed: NSManagedObject {
    @Managed var name: String?
    @Managed var note: String?
    @Managed var city: String?
    @Managed var price: Double
    @Managed var count: Int64
    @Managed var date: Date?
}

final class Department: NSManagedObject {
    @Managed var name: String?
    @Managed var employees: Set<Employee>
}

final class Employee: NSManagedObject {
    @Managed var name: String?
    @Managed var salary: Int64
    @Managed var department: Department?
}

/// The model of all benchmarks, built in code.
enum BenchmarkModel {
    static func make() -> NSManagedObjectModel {
        let model = NSManagedObjectModel()
        let department = entity("Department", [attribute("name", .stringAttributeType)])
        let employee = entity(
            "Employee", [attribute("name", .stringAttributeType), attribute("salary", .integer64AttributeType)])
        let employees = NSRelationshipDescription()
        employees.name = "employees"
        employees.destinationEntity = employee
        employees.isOptional = true
        let owner = NSRelationshipDescription()
        owner.name = "department"
        owner.destinationEntity = department
        owner.isOptional = true
        owner.maxCount = 1
        employees.inverseRelationship = owner
        owner.inverseRelationship = employees
        department.properties += [employees]
        employee.properties += [owner]
        let mixed = entity(
            "Mixed",
            [
                attribute("name", .stringAttributeType), attribute("note", .stringAttributeType),
                attribute("city", .stringAttributeType), attribute("price", .doubleAttributeType),
                attribute("count", .integer64AttributeType), attribute("date", .dateAttributeType),
            ])
        if let name = mixed.attributesByName["name"] {
            mixed.indexes = [
                NSFetchIndexDescription(
                    name: "byName", elements: [NSFetchIndexElementDescription(property: name, collationType: .binary)])
            ]
        }
        let wide = entity("Wide", "abcdefghij".map { attribute(String($0), .integer64AttributeType) })
        let keyed = entity(
            "Keyed", [attribute("key", .stringAttributeType), attribute("value", .integer64AttributeType)])
        keyed.managedObjectClassName = "NSManagedObject"
        keyed.uniquenessConstraints = [["key"]]
        model.entities = [wide, mixed, department, employee, keyed]
        return model
    }

    private static func entity(_ name: String, _ properties: [NSPropertyDescription]) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        entity.managedObjectClassName = "Benchmarks.\(name)"
        entity.properties = properties
        return entity
    }

    static func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.isOptional = true
        return attribute
    }
}
