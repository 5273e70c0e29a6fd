import Foundation

/// `coredata diagram`: draws the entities of a store or a model.
struct DiagramCommand: Command {
    static let syntax = CommandSyntax(
        name: "diagram", summary: "Draws entities with attributes, relationships and hierarchy: SVG, DOT, Mermaid.",
        operands: [.storeOrModel],
        options: [
            .format("svg", "dot", "mermaid"),
            .init(name: "output", value: "FILE", help: "The file to write; without it the standard output."),
            .entities, .model, .version,
        ],
        notes: """
            A crow's foot is the end with many objects, a bar the end with one, a circle means "or none".
            A triangle points to the superentity; '?' is an optional value, [Name] many objects. The SVG
            has a light and a dark form. Graphviz lays it out where it is installed.

              coredata diagram Store.sqlite --output Store.svg
            """)

    private let path: String
    private let format: String
    private let output: String?
    private let entities: [String]?
    private let modelPath: String?
    private let version: String?

    init(_ arguments: CommandSyntax.Arguments) throws(UsageError) {
        path = arguments.operands[0]
        format = arguments.format
        output = arguments.values["output"]
        entities = try arguments.names("entity", of: "entity")
        modelPath = arguments.values["model"]
        version = arguments.values["version"]
    }

    func run(_ console: Console) throws -> ExitStatus {
        let named = try NamedModel(describedBy: path, modelPath: modelPath, version: version)
        for warning in named.warnings { try console.warn(warning) }
        let diagram = try EntityDiagram(named.model, named: named.name, entities: entities)
        let text = text(of: diagram)
        guard let output else {
            try console.output.write(text)
            return .success
        }
        try ModelOutput.write(to: output, console) { try ModelOutput.write(Data(text.utf8), to: $0) }
        return .success
    }

    private func text(of diagram: EntityDiagram) -> String {
        switch format {
        case "dot": DiagramDOT(diagram: diagram).text
        case "mermaid": DiagramMermaid(diagram: diagram).text
        default: "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" + DiagramSVG(diagram).text
        }
    }
}
