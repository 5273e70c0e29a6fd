import CoreData
import TestSupport
import Testing

@testable import CoreDataToolKit

/// `coredata generate --managed`: the classes that Xcode makes of a model.
struct ManagedClassesTests {
    private static let library = """
        <entity name="Author" representedClassName="Author" codeGenerationType="class">
            <attribute name="born" optional="YES" attributeType="Date" usesScalarValueType="NO"/>
            <attribute name="name" attributeType="String"/>
            <relationship name="books" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Book" \
        inverseName="author"
                inverseEntity="Book"/>
            <relationship name="URLs" optional="YES" toMany="YES" ordered="YES" deletionRule="Cascade" \
        destinationEntity="Link"
                inverseName="author" inverseEntity="Link"/>
            <fetchedProperty name="long" optional="YES">
                <fetchRequest name="fetchedPropertyFetchRequest" entity="Book" predicateString="pages &gt; 100"/>
            </fetchedProperty>
        </entity>
        <entity name="Book" representedClassName=".Book" codeGenerationType="class">
            <attribute name="default" optional="YES" attributeType="Boolean" usesScalarValueType="YES"/>
            <attribute name="pages" attributeType="Integer 32" usesScalarValueType="YES"/>
            <attribute name="price" optional="YES" attributeType="Decimal"/>
            <attribute name="rating" optional="YES" attributeType="Double" usesScalarValueType="NO"/>
            <attribute name="read" optional="YES" attributeType="Date" usesScalarValueType="YES"/>
            <attribute name="size" optional="YES" attributeType="Composite" composite="Size"/>
            <attribute name="tags" optional="YES" attributeType="Transformable" customClassName="[String]"/>
            <relationship name="author" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Author" \
        inverseName="books"
                inverseEntity="Author"/>
        </entity>
        <entity name="Novel" representedClassName="Novel" parentEntity="Book" codeGenerationType="class">
            <attribute name="genre" optional="YES" attributeType="String"/>
        </entity>
        <entity name="Link" representedClassName="Link" codeGenerationType="category">
            <attribute name="address" optional="YES" attributeType="URI"/>
            <relationship name="author" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Author" \
        inverseName="URLs"
                inverseEntity="Author"/>
        </entity>
        <entity name="Note" representedClassName="Note"><attribute name="text" optional="YES" \
        attributeType="String"/></entity>
        <composite name="Size"><attribute name="width" optional="YES" attributeType="Double"/></composite>
        """

