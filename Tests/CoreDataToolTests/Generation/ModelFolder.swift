import CoreData
import Testing

@testable import CoreDataToolKit

/// A folder with a model that a test writes, and what the command makes of it.
final class ModelFolder {
    let workplace: Workplace
    let modelPath: String
    let outputPath: String

    /// - Parameter contents: the elements of the model's file.
    init(_ contents: String) throws {
        workplace = try Workplace()
        modelPath = workplace.folder.appendingPathComponent("Shop.xcdatamodel").path
        outputPath = workplace.folder.appendingPathComponent("Sources").path
        try draw(contents)
    }

    /// Writes the model's file anew.
    func draw(_ contents: String) throws {
        try FileManager.default.createDirectory(atPath: modelPath, withIntermediateDirectories: true)
        let text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<model>\n\(contents)\n</model>\n"
        try Data(text.utf8).write(to: URL(fileURLWithPath: modelPath).appendingPathComponent("contents"))
    }

    func generate(_ options: String...) -> ToolRun {
        ToolRun(["generate", modelPath, "--output", outputPath] + options)
    }

    func model() throws -> NSManagedObjectModel { try NSManagedObjectModel(reading: URL(fileURLWithPath: modelPath)) }

    func file(_ name: String) -> URL { URL(fileURLWithPath: outputPath).appendingPathComponent(name) }

    func text(_ name: String) throws -> String { try String(contentsOf: file(name), encoding: .utf8) }

    /// A small model: articles and those who make them.
    static let shop = """
        <entity name="Article" representedClassName=".Article">
            <attribute name="name" attributeType="String" minValueString="1" maxValueString="40"/>
            <attribute name="price" attributeType="Decimal" defaultValueString="0.1" minValueString="0"/>
            <attribute name="note" optional="YES" attributeType="String" elementID="remark"/>
            <relationship name="maker" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Maker"
                inverseName="articles" inverseEntity="Maker"/>
            <uniquenessConstraints><uniquenessConstraint><constraint \
        value="name"/></uniquenessConstraint></uniquenessConstraints>
        </entity>
        <entity name="Maker" representedClassName="Firm">
            <attribute name="articleCount" attributeType="Integer 64" derived="YES" \
        derivationExpression="articles.@count"/>
            <relationship name="articles" toMany="YES" deletionRule="Cascade" ordered="YES" destinationEntity="Article"
                inverseName="maker" inverseEntity="Article"/>
        </entity>
        """
}
