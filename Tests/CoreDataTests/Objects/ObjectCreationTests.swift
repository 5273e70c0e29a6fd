import CoreData
import TestSupport
import Testing

final class CreationAnimal: NSManagedObject {
    @Managed var name: String?
    @Managed var legs: Int16
    var awakenings = 0
    var legsWhenAwaking: Int16?

    override func awakeFromInsert() {
        super.awakeFromInsert()
        awakenings += 1
        legsWhenAwaking = legs
        name = "new \(name ?? "")"
    }
}

final class CreationPlain: NSManagedObject {
    @Managed var name: String?
}

/// In one model only: of several models with an entity of a class the newest counts, and tests make
/// models side by side.
final class CreationAlone: NSManagedObject {
    @Managed var name: String?
}

final class CreationShared: NSManagedObject {
    @Managed var name: String?
}

struct ObjectCreationTests {
    let stack: TestStack

    init() throws { stack = try Self.stack() }

    static func stack() throws -> TestStack {
        let animal = NSEntityDescription(
            "Animal", class: "CreationAnimal",
            [
                .init("name", .stringAttributeType, default: "unnamed"),
                .init("legs", .integer16AttributeType, default: 4),
            ])
        let plain = NSEntityDescription("Plain", class: "CreationPlain", [.init("name", .stringAttributeType)])
        let shape = NSEntityDescription("Shape", class: "NSManagedObject", [.init("name", .stringAttributeType)])
        shape.isAbstract = true
        let circle = NSEntityDescription("Circle", class: "NSManagedObject", [.init("radius", .doubleAttributeType)])
        shape.subentities = [circle]
        let first = NSEntityDescription("First", class: "CreationShared", [.init("name", .stringAttributeType)])
        let second = NSEntityDescription("Second", class: "CreationShared", [.init("name", .stringAttributeType)])
        return try TestStack([animal, plain, shape, circle, first, second])
    }

    @Test("28: generic code makes objects of a class that it does not know")
    func genericCodeMakesObjects() throws {
        func make<Object: NSManagedObject>(_ type: Object.Type) -> Object { Object(context: stack.context) }
        let animal = make(CreationAnimal.self)
        #expect(animal.awakenings == 1)
        let types: [NSManagedObject.Type] = [CreationPlain.self, CreationAnimal.self]
        #expect(types.map { $0.init(context: stack.context).entity.name } == ["Plain", "Animal"])
    }

    @Test("26: making an object in a context inserts it and awakes it once")
    func makingAnObjectInAContextInsertsIt() {
        let animal = CreationAnimal(entity: stack.entity("Animal"), insertInto: stack.context)
        #expect(animal.awakenings == 1)
        #expect(animal.isInserted)
        #expect(animal.managedObjectContext === stack.context)
        #expect(stack.context.insertedObjects == [animal])
    }

    @Test("26: an object made without a context is awoken when it is inserted")
    func anObjectWithoutContextIsAwokenByInsert() throws {
        let animal = CreationAnimal(entity: stack.entity("Animal"), insertInto: nil)
        #expect(animal.awakenings == 0)
        #expect(animal.managedObjectContext == nil)
        #expect(!animal.isInserted)
        #expect(!stack.context.hasChanges)
        animal.legs = 3
        #expect(animal.legs == 3)
        stack.context.insert(animal)
        #expect(animal.awakenings == 1)
        #expect(animal.isInserted)
        #expect(animal.legs == 3)
        try stack.context.save()
        #expect(stack.file.column("SELECT ZLEGS FROM ZANIMAL") == ["3"])
    }

    @Test("An object made without a context keeps the model alive, which no coordinator uses")
    func anObjectWithoutContextKeepsItsModel() {
        func make() -> NSManagedObject {
            let entity = NSEntityDescription("Loose", class: nil, [.init("name", .stringAttributeType)])
            let model = NSManagedObjectModel()
            model.entities = [entity]
            return NSManagedObject(entity: entity, insertInto: nil)
        }
        let object = make()
        object.setValue("Ada", forKey: "name")
        #expect(object.value(forKey: "name") as? String == "Ada")
        #expect(object.entity.name == "Loose")
        #expect(object.entity.managedObjectModel.entities.count == 1)
    }

