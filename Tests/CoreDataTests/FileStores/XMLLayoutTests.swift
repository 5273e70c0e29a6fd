import CoreData
import TestSupport
import Testing

/// XML stores in Apple's layout, written by hand.
struct XMLLayoutTests {
    private let folder: TemporaryFolder
    private let url: URL

    init() throws {
        folder = try TemporaryFolder()
        url = folder.file("store.xml")
    }

    private func model() -> NSManagedObjectModel {
        let book = NSEntityDescription(
            "Book", class: "NSManagedObject",
            [
                .init("title", .stringAttributeType), .init("inPrint", .booleanAttributeType),
                .init("price", .floatAttributeType), .init("bought", .dateAttributeType),
                .init("cover", .binaryDataAttributeType),
            ])
        let novel = NSEntityDescription(
            "Novel", class: "NSManagedObject", [.init("ageLimit", .integer16AttributeType)])
        book.subentities = [novel]
        let author = NSEntityDescription("Author", class: "NSManagedObject", [.init("name", .stringAttributeType)])
        relate(author, "books", toMany: true, book, inverse: "author")
        return NSManagedObjectModel([book, novel, author])
    }

    /// The file of an author and two books.
    private func text(_ model: NSManagedObjectModel) -> String {
        let hashes = model.entityVersionHashesByName.sorted { $0.key < $1.key }.map { name, hash in
            """
                                    <key>\(name)</key>
                                    <data>
            \t\t\(hash.base64EncodedString())
            \t\t</data>

            """
        }.joined()
        return """
            <?xml version="1.0" standalone="yes"?>
            <!DOCTYPE database SYSTEM "file:///System/Library/DTDs/CoreData.dtd">

            <database>
                <databaseInfo>
                    <version>134481920</version>
                    <UUID>8CE4D4A3-6A21-4B5D-B43C-0E8A61D31E4F</UUID>
                    <nextObjectID>104</nextObjectID>
                    <metadata>
                        <plist version="1.0">
                            <dict>
                                <key>NSPersistenceFrameworkVersion</key>
                                <integer>1044</integer>
                                <key>NSStoreModelVersionHashes</key>
                                <dict>
            \(hashes)                    </dict>
                                <key>NSStoreModelVersionIdentifiers</key>
                                <array>
                                    <string></string>
                                </array>
                                <key>origin</key>
                                <string>by hand &amp; eye</string>
                            </dict>
                        </plist>
                    </metadata>
                </databaseInfo>
                <object type="AUTHOR" id="z102">
                    <attribute name="name" type="string">A \\u3c00b\\u3e00 \\u2600 é
            C</attribute>
                    <relationship name="books" type="0/0" destination="BOOK" idrefs="z103 z104"></relationship>
                </object>
                <object type="NOVEL" id="z103">
                    <attribute name="agelimit" type="int16">12</attribute>
                    <attribute name="title" type="string"></attribute>
                    <attribute name="price" type="float">19.6</attribute>
                    <attribute name="inprint" type="bool">1</attribute>
                    <attribute name="bought" type="date">259495720.56406000256538391113</attribute>
                    <relationship name="author" type="0/1" destination="AUTHOR" idrefs="z102"></relationship>
                </object>
                <object type="BOOK" id="z104">
                    <attribute name="price" type="float">5</attribute>
                    <attribute name="cover" type="binary">\
            AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8gISIjJCUmJygpKissLS4vMDEyMzQ1Njc4
            OTo7</attribute>
                    <relationship name="author" type="0/1" destination="AUTHOR" idrefs="z102"></relationship>
                </object>
            </database>
            """.replacingOccurrences(of: "OTo7</", with: "OTo7\n        </")
    }

    @Test func aFileOfAppleIsRead() throws {
        try Data(text(model()).utf8).write(to: url)
        let stack = try FileStoreStack(model(), .xml, at: url)
        defer { withExtendedLifetime(stack) {} }
        let author = try #require(try stack.all("Author").first)
        #expect(author.value(forKey: "name") as? String == "A <b> & é\nC")
        let novel = try #require(try stack.all("Novel").first)
        #expect(novel.value(forKey: "title") as? String == "")
        #expect(novel.value(forKey: "price") as? Float == 19.6)
        #expect(novel.value(forKey: "inPrint") as? Bool == true)
        #expect((novel.value(forKey: "bought") as? Date)?.timeIntervalSinceReferenceDate == 259495720.56406)
        #expect(novel.value(forKey: "ageLimit") as? Int == 12)
        let book = try #require(try stack.all("Book", by: "price").first)
        #expect(book.value(forKey: "cover") as? Data == Data(0..<60))
        #expect((author.value(forKey: "books") as? Set<NSManagedObject>)?.count == 2)
        #expect(
            novel.objectID.uriRepresentation().absoluteString
                == "x-coredata://8CE4D4A3-6A21-4B5D-B43C-0E8A61D31E4F/Novel/p103")
        #expect(stack.store.metadata["origin"] as? String == "by hand & eye")
    }

    @Test func aFileOfAppleIsWrittenAsItWas() throws {
        let text = text(model())
        try Data(text.utf8).write(to: url)
        let stack = try FileStoreStack(model(), .xml, at: url)
        defer { withExtendedLifetime(stack) {} }
        let author = try #require(try stack.all("Author").first)
        author.setValue("other", forKey: "name")
        try stack.context.save()
        #expect(try String(contentsOf: url, encoding: .utf8) != text)
        author.setValue("A <b> & é\nC", forKey: "name")
        try stack.context.save()
        #expect(try String(contentsOf: url, encoding: .utf8) == text)
    }

    @Test func metadataAreSetWithoutAModel() throws {
        let text = text(model())
        try Data(text.utf8).write(to: url)
        var metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .xml, at: url)
        #expect(metadata[NSStoreTypeKey] as? String == "XML")
        metadata["origin"] = "x"
        try NSPersistentStoreCoordinator.setMetadata(metadata, type: .xml, at: url)
        let changed = text.replacingOccurrences(of: "by hand &amp; eye", with: "x")
        #expect(try String(contentsOf: url, encoding: .utf8) == changed)
    }

    @Test func aFileWithoutInformationIsRead() throws {
        let text = """
            <?xml version="1.0"?>
            <database><object type="Author" id="z7"><attribute name="Name" type="string">a\\b</attribute></object>
            <object type="book" id="z3"><relationship name="AUTHOR" idrefs="z7"/></object></database>
            """
        try Data(text.utf8).write(to: url)
        let stack = try FileStoreStack(model(), .xml, at: url)
        defer { withExtendedLifetime(stack) {} }
        let author = try #require(try stack.all("Author").first)
        #expect(author.value(forKey: "name") as? String == "a\\b")
        #expect((author.value(forKey: "books") as? Set<NSManagedObject>)?.count == 1)
        let new = stack.insert("Book")
        try stack.context.save()
        #expect(new.objectID.uriRepresentation().lastPathComponent == "p102")
    }

    @Test(arguments: [
        "", "\\", "\\u3c00", "<&>\"'", "\u{0}\u{1}\u{1b}", "a\r\nb\rc", " \t\n ", "\u{2028}e\u{301}é😀", "]]>", "&amp;",
    ])
    func everyTextIsReadAsItWasWritten(text: String) throws {
        let stack = try FileStoreStack(model(), .xml, at: url)
        _ = stack.insert("Author", ["name": text])
        try stack.context.save()
        let read = try FileStoreStack(model(), .xml, at: url).values("Author", "name").first as? String
        #expect(read.map { Array($0.unicodeScalars) } == Array(text.unicodeScalars))
    }
}
