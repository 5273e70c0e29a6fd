import CoreData
import TestSupport

/// A model with one of everything that has its own SQL.
enum Company {
    /// Departments with employees, managers among them, who have tags, ordered tasks, projects,
    /// friends and an address.
    static func model() -> NSManagedObjectModel {
        let department = NSEntityDescription(
            "Department", class: "NSManagedObject",
            [
                NSAttributeDescription("name", .stringAttributeType),
                derived("headcount", .integer64AttributeType, "employees.@count"),
                derived("years", .integer64AttributeType, "employees.@sum.age"),
            ])
        let photo = NSAttributeDescription("photo", .binaryDataAttributeType)
        photo.allowsExternalBinaryDataStorage = true
        let employee = NSEntityDescription(
            "Employee", class: "NSManagedObject",
            [
                NSAttributeDescription("name", .stringAttributeType),
                NSAttributeDescription("age", .integer64AttributeType),
                NSAttributeDescription("shoes", .integer16AttributeType),
                NSAttributeDescription("steps", .integer32AttributeType),
                NSAttributeDescription("salary", .decimalAttributeType),
                NSAttributeDescription("hired", .dateAttributeType),
                NSAttributeDescription("rating", .doubleAttributeType),
                NSAttributeDescription("score", .floatAttributeType),
                NSAttributeDescription("badge", .UUIDAttributeType), NSAttributeDescription("site", .URIAttributeType),
                NSAttributeDescription("active", .booleanAttributeType),
                NSAttributeDescription("notes", .binaryDataAttributeType), photo,
                NSAttributeDescription("likes", .transformableAttributeType), address(),
                derived("folded", .stringAttributeType, "canonical:(name)"),
                derived("workplace", .stringAttributeType, "department.name"),
                derived("friendCount", .integer64AttributeType, "friends.@count"),
            ])
        let manager = NSEntityDescription(
            "Manager", class: "NSManagedObject", [NSAttributeDescription("level", .integer16AttributeType)])
        let tag = NSEntityDescription(
            "Tag", class: "NSManagedObject", [NSAttributeDescription("name", .stringAttributeType)])
        let task = NSEntityDescription(
            "Task", class: "NSManagedObject",
            [
                NSAttributeDescription("name", .stringAttributeType), derived("changed", .dateAttributeType, nil),
            ])
        let project = NSEntityDescription(
            "Project", class: "NSManagedObject", [NSAttributeDescription("name", .stringAttributeType)])
        employee.subentities = [manager]
        relate(department, "employees", toMany: true, employee, inverse: "department")
        relate(employee, "reports", toMany: true, employee, inverse: "boss")
        relate(employee, "tasks", toMany: true, ordered: true, task, inverse: "owner")
        relate(employee, "tags", toMany: true, tag, inverse: "employees", inverseToMany: true)
        relate(
            employee, "projects", toMany: true, ordered: true, project, inverse: "members", inverseToMany: true,
            inverseOrdered: true)
        let friends = NSRelationshipDescription("friends", to: employee, toMany: true)
        friends.inverseRelationship = friends
        let favourites = NSRelationshipDescription("favourites", to: tag, toMany: true)
        favourites.isOrdered = true
        employee.properties += [friends, favourites]
        employee.uniquenessConstraints = [["badge"], ["name", "address.city"]]
        employee.indexes = [
            index("byName", employee, ["name"]), index("byAge", employee, ["age", "name"], ascending: false),
            index("byCity", employee, ["address.city"]), index("byBoss", employee, ["boss"]),
            partial(index("adults", employee, ["hired"]), "age >= 18 AND name != \"x'y\" OR salary == nil"),
        ]
        return NSManagedObjectModel([department, employee, manager, tag, task, project])
    }

    private static func derived(_ name: String, _ type: NSAttributeType, _ expression: String?)
        -> NSDerivedAttributeDescription
    {
        let attribute = NSDerivedAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.isOptional = true
        attribute.derivationExpression =
            expression.map { NSExpression(format: $0) } ?? NSExpression(forFunction: "now", arguments: [])
        return attribute
    }

    private static func address() -> NSCompositeAttributeDescription {
        let place = NSCompositeAttributeDescription()
        place.name = "place"
        place.isOptional = true
        place.elements = [
            NSAttributeDescription("latitude", .doubleAttributeType),
            NSAttributeDescription("longitude", .doubleAttributeType),
        ]
        let address = NSCompositeAttributeDescription()
        address.name = "address"
        address.isOptional = true
        address.elements = [
            NSAttributeDescription("city", .stringAttributeType),
            NSAttributeDescription("street", .stringAttributeType), place,
        ]
        return address
    }

    private static func index(
        _ name: String, _ entity: NSEntityDescription, _ properties: [String], ascending: Bool = true
    ) -> NSFetchIndexDescription {
        let elements = properties.map { name in
            let element =
                entity.propertiesByName[name].map {
                    NSFetchIndexElementDescription(property: $0, collationType: .binary)
                }
                ?? NSFetchIndexElementDescription(property: path(name), collationType: .binary)
            element.isAscending = ascending
            return element
        }
        return NSFetchIndexDescription(name: name, elements: elements)
    }

    private static func path(_ name: String) -> NSExpressionDescription {
        NSExpressionDescription(name.replacingOccurrences(of: ".", with: "_"), NSExpression(forKeyPath: name))
    }

    private static func partial(_ index: NSFetchIndexDescription, _ format: String) -> NSFetchIndexDescription {
        index.partialIndexPredicate = NSPredicate(format: format)
        return index
    }

    /// Names that are no plain identifiers, repeat within a hierarchy, or differ from others only
    /// in case.
    static func oddModel() -> NSManagedObjectModel {
        let thing = NSEntityDescription(
            "Thïng", class: "NSManagedObject",
            [
                NSAttributeDescription("ordnung", .integer16AttributeType),
                NSAttributeDescription("größe", .doubleAttributeType),
            ])
        thing.isAbstract = true
        let first = NSEntityDescription(
            "First", class: "NSManagedObject", [NSAttributeDescription("text", .stringAttributeType)])
        let second = NSEntityDescription(
            "Second", class: "NSManagedObject", [NSAttributeDescription("text", .integer64AttributeType)])
        thing.subentities = [first, second]
        relate(first, "Others", toMany: true, second, inverse: "others", inverseToMany: true)
        relate(second, "parts", toMany: true, first, inverse: "whole")
        let last = NSRelationshipDescription("last", to: thing)
        let all = NSRelationshipDescription("all", to: first, toMany: true)
        let more = NSRelationshipDescription("all", to: second, toMany: true)
        first.properties += [last, more]
        second.properties += [all]
        return NSManagedObjectModel([thing, first, second])
    }
}
