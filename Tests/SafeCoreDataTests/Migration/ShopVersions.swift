import SafeCoreData
import TestSupport

/// Three versions of a shop's classes.
enum ShopV1: VersionedSchema {
    static let entities: [any EntityObject.Type] = [Person.self, Visit.self, Tag.self]

    @Entity final class Person: NSManagedObject {
        var first: String
        var last: String
        var street: String = ""
        var spent: Int = 0
        @Relationship(inverse: \Order.buyer) var orders: [Order]
        @Relationship(inverse: \Person.advised) var adviser: Person?
        @Relationship var advised: Set<Person>
    }

    @Entity final class Order: NSManagedObject {
        var number: Int
        @Relationship var buyer: Person?
        @Relationship(inverse: \Tag.orders) var tags: Set<Tag>
    }

    @Entity final class Tag: NSManagedObject {
        var text: String
        @Relationship var orders: Set<Order>
    }

    @Entity final class Visit: NSManagedObject {
        var page: String
    }
}

/// A new property, and a renamed one: inferred.
enum ShopV2: VersionedSchema {
    static let entities: [any EntityObject.Type] = [Person.self, Visit.self, Tag.self]

    @Entity final class Person: NSManagedObject {
        var first: String
        @Attribute(originalName: "last") var family: String
        var street: String = ""
        var spent: Int = 0
        var joined: Date = Date(timeIntervalSinceReferenceDate: 60 * 60)
        @Relationship(inverse: \Order.buyer) var orders: [Order]
        @Relationship(inverse: \Person.advised) var adviser: Person?
        @Relationship var advised: Set<Person>
    }

    @Entity final class Order: NSManagedObject {
        var number: Int
        @Relationship var buyer: Person?
        @Relationship(inverse: \Tag.orders) var tags: Set<Tag>
    }

    @Entity final class Tag: NSManagedObject {
        var text: String
        @Relationship var orders: Set<Order>
    }

    @Entity final class Visit: NSManagedObject {
        var page: String
    }
}

/// Persons are split, tags merged, visits dropped; a required property has no initial value.
enum ShopV3: VersionedSchema {
    static let entities: [any EntityObject.Type] = [Person.self, Visit.self, Tag.self]

    @Entity final class Person: NSManagedObject {
        var fullName: String
        var spent: Double = 0
        var joined: Date
        var rank: Rank = .new
        @Relationship(inverse: \Order.buyer) var orders: [Order]
        @Relationship(inverse: \Person.advised) var adviser: Person?
        @Relationship var advised: Set<Person>
        @Relationship(deleteRule: .cascade, inverse: \Address.resident) var address: Address?
    }

    @Entity final class Address: NSManagedObject {
        var street: String
        @Relationship var resident: Person?
    }

    @Entity final class Order: NSManagedObject {
        var number: Int
        var code: String
        @Relationship var buyer: Person?
        @Relationship(inverse: \Tag.orders) var tags: Set<Tag>
    }

    @Entity final class Tag: NSManagedObject {
        @Attribute(.unique) var text: String
        @Relationship var orders: Set<Order>
    }

    @Entity final class Visit: NSManagedObject {
        var page: String
    }

    enum Rank: String { case new, regular }
}

/// A store with stacks of its versions.
struct ShopStore {
    let folder: TemporaryFolder
    let url: URL

    init() throws {
        folder = try TemporaryFolder()
        url = folder.file("shop.sqlite")
    }

    static let toV2 = MigrationPlan(from: ShopV1.self).inferred(to: ShopV2.self)

    static let toV3 = toV2.step(to: ShopV3.self) { step in
        step.map(ShopV2.Person.self, to: ShopV3.Person.self) { old, new in
            new.fullName = old.first + " " + old.family
            new.rank = old.orders.isEmpty ? .new : .regular
        }
        step.map(ShopV2.Person.self, to: ShopV3.Address.self, where: { !$0.street.isEmpty }) { old, new, objects in
            new.resident = objects.made(ShopV3.Person.self, from: old).first
        }
        step.map(ShopV2.Order.self, to: ShopV3.Order.self) { old, new in new.code = "N\(old.number)" }
        step.map(ShopV2.Tag.self, to: ShopV3.Tag.self, mergingBy: { $0.text }) { _, _ in }
        step.drop(ShopV2.Visit.self)
    }

    /// Makes a store of the first version.
    nonisolated(nonsending) func fill() async throws {
        let stack = DataStack(migration: MigrationPlan(from: ShopV1.self), store: .file(url))
        try await stack.write { context in
            let ada = ShopV1.Person(context: context, first: "Ada", last: "Byron", street: "Main 1", spent: 7)
            let bob = ShopV1.Person(context: context, first: "Bob", last: "Cox")
            bob.adviser = ada
            let tags = ["red", "red", "big"].map { ShopV1.Tag(context: context, text: $0) }
            for number in 1...3 {
                let order = ShopV1.Order(context: context, number: number)
                order.tags = [tags[number - 1]]
                ada.orders.insert(order, at: 0)
            }
            _ = ShopV1.Visit(context: context, page: "start")
        }
        try await stack.close()
    }

    /// Opens the store by a plan, and closes it.
    nonisolated(nonsending) func open<Newest>(_ plan: MigrationPlan<Newest>) async throws {
        let stack = DataStack(migration: plan, store: .file(url))
        try await stack.opened()
        try await stack.close()
    }

    func column(_ sql: String) -> [String?] { SQLiteFile(url).column(sql) }

    /// The bytes of the store's file.
    var bytes: Data? { try? Data(contentsOf: url) }
}

/// An error of a step's closure.
struct BadRow: Error, Equatable {
    let number: Int
}
