import CoreData
import TestSupport
import Testing

/// Values after a migration of derived attributes that change, or are derived from one another.
struct DerivedMigrationTests {
    let store: MigratedStore

    init() throws { store = try MigratedStore() }

    private func derived(_ name: String, _ type: NSAttributeType, _ text: String) -> NSDerivedAttributeDescription {
        let attribute = NSDerivedAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.derivationExpression = NSExpression(format: text)
        return attribute
    }

    /// Boxes with drawers with things: a drawer counts its things, a box adds up the counts of its
    /// drawers. The names say which table comes first.
    private func boxes(_ names: (box: String, drawer: String), derived isDerived: Bool) -> NSManagedObjectModel {
        let (box, drawer, thing) = (
            entity(names.box, text("name")), entity(names.drawer, text("name")), entity("Thing", text("name"))
        )
        relate(box, "drawers", toMany: true, drawer, inverse: "box")
        relate(drawer, "things", toMany: true, thing, inverse: "drawer")
        if isDerived {
            drawer.properties += [derived("thingCount", .integer64AttributeType, "things.@count")]
            box.properties += [derived("total", .integer64AttributeType, "drawers.thingCount.@sum")]
        }
        return model(box, drawer, thing)
    }

    @Test(arguments: [("A", "B"), ("B", "A")]) func whatIsDerivedFromDerivedValuesIsRight(box: String, drawer: String)
        throws
    {
        try store.open(boxes((box, drawer), derived: false)) { context in
            let owner = context.insert(box)
            for count in [2, 3] {
                let place = context.insert(drawer, ["box": owner])
                for _ in 0..<count { context.insert("Thing", ["drawer": place]) }
            }
        }
        try store.migrate(to: boxes((box, drawer), derived: true))
        #expect(store.file.column("SELECT ZTHINGCOUNT FROM Z\(drawer) ORDER BY 1") == ["2", "3"])
        #expect(store.file.column("SELECT ZTOTAL FROM Z\(box)") == ["5"])
    }

    @Test(arguments: StoreKind.persistent, [true, false]) func programsFindWhatIsDerivedFromDerivedValues(
        kind: StoreKind, isBoxFirst: Bool
    )
        throws
    {
        let store = try MigratedStore(kind)
        let names = isBoxFirst ? (box: "A", drawer: "B") : (box: "B", drawer: "A")
        try store.open(boxes(names, derived: false)) { context in
            let owner = context.insert(names.box)
            for count in [2, 3] {
                let place = context.insert(names.drawer, ["box": owner])
                for _ in 0..<count { context.insert("Thing", ["drawer": place]) }
            }
        }
        let new = boxes(names, derived: true)
        try store.migrate(to: new)
        let total = try store.open(new) { try $0.values(names.box, "total", as: Int.self) }
        #expect(total == [5])
    }

    // MARK: - Longer chains

    /// Areas add up boxes, which add up drawers, which count things. The names say which table
    /// comes first.
    private func areas(_ names: [String], derived isDerived: Bool) -> NSManagedObjectModel {
        let (area, box, drawer) = (
            entity(names[0], text("name")), entity(names[1], text("name")), entity(names[2], text("name"))
        )
        let thing = entity("Thing", text("name"))
        relate(area, "boxes", toMany: true, box, inverse: "area")
        relate(box, "drawers", toMany: true, drawer, inverse: "box")
        relate(drawer, "things", toMany: true, thing, inverse: "drawer")
        if isDerived {
            drawer.properties += [derived("thingCount", .integer64AttributeType, "things.@count")]
            box.properties += [derived("total", .integer64AttributeType, "drawers.thingCount.@sum")]
            area.properties += [derived("total", .integer64AttributeType, "boxes.total.@sum")]
        }
        return model(area, box, drawer, thing)
    }