    @Test("27: the object has the class of its entity, whatever class is asked to make it")
    func theEntityNamesTheClass() {
        let plain = NSManagedObject(entity: stack.entity("Plain"), insertInto: stack.context)
        #expect(type(of: plain) == CreationPlain.self)
        let animal = NSEntityDescription.insertNewObject(forEntityName: "Animal", into: stack.context)
        #expect((animal as? CreationAnimal)?.awakenings == 1)
    }

    @Test("28: a class that stands for one entity knows its entity and fetches it")
    func aClassOfOneEntityKnowsItsEntity() throws {
        let stack = try TestStack([
            NSEntityDescription("Alone", class: "CreationAlone", [.init("name", .stringAttributeType)])
        ])
        let alone = CreationAlone(context: stack.context)
        #expect(alone.entity.name == "Alone")
        #expect(CreationAlone.entity() === stack.entity("Alone"))
        let request = CreationAlone.fetchRequest()
        #expect(request.entity === stack.entity("Alone"))
        #expect(try stack.context.fetch(request) as? [CreationAlone] == [alone])
    }

    @Test("28: a class that stands for several entities cannot be made by context alone")
    func aClassOfSeveralEntitiesNeedsTheEntity() async throws {
        let object = CreationShared(entity: stack.entity("Second"), insertInto: stack.context)
        #expect(object.entity.name == "Second")
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = CreationShared(context: try ObjectCreationTests.stack().context)
        }
        #expect(Complaint(result?.standardErrorContent).lacks("CreationShared", "First", "Second") == [])
    }

    @Test("29: entities are looked up by name in the model of the context")
    func entitiesAreFoundByName() {
        let found = NSEntityDescription.entity(forEntityName: "Animal", in: stack.context)
        #expect(found === stack.entity("Animal"))
        #expect(NSEntityDescription.entity(forEntityName: "Unicorn", in: stack.context) == nil)
    }

    @Test("30: an abstract entity has no instances, its sub-entities have")
    func abstractEntitiesHaveNoInstances() throws {
        let circle = NSEntityDescription.insertNewObject(forEntityName: "Circle", into: stack.context)
        circle.setValue(2.5, forKey: "radius")
        try stack.context.save()
        #expect(try stack.newContext().count(for: NSFetchRequest<NSManagedObject>(entityName: "Shape")) == 1)
    }

    @Test("30: an object of an abstract entity cannot be saved", arguments: StoreKind.allCases)
    func anObjectOfAnAbstractEntityCannotBeSaved(kind: StoreKind) throws {
        let shape = NSEntityDescription(
            "Shape", class: "NSManagedObject", [NSAttributeDescription("name", .stringAttributeType)])
        let circle = NSEntityDescription(
            "Circle", class: "NSManagedObject", [NSAttributeDescription("radius", .doubleAttributeType)])
        shape.isAbstract = true
        shape.subentities = [circle]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel([shape, circle]))
        let folder = try TemporaryFolder()
        _ = try coordinator.addPersistentStore(
            ofType: kind.type, configurationName: nil,
            at: kind.url(folder.file("shapes.sqlite")))
        let context = coordinator.newContext()
        let wrong = NSEntityDescription.insertNewObject(forEntityName: "Shape", into: context)
        NSEntityDescription.insertNewObject(forEntityName: "Circle", into: context).setValue(2.5, forKey: "radius")
        for attempt in [{ try context.save() }, { try context.obtainPermanentIDs(for: [wrong]) }] {
            let error = #expect(throws: (any Error).self) { try attempt() }
            #expect((error as NSError?)?.code == NSPersistentStoreSaveError)
            #expect((error as NSError?)?.localizedDescription.contains("its entity Shape is abstract") == true)
            #expect((error as NSError?)?.userInfo[NSAffectedObjectsErrorKey] as? [NSManagedObject] == [wrong])
        }
        #expect(try coordinator.newContext().count(for: NSFetchRequest<NSManagedObject>(entityName: "Shape")) == 0)
        context.delete(wrong)
        try context.save()
        #expect(try coordinator.newContext().count(for: NSFetchRequest<NSManagedObject>(entityName: "Shape")) == 1)
    }

    @Test("31: default values are there before awakeFromInsert runs, which may override them")
    func defaultsComeBeforeAwakeFromInsert() throws {
        let animal = CreationAnimal(context: stack.context)
        #expect(animal.legsWhenAwaking == 4)
        #expect(animal.legs == 4)
        #expect(animal.name == "new unnamed")
        try stack.context.save()
        #expect(stack.file.column("SELECT ZNAME || ZLEGS FROM ZANIMAL") == ["new unnamed4"])
    }
}
