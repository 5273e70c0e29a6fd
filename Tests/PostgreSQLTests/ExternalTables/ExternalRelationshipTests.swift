import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataPostgreSQL

/// Relationships and entities of every kind in tables that others have made, and what meets them.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server"))
struct ExternalRelationshipTests {
    private static let firm = """
        CREATE TABLE departments (id serial PRIMARY KEY, name text NOT NULL UNIQUE, head_id integer);
        CREATE TABLE employees (id serial PRIMARY KEY, name text NOT NULL, dept integer NOT NULL REFERENCES \
        departments, rank bigint, \
        boss_id integer REFERENCES employees, car integer, car_kind integer);
        ALTER TABLE departments ADD FOREIGN KEY (head_id) REFERENCES employees;
        CREATE TABLE vehicles (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, kind integer NOT NULL, plate \
        text, load integer, \
        garage integer, lock_version integer);
        ALTER TABLE employees ADD FOREIGN KEY (car) REFERENCES vehicles;
        CREATE TABLE garages (id serial PRIMARY KEY, place text);
        ALTER TABLE vehicles ADD FOREIGN KEY (garage) REFERENCES garages;
        CREATE TABLE skills (id serial PRIMARY KEY, title text);
        CREATE TABLE abilities (id serial PRIMARY KEY, who integer NOT NULL REFERENCES employees, what integer NOT \
        NULL REFERENCES skills, \
        place bigint)
        """

    private static func model() -> NSManagedObjectModel {
        func entity(_ name: String, _ attributes: [NSAttributeDescription], _ userInfo: [AnyHashable: Any])
            -> NSEntityDescription
        {
            let entity = NSEntityDescription(name, class: "NSManagedObject", attributes)
            entity.userInfo = userInfo
            return entity
        }
        func text(_ name: String) -> NSAttributeDescription {
            NSAttributeDescription(name, .stringAttributeType, optional: false, default: "")
        }
        let department = entity("Department", [text("name")], ["ocd.table": "departments"])
        let employee = entity("Employee", [text("name")], ["ocd.table": "employees"])
        let vehicle = entity(
            "Vehicle", [NSAttributeDescription("plate", .stringAttributeType)],
            ["ocd.table": "vehicles", "ocd.entity": "kind", "ocd.entityNumber": 20, "ocd.version": "lock_version"])
        let lorry = entity("Lorry", [NSAttributeDescription("load", .integer32AttributeType)], ["ocd.entityNumber": 21])
        vehicle.subentities = [lorry]
        let garage = entity("Garage", [NSAttributeDescription("place", .stringAttributeType)], ["ocd.table": "garages"])
        let skill = entity("Skill", [NSAttributeDescription("title", .stringAttributeType)], ["ocd.table": "skills"])
        relate(department, "staff", toMany: true, ordered: true, employee, inverse: "department")
        relate(department, "head", employee, inverse: "heads", inverseToMany: true)
        relate(employee, "boss", employee, inverse: "reports", inverseToMany: true)
        relate(employee, "car", vehicle, inverse: "drivers", inverseToMany: true)
        relate(employee, "skills", toMany: true, ordered: true, skill, inverse: "people", inverseToMany: true)
        // Whoever drives one leaves the garage: nothing leads back.
        let vehicles = NSRelationshipDescription()
        vehicles.name = "vehicles"
        vehicles.destinationEntity = vehicle
        vehicles.maxCount = 0
        vehicles.deleteRule = .nullifyDeleteRule
        garage.properties += [vehicles]
        vehicles.userInfo = ["ocd.column": "garage"]
        department.relationshipsByName["staff"]?.userInfo = ["ocd.position": "rank"]
        employee.relationshipsByName["department"]?.userInfo = ["ocd.column": "dept"]
        employee.relationshipsByName["department"]?.isOptional = false
        employee.relationshipsByName["car"]?.userInfo = ["ocd.column": "car", "ocd.entity": "car_kind"]
        employee.relationshipsByName["skills"]?.userInfo = ["ocd.column": "what", "ocd.position": "place"]
        skill.relationshipsByName["people"]?.userInfo = ["ocd.joinTable": "abilities", "ocd.column": "who"]
        return NSManagedObjectModel([department, employee, vehicle, lorry, garage, skill])
    }

    private let firm: ExternalShop
    private let context: NSManagedObjectContext

    init() throws {
        firm = try ExternalShop(sql: Self.firm, model: Self.model())
        context = firm.context
    }

