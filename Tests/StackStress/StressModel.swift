import Foundation
import SafeCoreData

final class Account: NSManagedObject {
    @Managed var name: String
    @Managed var balance: Int64
    @Managed var changes: Int64
    @Managed var opened: Date?
    @Managed var entries: Set<Entry>
}

final class Entry: NSManagedObject {
    @Managed var amount: Int64
    @Managed var text: String?
    @Managed var account: Account?
}

enum StressModel {
    static func make() -> NSManagedObjectModel {
        let account = entity(
            "Account",
            [
                attribute("name", .stringAttributeType), attribute("balance", .integer64AttributeType),
                attribute("changes", .integer64AttributeType), attribute("opened", .dateAttributeType),
            ])
        let entry = entity(
            "Entry", [attribute("amount", .integer64AttributeType), attribute("text", .stringAttributeType)])
        let entries = NSRelationshipDescription()
        entries.name = "entries"
        entries.destinationEntity = entry
        entries.isOptional = true
        entries.deleteRule = .cascadeDeleteRule
        let owner = NSRelationshipDescription()
        owner.name = "account"
        owner.destinationEntity = account
        owner.isOptional = true
        owner.maxCount = 1
        entries.inverseRelationship = owner
        owner.inverseRelationship = entries
        account.properties += [entries]
        entry.properties += [owner]
        let model = NSManagedObjectModel()
        model.entities = [account, entry]
        return model
    }

    /// A coordinator with the model and a store, whose folder is made.
    static func coordinator(_ store: StoreLocation) throws -> NSPersistentStoreCoordinator {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: make())
        if let url = store.url {
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            _ = try coordinator.addPersistentStore(type: .sqlite, at: url)
        } else {
            _ = try coordinator.addPersistentStore(type: .inMemory, at: URL(fileURLWithPath: "/dev/null"))
        }
        return coordinator
    }

    private static func entity(_ name: String, _ properties: [NSPropertyDescription]) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        entity.managedObjectClassName = name
        entity.properties = properties
        return entity
    }

    private static func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.isOptional = true
        return attribute
    }
}
