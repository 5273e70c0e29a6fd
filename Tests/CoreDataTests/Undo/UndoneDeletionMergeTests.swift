import CoreData
import TestSupport
import Testing

/// Undo of a deletion after another context has related objects to the deleted one.
struct UndoneDeletionMergeTests {
    private static func entities(_ rule: NSDeleteRule) -> [NSEntityDescription] {
        func entity(_ name: String) -> NSEntityDescription {
            NSEntityDescription(name, class: "NSManagedObject", [NSAttributeDescription("name", .stringAttributeType)])
        }
        let (owner, item, partner, label) = (entity("Owner"), entity("Item"), entity("Partner"), entity("Label"))
        relate(owner, "item", toMany: true, deleteRule: rule, item, inverse: "owner")
        relate(owner, "partner", deleteRule: rule, partner, inverse: "owner")
        relate(owner, "label", toMany: true, deleteRule: rule, label, inverse: "owner", inverseToMany: true)
        return [owner, item, partner, label]
    }

    private func names(_ value: Any?) -> [String] {
        switch value {
        case let object as NSManagedObject: [object.value(forKey: "name") as? String ?? ""]
        case let objects as Set<NSManagedObject>:
            objects.compactMap { $0.value(forKey: "name") as? String }.sorted()
        default: []
        }
    }

    private func objects(_ entity: String, _ context: NSManagedObjectContext) throws -> [NSManagedObject] {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        return try context.fetch(request)
    }

    /// Both ends of each relationship between the owner and others, as a context sees them.
    private func ends(_ context: NSManagedObjectContext) throws -> [String] {
        var ends: [String] = []
        for owner in try objects("Owner", context) {
            for name in ["item", "partner", "label"] { ends.append("\(name): \(names(owner.value(forKey: name)))") }
        }
        for entity in ["Item", "Partner", "Label"] {
            for object in try objects(entity, context) {
                ends.append("\(names(object)) of \(names(object.value(forKey: "owner")))")
            }
        }
        return ends
    }

    @Test(
        arguments: [NSDeleteRule.nullifyDeleteRule, .cascadeDeleteRule].flatMap { rule in
            StoreKind.allCases.map { (rule, $0) }
        },
        [false, true].flatMap { before in [false, true].flatMap { after in [false, true].map { (before, after, $0) } } }
    )
    func whatOthersRelatedIsRelatedAgain(
        _ store: (rule: NSDeleteRule, kind: StoreKind), _ step: (isReadBefore: Bool, isReadAfter: Bool, isSaved: Bool)
    ) throws {
        let stack = try TestStack(Self.entities(store.rule), kind: store.kind)
        let (here, there) = (stack.newContext(), stack.newContext())
        let observer = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextDidSave, object: there, queue: nil
        ) { here.mergeChanges(fromContextDidSave: $0) }
        defer { NotificationCenter.default.removeObserver(observer) }
        here.undoManager = UndoManager()
        here.undoManager?.groupsByEvent = false
        func insert(_ entity: String, _ name: String) -> NSManagedObject {
            let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: there)
            object.setValue(name, forKey: "name")
            return object
        }
        let owner = insert("Owner", "o")
        let known = ["Item", "Partner", "Label"].map { insert($0, "known") }
        try there.save()
        let mine = try #require(try objects("Owner", here).first)
        if step.isReadBefore { _ = try ends(here) }
        here.undoManager?.beginUndoGrouping()
        here.delete(mine)
        here.processPendingChanges()
        here.undoManager?.endUndoGrouping()
        for object in known { object.setValue(object.entity.name == "Label" ? [owner] : owner, forKey: "owner") }
        insert("Item", "new").setValue(owner, forKey: "owner")
        try there.save()
        if step.isReadAfter { _ = try ends(here) }
        if step.isSaved { try here.save() }
        here.undo()
        let all = [
            #"item: ["known", "new"]"#, #"partner: ["known"]"#, #"label: ["known"]"#, #"["known"] of ["o"]"#,
            #"["new"] of ["o"]"#, #"["known"] of ["o"]"#, #"["known"] of ["o"]"#,
        ]
        #expect(try ends(here) == all)
        try here.save()
        #expect(try ends(stack.newContext()) == all)
    }
}