    @Test func classesAndCategoriesAreThoseOfXcode() throws {
        let folder = try ModelFolder(Self.library)
        let run = folder.generate("--managed")
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.errors == "", "\(run.errors)")
        #expect(
            run.lines == [
                "written Author+CoreDataClass.swift", "written Author+CoreDataProperties.swift",
                "written Book+CoreDataClass.swift",
                "written Book+CoreDataProperties.swift", "written Link+CoreDataProperties.swift",
                "written Novel+CoreDataClass.swift",
                "written Novel+CoreDataProperties.swift",
            ])
        #expect(
            try folder.text("Novel+CoreDataClass.swift").hasSuffix("\nimport CoreData\n\npublic class Novel: Book {}\n")
        )
        let author = try folder.text("Author+CoreDataProperties.swift")
        #expect(
            author.split(separator: "\n", omittingEmptySubsequences: false).dropFirst(2).joined(separator: "\n") == """
                import CoreData

                extension Author {
                    public class func fetchRequest() -> NSFetchRequest<Author> {
                        NSFetchRequest<Author>(entityName: "Author")
                    }

                    @Managed public var born: Date?
                    @Managed public var name: String?
                    @Managed public var URLs: NSOrderedSet?
                    @Managed public var books: NSSet?
                    @Managed public var long: [Book]
                }

                // The members of URLs.
                extension Author {
                    @ManagedAccessor(key: "URLs") public func insertIntoURLs(_ value: Link, at idx: Int)
                    @ManagedAccessor(key: "URLs") public func removeFromURLs(at idx: Int)
                    @ManagedAccessor(key: "URLs") public func insertIntoURLs(_ values: [Link], at indexes: NSIndexSet)
                    @ManagedAccessor(key: "URLs") public func removeFromURLs(at indexes: NSIndexSet)
                    @ManagedAccessor(key: "URLs") public func replaceURLs(at idx: Int, with value: Link)
                    @ManagedAccessor(key: "URLs") public func replaceURLs(at indexes: NSIndexSet, with values: [Link])
                    @ManagedAccessor(key: "URLs") public func addToURLs(_ value: Link)
                    @ManagedAccessor(key: "URLs") public func removeFromURLs(_ value: Link)
                    @ManagedAccessor(key: "URLs") public func addToURLs(_ values: NSOrderedSet)
                    @ManagedAccessor(key: "URLs") public func removeFromURLs(_ values: NSOrderedSet)
                }

                // The members of books.
                extension Author {
                    @ManagedAccessor public func addToBooks(_ value: Book)
                    @ManagedAccessor public func removeFromBooks(_ value: Book)
                    @ManagedAccessor public func addToBooks(_ values: NSSet)
                    @ManagedAccessor public func removeFromBooks(_ values: NSSet)
                }

                extension Author: Identifiable {}

                """)
        #expect(folder.generate("--managed").lines.allSatisfy { $0.hasPrefix("unchanged ") })
    }

    @Test func aProgramUsesTheClasses() throws {
        let folder = try ModelFolder(Self.library)
        let run = folder.generate("--managed")
        let files = run.lines.map { folder.file(String($0.dropFirst("written ".count))) }
        let main = """
            import CoreData

            public class Link: NSManagedObject {}

            let model = try NSManagedObjectModel(reading: URL(fileURLWithPath: "\(folder.modelPath)"))
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
            let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            let author = Author(context: context), book = Novel(context: context), link = Link(context: context)
            author.name = "Ada"
            author.addToBooks(book)
            author.addToURLs(link)
            author.insertIntoURLs([Link(context: context)], at: NSIndexSet(index: 0))
            link.address = URL(string: "https://example.org")
            (book.pages, book.price, book.rating, book.read, book.tags) = (200, 5, 4.5, 86400, ["a"])
            (book.default, book.genre, book.size) = (true, "crime", ["width": 2.5])
            try context.save()
            context.refreshAllObjects()
            let request: NSFetchRequest<Novel> = Novel.fetchRequest()
            let read = try context.fetch(request)[0]
            print(read.pages, read.price!, read.rating!, read.read, read.tags!, read.default, read.size!["width"]!)
            print(read.author!.name!, author.books!.count, author.urls.count, author.long.map(\\.pages), author.id == \
            read.author!.id)

            extension Author { var urls: [Link] { URLs!.array as! [Link] } }
            """
        let program = try CompiledProgram(files, main: main)
        #expect(program.complaints == "")
        #expect(program.output == "200 5 4.5 86400.0 [\"a\"] true 2.5\nAda 1 2 [200] true\n")
    }

    @Test func otherEntitiesAreWrittenWhereTheyAreNamed() throws {
        let folder = try ModelFolder(Self.library)
        #expect(
            folder.generate("--managed", "--entity", "Note", "--access", "internal").lines == [
                "written Note+CoreDataClass.swift", "written Note+CoreDataProperties.swift",
            ])
        #expect(try folder.text("Note+CoreDataClass.swift").hasSuffix("\nclass Note: NSManagedObject {}\n"))
        let manual = try ModelFolder("<entity name=\"Note\" representedClassName=\"Note\"/>")
        #expect(manual.generate("--managed").errors.contains("--entity"))
    }

    @Test func compiledModelsGiveAllClasses() throws {
        let folder = try ModelFolder(Self.library)
        let compiled = folder.workplace.folder.appendingPathComponent("Shop.momd").path
        #expect(ToolRun(["model", "compile", folder.modelPath, "--output", compiled]).status == 0)
        let run = ToolRun(["generate", compiled, "--managed", "--file", "-"])
        #expect(run.output.contains("public class Note: NSManagedObject {}"))
        #expect(run.output.contains("public class Link: NSManagedObject {}"))
    }
}
