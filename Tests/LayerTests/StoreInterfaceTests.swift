import Foundation
import SwiftParser
import SwiftSyntax
import Testing

/// Documentation/StoreInterface.md lists the types that stores in other modules can use.
struct StoreInterfaceTests {
    /// The names of the `package` types that a source declares outside of other types.
    private static func packageTypes(in source: String) -> [String] {
        Parser.parse(source: source).statements.compactMap { statement in
            guard let type = statement.item.asProtocol(NamedDeclSyntax.self), !type.is(FunctionDeclSyntax.self),
                let modifiers = type.asProtocol(WithModifiersSyntax.self)?.modifiers,
                modifiers.contains(where: { $0.name.text == "package" && $0.detail == nil })
            else { return nil }
            return type.name.text
        }
    }

    /// The names before the colons of the items of a document's lists.
    private static func listedTypes(in document: String) -> [String] {
        document.split(separator: "\n").filter { $0.hasPrefix("- `") }.flatMap { item in
            item.prefix { $0 != ":" }.split(separator: "`").filter { $0.first?.isLetter ?? false }.map(String.init)
        }
    }

    @Test func theDocumentListsThePackageTypesOfTheEngine() throws {
        let folder = LayerTable.engine.folder
        let enumerator = try #require(FileManager.default.enumerator(atPath: folder.path))
        var declared: Set<String> = []
        for case let path as String in enumerator where path.hasSuffix(".swift") {
            let source = try String(contentsOf: folder.appendingPathComponent(path), encoding: .utf8)
            // Parsing takes most of the time.
            if source.contains("package ") { declared.formUnion(Self.packageTypes(in: source)) }
        }
        let document = LayerTable.package.appendingPathComponent("Documentation/StoreInterface.md")
        let listed = Self.listedTypes(in: try String(contentsOf: document, encoding: .utf8))
        #expect(listed.count == Set(listed).count, "a type is listed twice")
        #expect(declared.subtracting(listed).sorted() == [], "missing in Documentation/StoreInterface.md")
        #expect(Set(listed).subtracting(declared).sorted() == [], "listed, but no package type of the engine")
    }

    @Test func aPackageTypeIsFound() {
        let source = """
            @frozen package struct Row { package enum Kind {} }
            package final class Page {}
            package typealias Pointer = Int
            package protocol Source {}
            package func read() {}
            public package(set) var number = 1
            struct Cache { package var count = 0 }
            extension Row { package struct Cell {} }
            """
        #expect(Self.packageTypes(in: source) == ["Row", "Page", "Pointer", "Source"])
    }

    @Test func aListedTypeIsFound() {
        let document = "- `Row`, `Page`: rows, and `Blocks` of them,\n  `Others`: too.\n\n`Name`: text\n- an item"
        #expect(Self.listedTypes(in: document) == ["Row", "Page"])
    }
}
