import CoreData
import TestSupport
import Testing

@testable import CoreDataToolKit

/// The two ways in which diagrams are laid out.
enum DiagramLayouts: String, CaseIterable, Sendable {
    case own, graphviz

    /// Those that this machine has.
    static let present = GraphvizLayout.program == nil ? [own] : allCases

    func draw(_ model: NSManagedObjectModel) throws -> String {
        let diagram = try EntityDiagram(model, named: "Test")
        switch self {
        case .own: return DiagramSVG(diagram, DiagramLayout(layered: diagram)).text
        case .graphviz:
            if diagram.boxes.isEmpty { return DiagramSVG(diagram).text }
            return DiagramSVG(diagram, try #require(GraphvizLayout.layout(of: diagram))).text
        }
    }
}

/// `coredata diagram`.
struct DiagramTests {
    @Test(arguments: DiagramLayouts.present)
    func sixtyEntitiesDoNotOverlap(_ layout: DiagramLayouts) throws {
        let drawn = DrawnDiagram(try layout.draw(DiagramModels.sixty()))
        #expect(drawn.error == nil)
        #expect(drawn.boxes.count == 60)
        #expect(drawn.overlaps == 0)
    }

    @Test(arguments: DiagramLayouts.present)
    func sixtyEntitiesAreAboutAsWideAsHigh(_ layout: DiagramLayouts) throws {
        let size = DrawnDiagram(try layout.draw(DiagramModels.sixty())).size
        #expect(size.width / size.height > 0.5, "\(size)")
        #expect(size.width / size.height < 3, "\(size)")
    }

    @Test(arguments: DiagramLayouts.present)
    func linesEndAtTheBordersOfBoxes(_ layout: DiagramLayouts) throws {
        let drawn = DrawnDiagram(try layout.draw(DiagramModels.sixty()))
        // 49 + 18 relationships and three superentities.
        #expect(drawn.lineEnds.count == 70)
        for point in drawn.lineEnds.joined() {
            #expect(drawn.boxes.contains { $0.isBorder(point) }, "\(point)")
        }
    }

    @Test(arguments: DiagramLayouts.present)
    func everythingIsWithinTheDrawing(_ layout: DiagramLayouts) throws {
        let drawn = DrawnDiagram(try layout.draw(DiagramModels.sixty()))
        for box in drawn.boxes {
            #expect(box.x >= 0)
            #expect(box.y >= 0)
            #expect(box.x + box.width <= drawn.size.width)
            #expect(box.y + box.height <= drawn.size.height)
        }
    }

    @Test func ownLayoutLeadsLinesAroundBoxes() throws {
        let diagram = try EntityDiagram(DiagramModels.sixty(), named: "Test")
        let layout = DiagramLayout(layered: diagram)
        for (line, route) in zip(diagram.lines, layout.routes) where !line.isLoop {
            // The ends of curves: within a column, lines are straight.
            for index in stride(from: 3, to: route.count - 3, by: 3) {
                let point = route[index]
                let hits = layout.frames.enumerated().filter { box, frame in
                    box != line.from.box && box != line.to.box && point.x > frame.x && point.x < frame.right
                        && point.y > frame.y && point.y < frame.bottom
                }
                #expect(hits.isEmpty, "\(line.label)")
            }
        }
    }

    // MARK: Content

    @Test(arguments: DiagramLayouts.present)
    func namesAreTextAndNothingElse(_ layout: DiagramLayouts) throws {
        let svg = try layout.draw(DiagramModels.hostile())
        let drawn = DrawnDiagram(svg)
        #expect(drawn.error == nil)
        #expect(drawn.elements == ["svg", "title", "desc", "style", "rect", "g", "text", "path"])
        #expect(drawn.attributes.allSatisfy { !$0.lowercased().hasPrefix("on") && !$0.contains("href") })
        #expect(drawn.texts["text"]?.contains("<script>alert(1)</script>") == true)
        #expect(drawn.texts["text"]?.contains("two␊lines") == true)
        #expect(drawn.boxes.count == DiagramModels.hostileNames.count)
        #expect(drawn.overlaps == 0)
    }

    @Test func aLongNameIsCutAndStandsWholeInATitle() throws {
        let name = String(repeating: "long", count: 60)
        let drawn = DrawnDiagram(try DiagramLayouts.own.draw(DiagramModels.hostile()))
        #expect(drawn.texts["title"]?.contains(name) == true)
        #expect(drawn.texts["text"]?.contains { $0.hasPrefix("longlong") && $0.hasSuffix("…") } == true)
    }

    private func people() -> NSManagedObjectModel {
        let person = NSEntityDescription("Person", [NSAttributeDescription("name", .stringAttributeType)])
        DiagramModels.link(person, "children", person, "mother")
        let friends = NSRelationshipDescription()
        friends.name = "friends"
        friends.destinationEntity = person
        person.properties.append(friends)
        friends.inverseRelationship = friends
        let pupil = NSEntityDescription("Pupil", [])
        person.subentities = [pupil]
        person.isAbstract = true
        return NSManagedObjectModel([person, pupil])
    }

    @Test(arguments: DiagramLayouts.present)
    func relationshipsToTheSameEntityAreLoops(_ layout: DiagramLayouts) throws {
        let svg = try layout.draw(people())
        let drawn = DrawnDiagram(svg)
        #expect(drawn.lineEnds.count == 3)
        #expect(drawn.texts["title"]?.contains { $0.contains("Person.friends leads to any number of Person") } == true)
        for point in drawn.lineEnds.joined() { #expect(drawn.boxes.contains { $0.isBorder(point) }, "\(point)") }
    }

    @Test(arguments: DiagramLayouts.present)
    func theHierarchyIsDrawn(_ layout: DiagramLayouts) throws {
        let svg = try layout.draw(people())
        #expect(DrawnDiagram(svg).texts["title"]?.contains("Pupil is a Person") == true)
        #expect(svg.contains("class=\"inheritance end\""))
        #expect(svg.contains("class=\"entity abstract\""))
    }

    @Test func anEmptyModelIsADrawingThatSaysSo() throws {
        let drawn = DrawnDiagram(try DiagramLayouts.own.draw(NSManagedObjectModel()))
        #expect(drawn.error == nil)
        #expect(drawn.texts["text"] == ["The model has no entities."])
        let diagram = try EntityDiagram(NSManagedObjectModel(), named: "Test")
        #expect(DiagramMermaid(diagram: diagram).text == "erDiagram\n")
    }

    @Test func theDrawingHasTitleDescriptionAndTwoSchemes() throws {
        let svg = try DiagramLayouts.own.draw(people())
        #expect(svg.hasPrefix("<svg "))
        #expect(svg.contains("role=\"img\""))
        #expect(svg.contains("@media (prefers-color-scheme: dark)"))
        let drawn = DrawnDiagram(svg)
        #expect(drawn.texts["title"]?.contains("Entities of Test") == true)
        #expect(drawn.texts["desc"]?.first?.hasPrefix("2 entities: Person, Pupil. ") == true)
    }

    @Test func aLongChainAndAStarAreLaidOut() throws {
        let hub = NSEntityDescription("Hub", [])
        var entities = [hub]
        for index in 0..<300 {
            let entity = NSEntityDescription("Part\(index)", [])
            DiagramModels.link(index % 2 == 0 ? hub : entities[index], "to\(index)", entity, "from\(index)")
            entities.append(entity)
        }
        let drawn = DrawnDiagram(try DiagramLayouts.own.draw(NSManagedObjectModel(entities)))
        #expect(drawn.boxes.count == 301)
        #expect(drawn.overlaps == 0)
    }
}
