import Foundation
import Testing

/// The sources keep to the layers.
struct LayerTests {
    /// The names in the sources of each module, by its folder and their paths within it. Reading
    /// them takes most of the time of these tests.
    private static let names: [String: [String: SourceNames]] = Dictionary(
        uniqueKeysWithValues: LayerTable.modules.map { module in
            let paths = (FileManager.default.enumerator(atPath: module.folder.path)?.compactMap { $0 as? String } ?? [])
                .filter {
                    $0.hasSuffix(".swift")
                }
            return (
                module.root,
                Dictionary(
                    uniqueKeysWithValues: paths.compactMap { path in
                        (try? String(contentsOf: module.folder.appendingPathComponent(path), encoding: .utf8)).map {
                            (path, SourceNames(source: $0))
                        }
                    })
            )
        })

    private static func names(of module: LayerCheck) throws -> [String: SourceNames] {
        let names = try #require(names[module.root])
        #expect(names.count > 5, "\(module.root) was not read")
        return names
    }

    private static func names(in sources: [String: String]) -> [String: SourceNames] {
        sources.mapValues(SourceNames.init(source:))
    }

    @Test(arguments: LayerTable.modules) func noFileUsesAHigherLayer(module: LayerCheck) throws {
        let violations = module.violations(in: try Self.names(of: module))
        #expect(violations.isEmpty, "\(violations.map(\.description).joined(separator: "\n"))")
    }

    @Test(arguments: LayerTable.modules) func everyFileBelongsToALayer(module: LayerCheck) throws {
        let outside = try Self.names(of: module).keys.filter { module.place(of: $0) == nil }
        #expect(outside.isEmpty, "\(outside.sorted())")
    }

    @Test(arguments: LayerTable.modules) func exceptionsAreNeeded(module: LayerCheck) throws {
        let strict = LayerCheck(layers: module.layers, foreignMembers: module.foreignMembers)
        let found = Set(strict.violations(in: try Self.names(of: module)).map { "\($0.file) \($0.name)" })
        let listed = Set(module.exceptions.flatMap { file, names in names.map { "\(file) \($0)" } })
        #expect(found == listed)
    }

    @Test(arguments: LayerTable.modules) func noFolderUsesOneThatUsesIt(module: LayerCheck) throws {
        let circles = module.circlesOfFolders(in: try Self.names(of: module))
        #expect(circles.map { $0.sorted() } == module.mutualFolders.map { $0.sorted() })
    }

    @Test(arguments: LayerTable.modules) func noThirtyFilesUseEachOther(module: LayerCheck) throws {
        let circles = module.circlesOfFiles(in: try Self.names(of: module))
        #expect(circles.first?.count ?? 0 < 30, "\(circles.first?.sorted() ?? [])")
    }

    @Test func theDesignShowsTheLayers() throws {
        let document = LayerTable.package.appendingPathComponent("Documentation/Design.md")
        let text = try String(contentsOf: document, encoding: .utf8)
        let after = try #require(text.components(separatedBy: LayerPicture.start + "\n").dropFirst().first)
        let shown = try #require(after.components(separatedBy: "\n" + LayerPicture.end).first)
        let picture = LayerPicture.text(of: LayerTable.engine)
        #expect(shown == picture, "Put this picture into Design.md:\n\(picture)")
    }

    @Test(arguments: LayerTable.modules) func noFolderIsCrowded(module: LayerCheck) throws {
        let files = Dictionary(grouping: try Self.names(of: module).keys) { ($0 as NSString).deletingLastPathComponent }
        let crowded = files.filter { $0.value.count > 25 }.keys
        #expect(crowded.isEmpty, "\(crowded.sorted())")
    }

