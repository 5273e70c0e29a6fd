import CoreData
import TestSupport
import Testing

/// Hierarchies and relationships that few models have.
struct UnusualShapesTests {
    private func text(_ name: String) -> NSAttributeDescription { NSAttributeDescription(name, .stringAttributeType) }

    private func entity(_ name: String, _ properties: [NSPropertyDescription]) -> NSEntityDescription {
        NSEntityDescription(name, class: "NSManagedObject", properties)
    }

    private func insert(_ name: String, _ title: String, _ context: NSManagedObjectContext) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: name, into: context)
        object.setValue(title, forKey: "title")
        return object
    }

    private func titles(_ value: Any?) -> [String] {
        let objects =
            (value as? Set<NSManagedObject>).map(Array.init) ?? (value as? NSOrderedSet)?.array as? [NSManagedObject]
            ?? []
        let names = objects.compactMap { $0.value(forKey: "title") as? String }
        return value is NSOrderedSet ? names : names.sorted()
    }

    private func fetch(_ name: String, _ format: String? = nil, _ context: NSManagedObjectContext) throws
        -> [NSManagedObject]
    {
        let request = NSFetchRequest<NSManagedObject>(entityName: name)
        request.predicate = format.map { NSPredicate(format: $0) }
        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        return try context.fetch(request)
    }

    /// Three levels, whose siblings have relationships of the same name to different entities, one
    /// to many and many to many.
    @Test func siblingsHaveRelationshipsOfTheSameName() throws {
        let base = entity("Base", [text("title")])
        let (left, right) = (entity("Left", []), entity("Right", []))
        let (leftmost, rightmost) = (entity("Leftmost", [text("note")]), entity("Rightmost", [text("note")]))
        base.subentities = [left, right]
        left.subentities = [leftmost]
        right.subentities = [rightmost]
        let (apple, pear) = (entity("Apple", [text("title")]), entity("Pear", [text("title")]))
        relate(left, "items", toMany: true, apple, inverse: "owner")
        relate(right, "items", toMany: true, pear, inverse: "owner")
        relate(leftmost, "labels", toMany: true, apple, inverse: "labelled", inverseToMany: true)
        relate(rightmost, "labels", toMany: true, pear, inverse: "labelled", inverseToMany: true)
        relate(leftmost, "partner", base, inverse: "leftPartners", inverseToMany: true)
        relate(rightmost, "partner", base, inverse: "rightPartners", inverseToMany: true)
        let stack = try TestStack([base, left, right, leftmost, rightmost, apple, pear])
        let context = stack.context
        for side in ["Left", "Right"] {
            let fruit = side == "Left" ? "Apple" : "Pear"
            for owner in [side, side + "most"] {
                let object = insert(owner, owner, context)
                object.setValue(
                    NSSet(array: (1...2).map { insert(fruit, "\(owner) item \($0)", context) }), forKey: "items")
                if owner.hasSuffix("most") {
                    object.setValue("noted", forKey: "note")
                    object.setValue(
                        NSSet(array: (1...2).map { insert(fruit, "\(owner) label \($0)", context) }), forKey: "labels")
                    object.setValue(object, forKey: "partner")
                }
            }
        }
        try context.save()
        let reader = stack.newContext()
        #expect(try fetch("Base", nil, reader).map { $0.entity.name } == ["Left", "Leftmost", "Right", "Rightmost"])
        for object in try fetch("Base", nil, reader) {
            let name = object.entity.name ?? ""
            #expect(titles(object.value(forKey: "items")) == ["\(name) item 1", "\(name) item 2"])
            if name.hasSuffix("most") {
                #expect(titles(object.value(forKey: "labels")) == ["\(name) label 1", "\(name) label 2"])
                #expect(object.value(forKey: "partner") as? NSManagedObject === object)
            }
        }
        #expect(
            try fetch("Leftmost", "ANY labels.title ENDSWITH 'label 2' AND note == 'noted'", reader).map {
                $0.entity.name
            } == ["Leftmost"])
        #expect(try fetch("Right", "items.@count == 2", reader).count == 2)
        #expect(try fetch("Base", "leftPartners.@count > 0", reader).count == 1)
        #expect(try fetch("Pear", "owner.title == 'Right'", reader).count == 2)
        #expect(try fetch("Pear", "ANY labelled.note == 'noted'", reader).count == 2)
        // Two properties of one name, which a fetch of the superentity cannot tell apart.
        for format in ["note == 'noted'", "items.@count == 2", "ANY labels.title != nil"] {
            let error = try #require(errorThrown { _ = try fetch("Base", format, reader) })
            #expect(error.localizedDescription.contains("Left"))
            #expect(error.localizedDescription.contains("Right"))
        }
        #expect(try fetch("Left", "note == 'noted'", reader).count == 1)
        context.delete(try #require(try fetch("Rightmost", nil, context).first))
        try context.save()
        #expect(try fetch("Pear", "owner == nil", stack.newContext()).count == 4)
    }

    private func people(ordered: Bool) throws -> TestStack {
        let person = entity("Person", [text("title")])
        relate(person, "follows", toMany: true, ordered: ordered, person, inverse: "followers", inverseToMany: true)
        let friends = NSRelationshipDescription("friends", to: person, toMany: true)
        friends.inverseRelationship = friends
        person.properties += [friends]
        return try TestStack([person])
    }

    @Test(arguments: [false, true]) func anEntityIsRelatedToItself(ordered: Bool) throws {
        let stack = try people(ordered: ordered)
        let context = stack.context
        let people = ["a", "b", "c", "d"].map { insert("Person", $0, context) }
        func set(_ members: [NSManagedObject]) -> Any { ordered ? NSOrderedSet(array: members) : NSSet(array: members) }
        people[0].setValue(set([people[3], people[1], people[0]]), forKey: "follows")
        people[1].setValue(set([people[0]]), forKey: "follows")
        people[0].mutableSetValue(forKey: "friends").add(people[1])
        people[0].mutableSetValue(forKey: "friends").add(people[0])
        people[2].mutableSetValue(forKey: "friends").add(people[0])
        #expect(titles(people[1].value(forKey: "friends")) == ["a"])
        try context.save()
        var reader = stack.newContext()
        var stored = try fetch("Person", nil, reader)
        #expect(titles(stored[0].value(forKey: "follows")) == (ordered ? ["d", "b", "a"] : ["a", "b", "d"]))
        #expect(titles(stored[0].value(forKey: "followers")) == ["a", "b"])
        #expect(titles(stored[3].value(forKey: "followers")) == ["a"])
        #expect(titles(stored[0].value(forKey: "friends")) == ["a", "b", "c"])
        #expect(titles(stored[1].value(forKey: "friends")) == ["a"])
        #expect(titles(stored[2].value(forKey: "friends")) == ["a"])
        #expect(
            try fetch("Person", "ANY follows.title == 'a'", reader).map { $0.value(forKey: "title") as? String } == [
                "a", "b",
            ])
        #expect(
            try fetch("Person", "ANY friends.title == 'b'", reader).map { $0.value(forKey: "title") as? String } == [
                "a"
            ])
        #expect(try fetch("Person", "ANY friends.title == 'a'", reader).count == 3)

        stored[0].mutableSetValue(forKey: "friends").remove(stored[1])
        stored[0].mutableSetValue(forKey: "friends").remove(stored[0])
        if ordered {
            stored[0].mutableOrderedSetValue(forKey: "follows").moveObjects(at: IndexSet(integer: 2), to: 0)
        } else {
            stored[0].mutableSetValue(forKey: "follows").remove(stored[3])
        }
        try reader.save()
        reader = stack.newContext()
        stored = try fetch("Person", nil, reader)
        #expect(titles(stored[0].value(forKey: "friends")) == ["c"])
        #expect(titles(stored[1].value(forKey: "friends")) == [])
        #expect(titles(stored[0].value(forKey: "follows")) == (ordered ? ["a", "d", "b"] : ["a", "b"]))
        reader.delete(stored[0])
        try reader.save()
        stored = try fetch("Person", nil, stack.newContext())
        #expect(
            stored.map {
                titles($0.value(forKey: "follows")) + titles($0.value(forKey: "followers"))
                    + titles($0.value(forKey: "friends"))
            }
                == [[], [], []])
    }

    @Test func keyPathsMayBeFiveStepsLong() throws {
        let entities = (0..<6).map { entity("E\($0)", [text("title")]) }
        for index in 0..<5 { relate(entities[index + 1], "up", toMany: true, entities[index], inverse: "down") }
        let stack = try TestStack(entities)
        for chain in ["x", "y", "z"] {
            let objects = (0..<6).map { insert("E\($0)", "\(chain)\($0)", stack.context) }
            for index in 0..<5 where chain != "z" || index != 3 {
                objects[index].setValue(objects[index + 1], forKey: "down")
            }
        }
        try stack.context.save()
        let reader = stack.newContext()
        func found(_ entity: String, _ format: String) throws -> [String?] {
            try fetch(entity, format, reader).map { $0.value(forKey: "title") as? String }
        }
        #expect(try found("E0", "down.down.down.down.down.title == 'y5'") == ["y0"])
        #expect(try found("E0", "down.down.down.down.down.title == nil") == ["z0"])
        #expect(try found("E0", "NOT down.down.down.down.down.title == 'y5'") == ["x0", "z0"])
        // As Core Data: one to-many step is all that ANY takes.
        let error = try #require(errorThrown { _ = try found("E5", "ANY up.up.title == 'x3'") })
        #expect(error.localizedDescription.contains("to-many"))
        #expect(
            try found(
                "E5",
                "SUBQUERY(up, $a, SUBQUERY($a.up, $b, SUBQUERY($b.up, $c, ANY $c.up.title == 'y1').@count > "
                    + "0).@count > 0).@count == 1"
            )
                == ["y5"])
        let request = NSFetchRequest<NSDictionary>(entityName: "E0")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = ["title", "down.down.down.down.down.title"]
        request.sortDescriptors = [NSSortDescriptor(key: "down.down.down.down.down.title", ascending: false)]
        let rows = try reader.fetch(request)
        #expect(rows.map { $0["down.down.down.down.down.title"] as? String } == ["y5", "x5", nil])
        let objects = NSFetchRequest<NSManagedObject>(entityName: "E0")
        objects.sortDescriptors = request.sortDescriptors
        objects.relationshipKeyPathsForPrefetching = ["down.down.down.down.down"]
        #expect(
            try reader.fetch(objects).map { $0.value(forKeyPath: "down.down.down.down.down.title") as? String } == [
                "y5", "x5", nil,
            ])
    }
}