    @Test(arguments: StoreKind.persistent, [["A", "B", "C"], ["C", "B", "A"], ["B", "C", "A"]])
    func whatIsDerivedThroughThreeEntitiesIsRight(kind: StoreKind, names: [String]) throws {
        let store = try MigratedStore(kind)
        try store.open(areas(names, derived: false)) { context in
            let area = context.insert(names[0])
            for count in [2, 3] {
                let drawer = context.insert(names[2], ["box": context.insert(names[1], ["area": area])])
                for _ in 0..<count { context.insert("Thing", ["drawer": drawer]) }
            }
        }
        let new = areas(names, derived: true)
        try store.migrate(to: new)
        let totals = try store.open(new) { context in
            try names.prefix(2).map { try context.values($0, "total", as: Int.self) }
        }
        #expect(totals == [[5], [2, 3]])
    }

    // MARK: - Constraints

    /// Tags with a key that is unique.
    private func tags(key expression: String?) -> NSManagedObjectModel {
        let tag = entity("Tag", text("name"), text("label"))
        if let expression {
            tag.properties += [derived("key", .stringAttributeType, expression)]
            tag.uniquenessConstraints = [["key"]]
        }
        return model(tag)
    }

    @Test(.foldsTexts, arguments: StoreKind.persistent) func sharedDerivedValuesOfANewConstraintFail(kind: StoreKind)
        throws
    {
        let store = try MigratedStore(kind)
        try store.open(tags(key: nil)) { context in
            for name in ["EVA", "eva", "Ada"] { context.insert("Tag", ["name": name]) }
        }
        let error = try store.refusal(tags(key: "lowercase:(name)"))
        #expect(error.code == NSMigrationConstraintViolationError, "\(error)")
        #expect(error.localizedDescription.contains("'Tag'"), "\(error.localizedDescription)")
        #expect(error.localizedDescription.contains("'eva' (2 objects)"), "\(error.localizedDescription)")
        try store.open(tags(key: nil)) { context in
            for tag in try context.objects("Tag") where tag.value(forKey: "name") as? String == "EVA" {
                context.delete(tag)
            }
        }
        try store.migrate(to: tags(key: "lowercase:(name)"))
    }

    @Test(.foldsTexts, arguments: StoreKind.persistent) func constrainedDerivedValuesMayChangePlaces(kind: StoreKind)
        throws
    {
        let store = try MigratedStore(kind)
        try store.open(tags(key: "name")) { context in
            for (name, label) in [("a", "b"), ("b", "c"), ("c", "a")] {
                context.insert("Tag", ["name": name, "label": label])
            }
        }
        let new = tags(key: "label")
        try store.migrate(to: new)
        #expect(try store.open(new) { try $0.values("Tag", "key", by: "name", as: String.self) } == ["b", "c", "a"])
        // The constraint is there again.
        let shared = tags(key: "uppercase:(label)")
        try store.open(new) { $0.insert("Tag", ["name": "d", "label": "A"]) }
        let error = try store.refusal(shared)
        #expect(error.code == NSMigrationConstraintViolationError, "\(error)")
        let unsaved = errorThrown { try store.open(new) { _ = $0.insert("Tag", ["name": "e", "label": "A"]) } }
        #expect(unsaved != nil)
    }

    @Test(.foldsTexts, arguments: StoreKind.persistent) func aDerivedAttributeOfAnotherTypeKeepsNoFormerValue(
        kind: StoreKind
    ) throws {
        let store = try MigratedStore(kind)
        try store.open(model(entity("Item", text("name"), derived("mark", .stringAttributeType, "uppercase:(name)")))) {
            context in
            context.insert("Item", ["name": "one"])
        }
        #expect(kind != .sqlite || store.file.column("SELECT ZMARK FROM ZITEM") == ["ONE"])
        try store.migrate(to: model(entity("Item", text("name"), derived("mark", .dateAttributeType, "now()"))))
        #expect(kind != .sqlite || store.file.column("SELECT typeof(ZMARK) FROM ZITEM") == ["real"])
    }

    @Test func rowsOfTheOnlyEntityOfATableGetItsNumberWhateverStoodThere() throws {
        try store.open(model(entity("B", text("name")))) { $0.insert("B", ["name": "one"]) }
        #expect(store.file.execute("UPDATE ZB SET Z_ENT = 77"))
        try store.migrate(to: model(entity("A", text("name")), entity("B", text("name"))))
        #expect(store.file.rows("SELECT Z_ENT, ZNAME FROM ZB") == [["2", "one"]])
    }
}
