import CoreData
import TestSupport
import Testing

@testable import CoreDataToolKit

/// The formats and options of `coredata diagram`.
struct DiagramCommandTests {
    @Test func mermaid() throws {
        let folder = try ModelFolder(ModelFolder.shop)
        let run = ToolRun(["diagram", folder.modelPath, "--format", "mermaid"])
        #expect(run.status == 0)
        #expect(
            run.output == """
                erDiagram
                  "Article" {
                    String name
                    String note "optional"
                    Decimal price
                  }
                  "Maker" {
                    Integer_64 articleCount
                  }
                  "Maker" |o--|{ "Article" : "Article.maker leads to at most one Maker#59; Maker.articles leads to \
                one or more Article, ordered"

                """)
    }

    @Test func dot() throws {
        let folder = try ModelFolder(ModelFolder.shop)
        let output = ToolRun(["diagram", folder.modelPath, "--format", "dot"]).output
        #expect(output.hasPrefix("digraph {\n"))
        #expect(output.contains("n1:t1 -> n0:r3 [arrowtail=teeodot, arrowhead=crowtee, "), "\(output)")
        #expect(
            output.contains("<TD PORT=\"r0\" ALIGN=\"LEFT\">name</TD><TD PORT=\"t0\" ALIGN=\"LEFT\"><I>String</I></TD>")
        )
    }

    @Test(.enabled(if: GraphvizLayout.program != nil), arguments: [false, true])
    func graphvizReadsTheDOT(_ isHostile: Bool) throws {
        let model = isHostile ? DiagramModels.hostile() : DiagramModels.sixty()
        let workplace = try Workplace()
        let text = DiagramDOT(diagram: try EntityDiagram(model, named: "a\"b\\")).text
        let file = try workplace.file("model.dot", Data(text.utf8))
        let run = try ProgramRun(try #require(GraphvizLayout.program), ["-Tsvg", file])
        let drawn = DrawnDiagram(run.output)
        #expect(drawn.error == nil)
        #expect(drawn.texts["title"]?.count { $0.hasPrefix("n") } ?? 0 >= model.entities.count)
    }

    @Test func mermaidHasNoCharacterThatEndsAName() throws {
        let text = DiagramMermaid(diagram: try EntityDiagram(DiagramModels.hostile(), named: "Test")).text
        for line in text.split(separator: "\n").dropFirst() {
            #expect(line.count { $0 == "\"" } % 2 == 0, "\(line)")
            let quoted = line.split(separator: "\"", omittingEmptySubsequences: false).enumerated().filter {
                $0.offset % 2 == 1
            }
            for (_, text) in quoted { #expect(!text.contains { "<>%\\`{}[]&".contains($0) }, "\(line)") }
        }
        #expect(text.contains("String aPK \"PK, optional\""))
        #expect(text.contains("String apk \"pk, optional\""))
    }

    @Test func aFileIsWrittenOnlyWhereItDiffers() throws {
        let folder = try ModelFolder(ModelFolder.shop)
        let file = folder.workplace.folder.appendingPathComponent("Shop.svg")
        let arguments = ["diagram", folder.modelPath, "--output", file.path]
        #expect(ToolRun(arguments).output == "written Shop.svg\n")
        #expect(ToolRun(arguments).output == "unchanged Shop.svg\n")
        let text = try String(contentsOf: file, encoding: .utf8)
        #expect(text == ToolRun(["model", "diagram", folder.modelPath]).output)
        #expect(text.hasPrefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg "))
    }

    @Test func onlyNamedEntitiesAreDrawn() throws {
        let folder = try ModelFolder(ModelFolder.shop)
        let drawn = DrawnDiagram(ToolRun(["diagram", folder.modelPath, "--entity", "Maker"]).output)
        #expect(drawn.boxes.count == 1)
        #expect(drawn.lineEnds.isEmpty)
        #expect(ToolRun(["diagram", folder.modelPath, "--entity", "Nobody"]).status == 1)
    }

    @Test func aStoreIsDrawnWithAndWithoutItsModel() throws {
        let workplace = try Workplace()
        let store = try workplace.shop()
        #expect(DrawnDiagram(ToolRun(["diagram", store]).output).lineEnds.count == 1)
        try SQLiteFile(URL(fileURLWithPath: store)).run("DROP TABLE Z_MODELCACHE")
        let run = ToolRun(["diagram", store])
        #expect(DrawnDiagram(run.output).boxes.count == 2)
    }

    @Test(.enabled(if: FixtureStores.arePresent), arguments: FixtureStores.all)
    func everyFixtureIsDrawn(_ fixture: String) throws {
        let workplace = try Workplace()
        let drawn = DrawnDiagram(ToolRun(["diagram", try workplace.copy(fixture)]).output)
        #expect(drawn.error == nil)
        #expect(!drawn.boxes.isEmpty)
        #expect(drawn.overlaps == 0)
    }

    // MARK: Graphviz's answers

    @Test(arguments: [
        "", "graph 1 1 1\nstop\n", "node n0 nan 1 1 1\n", "node n9 1 1 1 1\n", "node n0 1e300 1 1 1\nnode n1 1 1 1 1\n",
        "node n0 1 1 1 1\nnode n1 3 3 1 1\nedge n1 n0 4 1 1\n",
    ])
    func answersThatMakeNoSenseAreNotUsed(_ answer: String) throws {
        let diagram = try EntityDiagram(ModelFolder(ModelFolder.shop).model(), named: "Test")
        #expect(GraphvizLayout.layout(of: diagram, from: answer) == nil)
    }
}
