// Every line with a mark must be refused with an error that contains the text of the mark, and no
// other line.

import SafeCoreData

enum V1: VersionedSchema {
    static let entities: [any EntityObject.Type] = [Item.self]

    @Entity final class Item: NSManagedObject {
        var title: String
        var count: Int = 0
    }
}

enum V2: VersionedSchema {
    static let entities: [any EntityObject.Type] = [Item.self]

    @Entity final class Item: NSManagedObject {
        var name: String
        var count: Double = 0
    }
}

// MARK: Compiles

let plan = MigrationPlan(from: V1.self).step(to: V2.self) { step in
    step.map(V1.Item.self, to: V2.Item.self, where: { $0.count > 0 }, mergingBy: { $0.title }) { old, new in
        new.name = old.title
    }
    step.map(V1.Item.self, to: V2.Item.self) { old, new, objects in
        new.count = Double(objects.made(V2.Item.self, from: old).count)
    }
    step.drop(V1.Item.self)
}
let stack = DataStack(migration: plan, store: .inMemory)

// MARK: Does not

func mistakes(_ step: inout MigrationStep) {
    step.map(V1.Item.self, to: V2.Item.self) { old, new in
        old.title = "x"  // error: views cannot be written
    }
    step.map(V1.Item.self, to: V2.Item.self) { old, new in
        new.title = old.title  // error: has no member 'title'
    }
    step.map(V1.Item.self, to: V2.Item.self) { old, new in
        new.name = old.name  // error: no dynamic member 'name'
    }
    step.map(V1.Item.self, to: V2.Item.self) { old, new in
        new.count = old.count  // error: to type 'Double'
    }
    step.map(V1.Item.self, to: V2.self) { _, _ in }  // error: EntityObject
    _ = MigrationPlan(from: V1.Item.self)  // error: conform to 'VersionedSchema'
    _ = DataStack(migration: MigrationPlan(from: V1.self), store: 1)  // error: 'StoreLocation'
}
