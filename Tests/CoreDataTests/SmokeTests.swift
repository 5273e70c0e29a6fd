import CoreData
import TestSupport
import Testing

final class SmokePerson: NSManagedObject {
    @Managed var name: String?
    @Managed var age: Int16
    @Managed var pets: Set<SmokePet>
}

final class SmokePet: NSManagedObject {
    @Managed var name: String?
    @Managed var owner: SmokePerson?
}

struct SmokeTests {
    let folder: TemporaryFolder
    let stack: TestStack

    init() throws {
        folder = try TemporaryFolder()
        let person = NSEntityDescription(
            "Person", class: "SmokePerson",
            [
                NSAttributeDescription("name", .stringAttributeType),
                NSAttributeDescription("age", .integer16AttributeType),
            ])
        let pet = NSEntityDescription("Pet", class: "SmokePet", [NSAttributeDescription("name", .stringAttributeType)])
        relate(person, "pets", toMany: true, pet, inverse: "owner")
        let model = NSManagedObjectModel()
        model.entities = [person, pet]
        stack = try TestStack(model, url: folder.file("store.sqlite"))
    }

    @Test func savedObjectsAreReadBackInAFreshContext() throws {
        let person = SmokePerson(context: stack.context)
        person.name = "Ada"
        person.age = 36
        let pet = SmokePet(context: stack.context)
        pet.name = "Rex"
        pet.owner = person
        #expect(person.pets == [pet])
        #expect(person.objectID.isTemporaryID)
        try stack.context.save()
        #expect(!person.objectID.isTemporaryID)
        #expect(!stack.context.hasChanges)

        let other = stack.newContext()
        let request = NSFetchRequest<SmokePerson>(entityName: "Person")
        request.predicate = NSPredicate(format: "name == %@ AND ANY pets.name == %@", "Ada", "Rex")
        let found = try other.fetch(request)
        #expect(found.count == 1)
        #expect(found[0].isFault)
        #expect(found[0].age == 36)
        #expect(found[0].pets.first?.name == "Rex")
        #expect(found[0].pets.first?.owner === found[0])
    }

    @Test func changesAndDeletionsAreSaved() throws {
        let person = NSEntityDescription.insertNewObject(forEntityName: "Person", into: stack.context)
        #expect(person is SmokePerson)
        person.setValue("Ada", forKey: "name")
        try stack.context.save()
        person.setValue("Grace", forKey: "name")
        #expect(person.changedValues()["name"] as? String == "Grace")
        #expect(person.committedValues(forKeys: ["name"])["name"] as? String == "Ada")
        try stack.context.save()
        let count = try stack.newContext().count(for: NSFetchRequest<SmokePerson>(entityName: "Person"))
        #expect(count == 1)
        stack.context.delete(person)
        try stack.context.save()
        #expect(try stack.newContext().count(for: NSFetchRequest<SmokePerson>(entityName: "Person")) == 0)
    }
}