    @Test func circlesAreFound() {
        let check = LayerCheck(layers: [("all", ["One", "Two", "Three"])])
        let sources = Self.names(in: [
            "One/A.swift": "struct A { var b: B }", "Two/B.swift": "struct B { var c: [C] }",
            "One/C.swift": "struct C { var a: A? }",
            "Three/D.swift": "struct D { var a: A }",
        ])
        #expect(check.circlesOfFiles(in: sources) == [["One/A.swift", "Two/B.swift", "One/C.swift"]])
        #expect(check.circlesOfFolders(in: sources) == [["One", "Two"]])
        let without = LayerCheck(layers: check.layers, exceptions: ["One/C.swift": ["A"]])
        #expect(without.circlesOfFiles(in: sources) == [])
    }

    // MARK: The check itself

    private static let check = LayerCheck(
        layers: [("ground", ["Ground"]), ("middle", ["Middle", "Top/Middle"]), ("top", ["Top"])])

    private static let top = """
        final class Roof {
            struct Tile {}
            var tiles: [Tile] = []
        }
        func makeRoof() -> Roof { Roof() }
        extension Wall {
            var roof: Roof { makeRoof() }
        }
        extension String {
            var asSlate: String { self }
        }
        """

    private static func names(in ground: String, at path: String = "Ground/Wall.swift") -> [String] {
        let sources = [
            "Ground/Base.swift": "struct Wall { var height = 1 }\nstruct Tile {}", "Top/Roof.swift": top, path: ground,
        ]
        return check.violations(in: names(in: sources)).map { "\($0.file):\($0.line) \($0.name)" }
    }

    @Test func aTypeOfAHigherLayerIsFound() {
        #expect(Self.names(in: "struct Room {\n    var roof: Roof?\n}") == ["Ground/Wall.swift:2 Roof"])
    }

    @Test func aTypeWithinAnotherOfAHigherLayerIsFound() {
        #expect(Self.names(in: "let tile: Roof.Tile? = nil") == ["Ground/Wall.swift:1 Roof"])
    }

    @Test func aFunctionOfAHigherLayerIsFound() {
        #expect(Self.names(in: "let any: Any = makeRoof()") == ["Ground/Wall.swift:1 makeRoof"])
    }

    @Test func whatAHigherLayerAddsToALowerTypeIsFound() {
        #expect(Self.names(in: "func look(_ wall: Wall) {\n    _ = wall.roof\n}") == ["Ground/Wall.swift:2 roof"])
    }

    @Test func aMemberThatStandsAloneWithinItsTypeIsFound() {
        #expect(Self.names(in: "extension Wall {\n    func look() { _ = roof }\n}") == ["Ground/Wall.swift:2 roof"])
    }

    @Test func aVariableHidesAMember() {
        #expect(Self.names(in: "func look(_ roof: Int) { _ = roof }") == [])
    }

    @Test func whatAHigherLayerAddsToAForeignTypeIsFound() {
        #expect(Self.names(in: "let slate = \"a\".asSlate") == ["Ground/Wall.swift:1 asSlate"])
    }

    @Test func lowerLayersMayBeUsed() {
        #expect(Self.names(in: "let wall = Wall()\nlet roof = makeRoof().tiles", at: "Top/House.swift") == [])
    }

    @Test func theLongestFolderCounts() {
        #expect(
            Self.names(in: "let roof: Roof? = nil", at: "Top/Middle/Beam.swift") == ["Top/Middle/Beam.swift:1 Roof"])
    }

    @Test func namesInCommentsAndTextsAreNotUses() {
        #expect(Self.names(in: "// Roof\nlet text = \"Roof makeRoof()\"") == [])
    }

    @Test func aTypeOfTheSameNameBelowIsNotTakenForAnother() {
        #expect(Self.names(in: "let tile = Tile()") == [])
    }

    @Test func aPrivateTypeHidesAnother() {
        #expect(Self.names(in: "private struct Roof {}\nprivate let roof = Roof()") == [])
    }

    @Test func anExceptionLetsANameThrough() {
        let check = LayerCheck(layers: Self.check.layers, exceptions: ["Ground/Wall.swift": ["Roof"]])
        let sources = ["Top/Roof.swift": Self.top, "Ground/Wall.swift": "let roof: Roof? = makeRoof()"]
        #expect(check.violations(in: Self.names(in: sources)).map(\.name) == ["makeRoof"])
    }
}
