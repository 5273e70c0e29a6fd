import Foundation
import Testing

/// The engine's sources keep to the layers.
@Suite struct LayerTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent(LayerTable.root)

    /// The sources by path within the folder of the engine.
    private static func sources() throws -> [String: String] {
        let enumerator = try #require(FileManager.default.enumerator(atPath: folder.path))
        var sources: [String: String] = [:]
        for case let path as String in enumerator where path.hasSuffix(".swift") {
            sources[path] = try String(contentsOf: folder.appendingPathComponent(path), encoding: .utf8)
        }
        return sources
    }

    @Test func noFileUsesAHigherLayer() throws {
        let violations = LayerTable.engine.violations(in: try Self.sources())
        #expect(violations.isEmpty, "\(violations.map(\.description).joined(separator: "\n"))")
    }

    @Test func everyFileBelongsToALayer() throws {
        let outside = try Self.sources().keys.filter { $0.contains("/") && LayerTable.engine.layer(of: $0) == nil }
        #expect(outside.isEmpty, "\(outside.sorted())")
    }

    @Test func exceptionsAreNeeded() throws {
        let strict = LayerCheck(layers: LayerTable.engine.layers, exceptions: [:])
        let found = Set(strict.violations(in: try Self.sources()).map { "\($0.file) \($0.name)" })
        let listed = Set(LayerTable.engine.exceptions.flatMap { file, names in names.map { "\(file) \($0)" } })
        #expect(found == listed)
    }

    // MARK: The check itself

    private static let check = LayerCheck(
        layers: [("ground", ["Ground"]), ("middle", ["Middle", "Top/Middle"]), ("top", ["Top"])], exceptions: [:])

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
        let sources = ["Ground/Base.swift": "struct Wall { var height = 1 }\nstruct Tile {}", "Top/Roof.swift": top, path: ground]
        return check.violations(in: sources).map { "\($0.file):\($0.line) \($0.name)" }
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
        #expect(Self.names(in: "let roof: Roof? = nil", at: "Top/Middle/Beam.swift") == ["Top/Middle/Beam.swift:1 Roof"])
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
        #expect(check.violations(in: sources).map(\.name) == ["makeRoof"])
    }
}
