import CoreData
import TestSupport
import Testing

@testable import CoreDataToolKit

/// Generated classes compile, and make the model that they were made of.
struct GeneratedClassesTests {
    /// The model that the classes make, as the text of a model file.
    private func textMadeOfClasses(_ run: ToolRun, in folder: String, _ model: NSManagedObjectModel) throws -> String {
        let files = run.output.split(separator: "\n").map { line in
            URL(fileURLWithPath: folder).appendingPathComponent(String(line.drop { $0 != " " }.dropFirst()))
        }
        let classes = files.map { $0.deletingPathExtension().lastPathComponent + ".self" }.joined(separator: ", ")
        let main = """
            import SafeCoreData
            print(try NSManagedObjectModel(entities: \(classes)).xcdatamodelContents().text)
            """
        let program = try CompiledProgram(files, main: main)
        #expect(program.complaints == "")
        return program.output
    }

    private func read(_ text: String) throws -> NSManagedObjectModel {
        let workplace = try Workplace()
        let url = workplace.folder.appendingPathComponent("contents")
        try Data(text.utf8).write(to: url)
        return try NSManagedObjectModel(reading: url)
    }

    @Test func everyKindOfPropertyMakesTheSameModel() throws {
        let folder = try ModelFolder(EveryKind.model)
        let run = folder.generate("--access", "public")
        #expect(run.status == 0)
        let model = try folder.model()
        let text = try textMadeOfClasses(run, in: folder.outputPath, model)
        #expect(try read(text).entityVersionHashesByName == model.entityVersionHashesByName)
        // Line by line the same, except for defaults that Swift has no literal for, and for what
        // classes do not declare.
        let leftOut = [
            "computedDefault", "<model", "name=\"nearest\"", "name=\"seen\"", "name=\"seenBy\"", "fetchedProperty",
            "fetchRequest",
        ]
        func lines(_ text: String) -> Set<String> {
            Set(
                text.replacingOccurrences(of: "representedClassName=\"Program.", with: "representedClassName=\"")
                    .split(separator: "\n").map(String.init).filter { line in !leftOut.contains { line.contains($0) } })
        }
        // A model file also lists the index of an attribute that a fetch index has alone, as
        // compiled models do.
        let drawn = try folder.model()
        for entity in drawn.entities {
            entity.indexes.removeAll { entity.attributesByName[$0.name]?.isIndexed == true }
        }
        let (found, expected) = (lines(text), lines(try drawn.xcdatamodelContents().text))
        #expect(found.subtracting(expected) == [])
        #expect(expected.subtracting(found) == [])
        let names = ["heavy", "nearest", "seen", "seenBy"]
        #expect(run.errors.split(separator: "\n").count == names.count)
        #expect(names.allSatisfy { run.errors.contains("warning: Everything.\($0): ") })
    }

    @Test func compositeAttributesMakeTheSameHashes() throws {
        let folder = try ModelFolder(
            """
            <entity name="Place" representedClassName="Place"><attribute name="name" attributeType="String"/></entity>
            <entity name="Order" representedClassName="Order">
                <attribute name="author" attributeType="Composite">
                    <attribute name="id" attributeType="String" defaultValueString="x"/>
                    <attribute name="elements" optional="YES" attributeType="Integer 32" elementID="parts"/>
                    <attribute name="default" attributeType="Date"/>
                </attribute>
                <attribute name="place" optional="YES" attributeType="Composite">
                    <attribute name="x" attributeType="Double" versionHashModifier="2"/>
                    <attribute name="inner" optional="YES" attributeType="Composite">
                        <attribute name="code" optional="YES" attributeType="Binary" preserveAfterDeletion="YES"/>
                    </attribute>
                </attribute>
                <attribute name="data" optional="YES" attributeType="Composite"><attribute name="size" \
            attributeType="Integer 64"/></attribute>
                <attribute name="status" attributeType="Composite">
                    <attribute name="status" optional="YES" attributeType="String" defaultValueString="open"/>
                    <userInfo><entry key="EnumType" value="1"/></userInfo>
                </attribute>
                <attribute name="kind" attributeType="Composite">
                    <attribute name="fresh" optional="YES" attributeType="String"/>
                    <attribute name="default" optional="YES" attributeType="String" defaultValueString="default"/>
                    <userInfo><entry key="EnumType" value="1"/></userInfo>
                </attribute>
            </entity>
            """)
        let run = folder.generate("--access", "public")
        #expect(run.status == 0)
        let model = try folder.model()
        let text = try textMadeOfClasses(run, in: folder.outputPath, model)
        #expect(try read(text).entityVersionHashesByName == model.entityVersionHashesByName)
        let order = try folder.text("Order.swift")
        #expect(order.contains("enum Kind: CompositeCases"))
        #expect(order.contains("struct Status: CompositeEnumeration"))
        #expect(order.contains("public var place: PlaceValue?"))
        #expect(order.contains("struct DataValue: CompositeValue"))
        #expect(run.errors == "")
    }

