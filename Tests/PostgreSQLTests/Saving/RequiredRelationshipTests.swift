import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataPostgreSQL

/// To-one relationships that the model requires, and what other programs may do to them.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server"))
struct RequiredRelationshipTests {
    /// Employees need a department and may have a room; only managers, a subentity, need an office.
    private static func model(needsRoom: Bool = false) -> NSManagedObjectModel {
        func entity(_ name: String) -> NSEntityDescription {
            NSEntityDescription(name, class: "NSManagedObject", [NSAttributeDescription("name", .stringAttributeType)])
        }
        let (department, room, office) = (entity("Department"), entity("Room"), entity("Office"))
        let (employee, manager) = (entity("Employee"), NSEntityDescription("Manager", class: "NSManagedObject", []))
        employee.subentities = [manager]
        relate(employee, "department", optional: false, department, inverse: "employees", inverseToMany: true)
        relate(employee, "room", optional: !needsRoom, room, inverse: "employees", inverseToMany: true)
        relate(manager, "office", optional: false, office, inverse: "manager")
        return NSManagedObjectModel([department, room, office, employee, manager])
    }

    private let warehouse: Warehouse
    private let tables: PostgreSQLTables

    init() throws {
        warehouse = try Warehouse(Self.model())
        tables = PostgreSQLTables(warehouse.url)
        let context = warehouse.context
        try context.performAndWait {
            let (department, room) = (
                context.insert("Department", ["name": "sales"]), context.insert("Room", ["name": "1"])
            )
            let office = context.insert("Office", ["name": "top"])
            _ = context.insert("Employee", ["name": "Ann", "department": department, "room": room])
            _ = context.insert("Manager", ["name": "Bob", "department": department, "room": room, "office": office])
            try context.save()
        }
    }

    private func failure(_ sql: String) -> String? {
        do {
            _ = try tables.result(sql)
            return nil
        } catch { return "\(error)" }
    }

    @Test func whatIsRequiredStaysWhileOthersDeleteItsDestination() throws {
        #expect(failure("DELETE FROM department")?.contains("employee_department_id_fkey") == true)
        #expect(failure("DELETE FROM office")?.contains("employee_office_id_fkey") == true)
        #expect(failure("DELETE FROM room") == nil)
        #expect(
            tables.column("SELECT name FROM employee WHERE department_id IS NOT NULL AND room_id IS NULL ORDER BY 1")
                == ["Ann", "Bob"])
        #expect(failure("UPDATE employee SET department_id = NULL")?.contains("department_id") == true)
        #expect(
            failure("UPDATE employee SET office_id = NULL WHERE name = 'Bob'")?.contains("employee_office_id_check")
                == true)
    }

    @Test func aSaveMayDeleteADestinationWithWhatRequiresIt() throws {
        let context = warehouse.context
        try context.performAndWait {
            let ann = try #require(context.all("Employee", "name = 'Ann'").first)
            let department = context.insert("Department", ["name": "new"])
            context.delete(try #require(ann.value(forKey: "department") as? NSManagedObject))
            ann.setValue(department, forKey: "department")
            try context.all("Manager").forEach(context.delete)
            try context.save()
        }
        #expect(
            tables.rows("SELECT e.name, d.name FROM employee e JOIN department d ON d.id = department_id") == [
                ["Ann", "new"]
            ])
    }

    /// Another program's object, of which this one knows nothing, keeps the department.
    @Test func aSaveThatDeletesWhatOthersRequireMeanwhileIsRefused() throws {
        let context = warehouse.context
        try context.performAndWait {
            let department = try #require(context.all("Department").first)
            try context.all("Employee").forEach(context.delete)
            context.delete(department)
            _ = department.value(forKey: "employees")
            #expect(
                failure(
                    "INSERT INTO employee (id, version, entity, name, department_id) "
                        + "SELECT 1000, 1, number, 'Eve', (SELECT id FROM department) FROM ocd_entity WHERE name = "
                        + "'Employee'"
                ) == nil)
            let error = #expect(throws: NSError.self) { try context.save() }
            #expect(
                error?.code == CocoaError.Code.managedObjectReferentialIntegrity.rawValue,
                "\(String(describing: error))")
        }
        #expect(tables.integer("SELECT count(*) FROM employee") == 3)
    }

    @Test func rowsThatRequireEachOtherAreSavedTogether() throws {
        let (king, queen) = (
            NSEntityDescription("King", class: "NSManagedObject", []),
            NSEntityDescription("Queen", class: "NSManagedObject", [])
        )
        relate(king, "queen", optional: false, queen, inverse: "king")
        queen.relationshipsByName["king"]?.isOptional = false
        let warehouse = try Warehouse(NSManagedObjectModel([king, queen]))
        let context = warehouse.context
        try context.performAndWait {
            let king = context.insert("King", ["queen": context.insert("Queen", [:])])
            try context.save()
            let (other, queen) = (context.insert("King", [:]), context.insert("Queen", [:]))
            other.setValue(king.value(forKey: "queen"), forKey: "queen")
            king.setValue(queen, forKey: "queen")
            try context.save()
        }
        #expect(
            try warehouse.texts("SELECT count(*) FROM king k JOIN queen q ON k.queen_id = q.id AND q.king_id = k.id")
                == ["2"])
    }

    // MARK: Migration

    private func open(_ model: NSManagedObjectModel) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        _ = try coordinator.addPersistentStore(
            ofType: NSPostgreSQLStoreType, configurationName: nil, at: warehouse.url,
            options: [NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true])
    }

    @Test func aMigrationRequiresWhatTheNewModelRequires() throws {
        try open(Self.model(needsRoom: true))
        #expect(failure("DELETE FROM room")?.contains("employee_room_id_fkey") == true)
        #expect(failure("UPDATE employee SET room_id = NULL")?.contains("room_id") == true)
        try open(Self.model())
        #expect(failure("DELETE FROM room") == nil)
        #expect(tables.integer("SELECT count(*) FROM employee WHERE room_id IS NULL") == 2)
        #expect(failure("DELETE FROM department")?.contains("employee_department_id_fkey") == true)
    }

    @Test func aMigrationThatWouldRequireWhatRowsLackIsRefused() throws {
        tables.execute("UPDATE employee SET room_id = NULL")
        let error = #expect(throws: NSError.self) { try open(Self.model(needsRoom: true)) }
        #expect(error?.localizedDescription.contains("Employee.room") == true, "\(String(describing: error))")
        #expect(failure("DELETE FROM room") == nil)
    }
}