    /// Departments lead to their heads and employees to their departments, and both are new, or go.
    @Test(arguments: [1, 80]) func rowsThatLeadToEachOtherAreSavedTogether(count: Int) throws {
        try context.performAndWait {
            for number in 0..<count {
                let department = context.insert("Department", ["name": "d\(number)"])
                let head = context.insert("Employee", ["name": "head", "department": department])
                _ = context.insert("Employee", ["name": "other", "department": department, "boss": head])
                department.setValue(head, forKey: "head")
            }
            try context.save()
        }
        #expect(
            try firm.texts(
                "SELECT count(*) FROM departments d JOIN employees e ON e.id = d.head_id AND e.dept = d.id WHERE "
                    + "e.name = 'head'"
            )
                == ["\(count)"])
        let other = try firm.otherProgram()
        try other.performAndWait {
            for department in try other.all("Department") {
                #expect(department.text("head.name") == "head")
                for employee in try #require(department.value(forKey: "staff") as? NSOrderedSet) {
                    other.delete(try #require(employee as? NSManagedObject))
                }
                other.delete(department)
            }
            try other.save()
        }
        #expect(try firm.texts("SELECT id FROM departments UNION ALL SELECT id FROM employees") == [])
    }

    @Test func orderedRelationshipsHaveColumnsOfPositions() throws {
        try context.performAndWait {
            let department = context.insert("Department", ["name": "d"])
            let people = ["a", "b", "c"].map { context.insert("Employee", ["name": $0, "department": department]) }
            department.setValue(NSOrderedSet(array: [people[2], people[0], people[1]]), forKey: "staff")
            let skills = (0..<3).map { context.insert("Skill", ["title": "\($0)"]) }
            people[0].setValue(NSOrderedSet(array: skills.reversed()), forKey: "skills")
            people[1].setValue(NSOrderedSet(array: [skills[1]]), forKey: "skills")
            try context.save()
            department.setValue(NSOrderedSet(array: people), forKey: "staff")
            try context.save()
            // Positions stand in the rows of the employees, whose objects have not changed.
            for person in people { person.setValue(person.text("name"), forKey: "name") }
            people[0].setValue("A", forKey: "name")
            try context.save()
            people[0].setValue("a", forKey: "name")
            for person in people[1...] { person.setValue(person.text("name")?.uppercased(), forKey: "name") }
            try context.save()
            for person in people[1...] { person.setValue(person.text("name")?.lowercased(), forKey: "name") }
            try context.save()
        }
        #expect(try firm.texts("SELECT name FROM employees ORDER BY rank") == ["a", "b", "c"])
        #expect(
            try firm.texts(
                "SELECT what FROM abilities WHERE who = (SELECT id FROM employees WHERE name = 'a') ORDER BY place")
                == [
                    "3", "2", "1",
                ])
        let other = try firm.otherProgram()
        try other.performAndWait {
            let department = try other.all("Department")[0]
            let names = (department.value(forKey: "staff") as? NSOrderedSet)?.compactMap {
                ($0 as? NSManagedObject)?.text("name")
            }
            #expect(names == ["a", "b", "c"])
            let titles = try #require(
                try other.all("Employee", "name == 'a'")[0].value(forKey: "skills") as? NSOrderedSet)
            #expect(titles.compactMap { ($0 as? NSManagedObject)?.text("title") } == ["2", "1", "0"])
            #expect(try other.all("Skill", "ANY people.name == 'b'").count == 1)
        }
    }

    @Test func aDestinationOfAHierarchyHasItsNumber() throws {
        try context.performAndWait {
            let department = context.insert("Department", ["name": "d"])
            let cars = [
                context.insert("Vehicle", ["plate": "car"]), context.insert("Lorry", ["plate": "lorry", "load": 7]),
            ]
            for number in 0..<120 {
                _ = context.insert(
                    "Employee", ["name": "\(number)", "department": department, "car": cars[number % 2]])
            }
            try context.save()
        }
        #expect(
            try firm.texts(
                "SELECT DISTINCT kind || ' ' || car_kind FROM employees e JOIN vehicles v ON v.id = e.car ORDER BY 1")
                == [
                    "20 20", "21 21",
                ])
        // Who owns the tables has never heard of versions.
        try firm.run("UPDATE vehicles SET lock_version = NULL")
        let other = try firm.otherProgram()
        try other.performAndWait {
            let employee = try other.all("Employee", "name == '1'")[0]
            let car = try #require(employee.value(forKey: "car") as? NSManagedObject)
            #expect(car.entity.name == "Lorry")
            #expect(car.value(forKey: "load") as? Int == 7)
            #expect(try other.all("Employee", "car.plate == 'car' AND name == '0'").count == 1)
            car.setValue(8, forKey: "load")
            try other.save()
            let update = NSBatchUpdateRequest(entityName: "Vehicle")
            update.propertiesToUpdate = ["plate": "x"]
            try other.execute(update)
        }
        #expect(try firm.texts("SELECT lock_version FROM vehicles ORDER BY id") == ["1", "2"])
    }

    @Test func aRelationshipWithoutAnInverseHasItsColumn() throws {
        try firm.run(
            "INSERT INTO garages (place) VALUES ('here'); INSERT INTO vehicles (kind, plate, garage) OVERRIDING "
                + "SYSTEM VALUE VALUES (20, 'a', 1)"
        )
        try context.performAndWait {
            let garage = try context.all("Garage")[0]
            #expect((garage.value(forKey: "vehicles") as? Set<NSManagedObject>)?.map { $0.text("plate") } == ["a"])
            let other = context.insert("Garage", ["place": "there"])
            other.setValue(
                NSSet(array: [context.insert("Lorry", ["plate": "b"])] + (try context.all("Vehicle", "plate == 'a'"))),
                forKey: "vehicles")
            try context.save()
        }
        #expect(
            try firm.texts("SELECT place FROM vehicles v JOIN garages g ON g.id = v.garage ORDER BY plate") == [
                "there", "there",
            ])
        try context.performAndWait {
            context.delete(try context.all("Garage", "place == 'there'")[0])
            try context.save()
        }
        #expect(try firm.texts("SELECT count(*) || ' ' || count(garage) FROM vehicles") == ["2 0"])
    }

    @Test func aBatchDeletesWhatLeadsToRowsBeforeThem() throws {
        let model = Self.model()
        model.entitiesByName["Department"]?.relationshipsByName["staff"]?.deleteRule = .cascadeDeleteRule
        let firm = try ExternalShop(sql: Self.firm, model: model)
        try firm.run(
            "INSERT INTO departments (name) VALUES ('d'), ('e'); INSERT INTO employees (name, dept) VALUES ('a', 1), "
                + "('b', 1), ('c', 2)"
        )
        try firm.context.performAndWait {
            let departments = try firm.context.all("Department", "name == 'd'")
            try firm.context.execute(NSBatchDeleteRequest(objectIDs: departments.map(\.objectID)))
        }
        #expect(try firm.texts("SELECT name FROM departments UNION ALL SELECT name FROM employees") == ["e", "c"])
    }

    // MARK: What meets it

    @Test func aChildContextSavesThroughItsParent() throws {
        let child = context.newChild()
        try child.performAndWait {
            let department = child.insert("Department", ["name": "child"])
            _ = child.insert("Employee", ["name": "new", "department": department])
            try child.save()
        }
        try context.performAndWait { try context.save() }
        #expect(
            try firm.texts("SELECT d.name || ' ' || e.name FROM employees e JOIN departments d ON d.id = e.dept") == [
                "child new"
            ])
        try child.performAndWait {
            try child.all("Department")[0].setValue("changed", forKey: "name")
            try child.save()
        }
        try context.performAndWait { try context.save() }
        #expect(try firm.texts("SELECT name FROM departments") == ["changed"])
    }

    /// Many rows are locked first where the server gives them their versions.
    @Test func aConflictAmongManyRowsIsFound() throws {
        try firm.run("INSERT INTO skills (title) SELECT n::text FROM generate_series(1, 1200) n")
        try context.performAndWait {
            for skill in try context.all("Skill") { skill.setValue("mine", forKey: "title") }
            try firm.run("UPDATE skills SET title = 'theirs' WHERE id = 700")
            let error = try #require(throws: NSError.self) { try context.save() }
            #expect((error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict])?.count == 1)
            context.mergePolicy = NSMergePolicy.overwrite
            try context.save()
            for skill in try context.all("Skill") { skill.setValue("again", forKey: "title") }
            context.mergePolicy = NSMergePolicy.error
            try context.save()
        }
        #expect(try firm.texts("SELECT count(*) FROM skills WHERE title = 'again'") == ["1200"])
    }

    @Test func theObjectsAreCopiedToAFile() throws {
        try firm.run(
            """
            INSERT INTO departments (name) VALUES ('d'); INSERT INTO employees (name, dept, rank) VALUES ('b', 1, 2), \
            ('a', 1, 1);
            UPDATE departments SET head_id = 2
            """)
        let folder = try TemporaryFolder()
        let url = folder.url.appendingPathComponent("copy.sqlite")
        let copy = try firm.coordinator.migratePersistentStore(
            firm.store, to: url, options: nil, withType: NSSQLiteStoreType)
        let context = firm.coordinator.newContext()
        try context.performAndWait {
            let department = try context.all("Department")[0]
            #expect(department.objectID.persistentStore === copy)
            #expect(department.text("head.name") == "a")
            let names = (department.value(forKey: "staff") as? NSOrderedSet)?.compactMap {
                ($0 as? NSManagedObject)?.text("name")
            }
            #expect(names == ["a", "b"])
        }
        #expect(try firm.texts("SELECT count(*) FROM employees") == ["2"])
    }

    @Test(.enabled(if: Pooler.program != nil, "needs PgBouncer")) func aPoolerStandsBetween() throws {
        let server = try WireConnection.server()
        let pooler = try Pooler(server)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: firm.model)
        _ = try coordinator.addPersistentStore(
            ofType: NSPostgreSQLStoreType, configurationName: nil, at: pooler.url(schema: firm.schema),
            options: ExternalShop.options)
        let context = coordinator.newContext()
        try context.performAndWait {
            for round in 0..<3 {
                let department = context.insert("Department", ["name": "\(round)"])
                for number in 0..<60 {
                    _ = context.insert("Employee", ["name": "\(number)", "department": department])
                }
                try context.save()
                department.setValue("changed \(round)", forKey: "name")
                try context.save()
            }
            #expect(try context.all("Employee", "department.name BEGINSWITH 'changed'").count == 180)
        }
        withExtendedLifetime(pooler) {}
    }
}
