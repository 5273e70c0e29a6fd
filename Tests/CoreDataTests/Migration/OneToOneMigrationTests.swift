import CoreData
import TestSupport
import Testing

/// A to-one relationship whose new inverse is to-one: of the objects that led to one, one keeps it,
/// and both ends agree.
struct OneToOneMigrationTests {
    private func check(_ store: MigratedStore, _ model: NSManagedObjectModel, keeper: Int = 0) throws {
        try store.open(model) { context in
            let accounts = try context.objects("Account", by: "name")
            let users = accounts.map { $0.value(forKey: "user") as? NSManagedObject }
            #expect(users.indices.filter { users[$0] != nil } == [keeper])
            #expect(users[keeper]?.value(forKey: "name") as? String == "u")
            #expect(users[keeper]?.value(forKey: "account") as? NSManagedObject === accounts[keeper])
        }
    }

    private func fill(_ store: MigratedStore, _ model: NSManagedObjectModel, _ user: String) throws {
        try store.open(model) { context in
            let user = context.insert(user, ["name": "u"])
            for name in ["a", "b", "c"] { context.insert("Account", ["name": name, "user": user]) }
        }
    }

    @Test(arguments: StoreKind.persistent) func theDestinationMayBeOfASubentity(kind: StoreKind) throws {
        func version(isNew: Bool) -> NSManagedObjectModel {
            let (user, account, admin) = (
                entity("User", text("name")), entity("Account", text("name")), entity("Admin")
            )
            user.subentities = [admin]
            if isNew {
                relate(user, "account", account, inverse: "user")
            } else {
                account.properties.append(NSRelationshipDescription("user", to: user))
            }
            return model(user, account, admin)
        }
        let store = try MigratedStore(kind)
        try fill(store, version(isNew: false), "Admin")
        try store.migrate(to: version(isNew: true))
        try check(store, version(isNew: true))
    }

    /// Objects are related one after the other, so the last one keeps the user.
    @Test(arguments: [["User"], ["Account"], ["User", "Account"]], StoreKind.persistent)
    func withAPolicyOfEitherEntityBothEndsAgree(entities: [String], kind: StoreKind) throws {
        func version(isNew: Bool) -> NSManagedObjectModel {
            let (user, account) = (entity("User", text("name")), entity("Account", text("name")))
            if isNew {
                relate(user, "account", account, inverse: "user")
            } else {
                account.properties.append(NSRelationshipDescription("user", to: user))
            }
            return model(user, account)
        }
        let stores = try MappedStores(from: kind, to: kind)
        let (former, new) = (version(isNew: false), version(isNew: true))
        try fill(stores.source, former, "User")
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: former, destinationModel: new)
        for mapping in mapping.entityMappings where entities.contains(mapping.destinationEntityName ?? "") {
            mapping.entityMigrationPolicyClassName = NSStringFromClass(PlainPolicy.self)
        }
        try stores.migrate(with: NSMigrationManager(sourceModel: former, destinationModel: new), by: mapping)
        try check(stores.destination, new, keeper: 2)
    }

    @Test(arguments: StoreKind.persistent) func anObjectMayLeadToItsOwnKind(kind: StoreKind) throws {
        func version(isNew: Bool) -> NSManagedObjectModel {
            let person = entity("Person", text("name"))
            if isNew {
                relate(person, "guide", person, inverse: "guided")
            } else {
                person.properties.append(NSRelationshipDescription("guide", to: person))
            }
            return model(person)
        }
        let store = try MigratedStore(kind)
        try store.open(version(isNew: false)) { context in
            let first = context.insert("Person", ["name": "a"])
            for name in ["b", "c"] { context.insert("Person", ["name": name, "guide": first]) }
        }
        try store.migrate(to: version(isNew: true))
        try store.open(version(isNew: true)) { context in
            let people = try context.objects("Person", by: "name")
            #expect(people[1].value(forKey: "guide") as? NSManagedObject === people[0])
            #expect(people[2].value(forKey: "guide") == nil)
            #expect(people[0].value(forKey: "guided") as? NSManagedObject === people[1])
        }
    }
}
