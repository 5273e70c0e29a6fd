import SafeCoreData
import TestSupport

/// Three versions of a shop's classes.
enum ShopV1: VersionedSchema {
    static let entities: [any EntityObject.Type] = [StoredPerson.self, StoredVisit.self, StoredTag.self]

    @Entity final class StoredPerson: NSManagedObject {
        var first: String
        var last: String
        var street: String = ""
        var spent: Int = 0
        @Relationship(inverse: \StoredOrder.buyer) var orders: [StoredOrder]
        @Relationship(inverse: \StoredPerson.advised) var adviser: StoredPerson?
        @Relationship var advised: Set<StoredPerson>
    }

    @Entity final class StoredOrder: NSManagedObject {
        var number: Int
        @Relationship var buyer: StoredPerson?
        @Relationship(inverse: \StoredTag.orders) var tags: Set<StoredTag>
    }

    @Entity final class StoredTag: NSManagedObject {
        var text: String
        @Relationship var orders: Set<StoredOrder>
    }

    @Entity final class StoredVisit: NSManagedObject {
        var page: String
    }
}

/// A new property, and a renamed one: inferred.
enum ShopV2: VersionedSchema {
    static let entities: [any EntityObject.Type] = [StoredPerson.self, StoredVisit.self, StoredTag.self]

    @Entity final class StoredPerson: NSManagedObject {
        var first: String
        @Attribute(originalName: "last") var family: String
        var street: String = ""
        var spent: Int = 0
        var joined: Date = Date(timeIntervalSinceReferenceDate: 60 * 60)
        @Relationship(inverse: \StoredOrder.buyer) var orders: [StoredOrder]
        @Relationship(inverse: \StoredPerson.advised) var adviser: StoredPerson?
        @Relationship var advised: Set<StoredPerson>
    }

    @Entity final class StoredOrder: NSManagedObject {
        var number: Int
        @Relationship var buyer: StoredPerson?
        @Relationship(inverse: \StoredTag.orders) var tags: Set<StoredTag>
    }

    @Entity final class StoredTag: NSManagedObject {
        var text: String
        @Relationship var orders: Set<StoredOrder>
    }

    @Entity final class StoredVisit: NSManagedObject {
        var page: String
    }
}

/// Persons are split, tags merged, visits dropped; a required property has no initial value.
enum ShopV3: VersionedSchema {
    static let entities: [any EntityObject.Type] = [StoredPerson.self, StoredVisit.self, StoredTag.self]

    @Entity final class StoredPerson: NSManagedObject {
        var fullName: String
        var spent: Double = 0
        var joined: Date
        var rank: Rank = .new
        @Relationship(inverse: \StoredOrder.buyer) var orders: [StoredOrder]
        @Relationship(inverse: \StoredPerson.advised) var adviser: StoredPerson?
        @Relationship var advised: Set<StoredPerson>
        @Relationship(deleteRule: .cascade, inverse: \StoredAddress.resident) var address: StoredAddress?
    }

    @Entity final class StoredAddress: NSManagedObject {
        var street: String
        @Relationship var resident: StoredPerson?
    }

    @Entity final class StoredOrder: NSManagedObject {
        var number: Int
        var code: String
        @Relationship var buyer: StoredPerson?
        @Relationship(inverse: \StoredTag.orders) var tags: Set<StoredTag>
    }

    @Entity final class StoredTag: NSManagedObject {
        @Attribute(.unique) var text: String
        @Relationship var orders: Set<StoredOrder>
    }

    @Entity final class StoredVisit: NSManagedObject {
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
        step.map(ShopV2.StoredPerson.self, to: ShopV3.StoredPerson.self) { old, new in
            new.fullName = old.first + " " + old.family
            new.rank = old.orders.isEmpty ? .new : .regular
        }
        step.map(ShopV2.StoredPerson.self, to: ShopV3.StoredAddress.self, where: { !$0.street.isEmpty }) {
            old, new, objects in
            new.resident = objects.made(ShopV3.StoredPerson.self, from: old).first
        }
        step.map(ShopV2.StoredOrder.self, to: ShopV3.StoredOrder.self) { old, new in new.code = "N\(old.number)" }
        step.map(ShopV2.StoredTag.self, to: ShopV3.StoredTag.self, mergingBy: { $0.text }) { _, _ in }
        step.drop(ShopV2.StoredVisit.self)
    }

    /// Makes a store of the first version.
    nonisolated(nonsending) func fill() async throws {
        let stack = DataStack(migration: MigrationPlan(from: ShopV1.self), store: .file(url))
        try await stack.write { context in
            let ada = ShopV1.StoredPerson(context: context, first: "Ada", last: "Byron", street: "Main 1", spent: 7)
            let bob = ShopV1.StoredPerson(context: context, first: "Bob", last: "Cox")
            bob.adviser = ada
            let tags = ["red", "red", "big"].map { ShopV1.StoredTag(context: context, text: $0) }
            for number in 1...3 {
                let order = ShopV1.StoredOrder(context: context, number: number)
                order.tags = [tags[number - 1]]
                ada.orders.insert(order, at: 0)
            }
            _ = ShopV1.StoredVisit(context: context, page: "start")
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