    /// As SwiftData has them: the elements of enumerations are optional, whether or not the
    /// attribute is.
    @Test(arguments: LongTests.some(1, of: [false, true]))
    func classesOfAStoreWithEnumerationsOpenIt(areOptional: Bool) throws {
        func enumeration(_ name: String, _ elements: [NSAttributeDescription], cases: [String]? = nil)
            -> NSAttributeDescription
        {
            let attribute = NSCompositeAttributeDescription()
            attribute.name = name
            attribute.isOptional = areOptional
            attribute.elements = elements
            attribute.userInfo = ["EnumType": true]
            if let cases { attribute.userInfo?["enum"] = cases }
            return attribute
        }
        let text = NSAttributeType.stringAttributeType
        let ticket = NSEntityDescription(
            "Ticket",
            [
                enumeration("status", [NSAttributeDescription("status", text)]),
                enumeration("level", [NSAttributeDescription("level", .integer64AttributeType)]),
                // One case, of the name of the attribute.
                enumeration("only", [NSAttributeDescription("only", text)], cases: ["only"]),
                enumeration(
                    "kind", [NSAttributeDescription("fresh", text), NSAttributeDescription("used", text)],
                    cases: ["fresh", "used"]),
            ])
        let workplace = try Workplace()
        let url = workplace.folder.appendingPathComponent("store.sqlite")
        let stack = try TestStack(NSManagedObjectModel([ticket]), url: url)
        let object = NSManagedObject(entity: stack.entity("Ticket"), insertInto: stack.context)
        object.setValuesForKeys([
            "status": ["status": "open"], "level": ["level": 3], "only": ["only": "only"], "kind": ["used": "used"],
        ])
        try stack.context.save()
        try stack.coordinator.remove(stack.coordinator.persistentStores[0])
        let output = workplace.folder.appendingPathComponent("classes")
        #expect(ToolRun(["generate", url.path, "--output", output.path]).status == 0)
        let main = """
            import SafeCoreData
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel(entities: \
            Ticket.self))
            try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: \
            URL(fileURLWithPath: "\(url.path)"))
            let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            let ticket: Ticket = try context.fetch(Ticket.fetchRequest())[0]
            print([ticket.status].map { $0\(areOptional ? "!" : "").rawValue }, [ticket.level].map { \
            $0\(areOptional ? "!" : "").rawValue })
            print(ticket.only\(areOptional ? "!" : ""), ticket.kind\(areOptional ? "!" : ""))
            """
        let program = try CompiledProgram([output.appendingPathComponent("Ticket.swift")], main: main)
        #expect(program.complaints == "")
        #expect(program.output == "[\"open\"] [3]\nonly used\n")
    }

    private static var fixtures: [String] {
        let found = FileManager.default.enumerator(at: FixtureStores.folder, includingPropertiesForKeys: nil)
        var models: [String] = []
        for case let url as URL in found ?? FileManager.DirectoryEnumerator() where url.pathExtension == "xcdatamodel" {
            models.append(url.path)
        }
        let stores = ["SampleModel2_V1", "SampleModel2_V2"].map { "CoreDataPlus/SampleModel2/Fixtures/\($0).sqlite" }
        return models.sorted() + stores.map { FixtureStores.folder.appendingPathComponent($0).path }
    }

    @Test(.enabled(if: FixtureStores.arePresent && LongTests.areEnabled), arguments: fixtures)
    func modelsOfRealProgramsMakeTheSameModel(_ path: String) throws {
        let workplace = try Workplace()
        let run = ToolRun(["generate", path, "--output", workplace.folder.path])
        #expect(run.status == 0)
        let model = try NamedModel(path: path, version: nil).model
        let text = try textMadeOfClasses(run, in: workplace.folder.path, model)
        #expect(try read(text).entityVersionHashesByName == model.entityVersionHashesByName)
    }
}
