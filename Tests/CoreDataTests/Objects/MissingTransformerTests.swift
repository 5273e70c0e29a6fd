import CoreData
import TestSupport
import Testing

/// Attributes whose transformer this program does not have.
struct MissingTransformerTests {
    let stack: TestStack
    let bytes = "6279746573"

    init() throws {
        let color = NSAttributeDescription("color", .transformableAttributeType, optional: false)
        color.valueTransformerName = "NowhereColorTransformer"
        let shade = NSAttributeDescription("shade", .transformableAttributeType)
        shade.valueTransformerName = "NowhereShadeTransformer"
        stack = try TestStack([
            NSEntityDescription("Paint", class: "NSManagedObject", [.init("name", .stringAttributeType), color, shade])
        ])
        #expect(
            stack.file.execute(
                "INSERT INTO ZPAINT (Z_PK, Z_ENT, Z_OPT, ZNAME, ZCOLOR, ZSHADE) VALUES (1, 1, 1, 'old', x'\(bytes)', "
                    + "x'\(bytes)');"
                    + "UPDATE Z_PRIMARYKEY SET Z_MAX = 1"))
    }

    private func paint(_ context: NSManagedObjectContext) throws -> NSManagedObject {
        try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Paint")).first)
    }

    @Test func theValueReadsAsNil() throws {
        #expect(try paint(stack.newContext()).value(forKey: "color") == nil)
    }

    @Test func aSaveOfOtherPropertiesKeepsTheBytes() throws {
        let context = stack.newContext()
        let paint = try paint(context)
        #expect(paint.value(forKey: "color") == nil)
        paint.setValue("new", forKey: "name")
        try context.save()
        #expect(stack.file.rows("SELECT ZNAME, hex(ZCOLOR), hex(ZSHADE) FROM ZPAINT") == [["new", bytes, bytes]])
    }

    @Test func theMissingTransformerIsSaidOnceForEachAttribute() throws {
        for _ in 0..<3 {
            let paint = try paint(stack.newContext())
            _ = (paint.value(forKey: "color"), paint.value(forKey: "color"), paint.value(forKey: "shade"))
        }
        for (attribute, transformer) in [
            ("Paint.color", "NowhereColorTransformer"), ("Paint.shade", "NowhereShadeTransformer"),
        ] {
            #expect(
                Warnings.all.filter {
                    $0.contains(attribute) && $0.contains(transformer) && $0.contains("not registered")
                }.count == 1)
        }
    }

    @Test func settingAValueFailsAtTheSave() throws {
        let context = stack.newContext()
        try paint(context).setValue("x", forKey: "shade")
        let error = errorThrown { try context.save() }
        #expect(error?.localizedDescription.contains("NowhereShadeTransformer") == true)
        #expect(stack.file.rows("SELECT hex(ZSHADE) FROM ZPAINT") == [[bytes]])
    }

    @Test func bytesThatCannotBeReadAreSetAsTheyAre() throws {
        let context = stack.newContext()
        let original = try paint(context)
        let copy = NSManagedObject(entity: stack.entity("Paint"), insertInto: context)
        copy.setValue("copy", forKey: "name")
        for key in ["color", "shade"] {
            copy.setTransformedData(try original.transformedData(forKey: key), forKey: key)
        }
        try context.save()
        #expect(
            stack.file.rows("SELECT hex(ZCOLOR), hex(ZSHADE) FROM ZPAINT WHERE ZNAME = 'copy'") == [[bytes, bytes]])
    }
}

/// Warnings about values that cannot be read.
struct UnreadableValueTests {
    @Test func theEntityTheAttributeAndTheClassAreNamed() throws {
        let stack = try TestStack([
            NSEntityDescription("Crate", class: "NSManagedObject", [.init("cover", .transformableAttributeType)])
        ])
        let crate = NSManagedObject(entity: stack.entity("Crate"), insertInto: stack.context)
        try stack.context.save()
        let archive = KeyedArchiveBuilder.data { $0.array([$0.object("UIColor")]) }
        crate.setTransformedData(archive, forKey: "cover")
        #expect(crate.value(forKey: "cover") == nil)
        let sentences = Warnings.all.filter { $0.contains("Crate.cover") }
        try #require(sentences.count == 1)
        #expect(sentences[0].contains("'UIColor'"))
    }

    @Test func sentencesGoToStandardError() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let entity = NSEntityDescription(
                "Barrel", class: "NSManagedObject", [.init("cover", .transformableAttributeType)])
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel([entity]))
            _ = try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
            let context = coordinator.newContext()
            let barrel = NSManagedObject(entity: entity, insertInto: context)
            barrel.setTransformedData(Data([1, 2, 3]), forKey: "cover")
            _ = (barrel.value(forKey: "cover"), barrel.value(forKey: "cover"))
        }
        let lines = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self).split(separator: "\n").filter {
            $0.contains("Barrel.cover")
        }
        #expect(lines.count == 1)
    }

    @Test(
        "The names of the constants are names of transformers, too",
        arguments: [
            "NSSecureUnarchiveFromDataTransformerName", "NSKeyedUnarchiveFromDataTransformerName",
            "NSUnarchiveFromDataTransformerName",
        ])
    func namesOfConstantsAreKnown(name: String) {
        #expect(ValueTransformer(forName: NSValueTransformerName(name)) is NSSecureUnarchiveFromDataTransformer)
    }

    @Test("What a transformer makes of its bytes is in dictionaries as well", arguments: StoreKind.allCases)
    func dictionariesHaveTransformedValues(kind: StoreKind) throws {
        let entity = NSEntityDescription(
            "Note", class: "NSManagedObject",
            [.init("title", .stringAttributeType), .init("tags", .transformableAttributeType)])
        let stack = try BatchStack(kind, NSManagedObjectModel([entity]))
        for (title, tags) in [("a", ["x", "y"]), ("b", nil)] as [(String, [String]?)] {
            let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: stack.context)
            note.setValue(title, forKey: "title")
            note.setValue(tags.map { $0 as NSArray }, forKey: "tags")
        }
        try stack.context.save()
        let column = NSExpressionDescription("same", NSExpression(forKeyPath: "tags"), .transformableAttributeType)
        let request = NSFetchRequest<NSDictionary>(entityName: "Note")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = ["title", "tags", column]
        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        let rows = try stack.context.fetch(request)
        for key in ["tags", "same"] {
            #expect(rows.first?[key] as? NSArray == ["x", "y"], "\(key) of \(kind)")
            #expect(rows.last?[key] == nil, "\(key) of \(kind)")
        }
    }
}
