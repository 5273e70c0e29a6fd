import Foundation
import PackagePlugin

/// Makes `@Entity` classes of the model files of a target while it is built: `coredata generate` for each
/// `.xcdatamodeld` and `.xcdatamodel` in the target's folder, when the model has changed.
///
/// The classes of a model are in one file in the build folder, and internal to the target; models in a folder named
/// `Public` make public ones.
@main
struct GenerateEntities: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: Target) throws -> [Command] {
        // The folder as a URL is there from tools version 6.1 on only.
        let models = Self.models(in: URL(fileURLWithPath: String(describing: target.directory)))
        if models.isEmpty {
            Diagnostics.warning("The target \(target.name) has no .xcdatamodeld or .xcdatamodel for GenerateEntities.")
            return []
        }
        let tool = try context.tool(named: "CoreDataTool")
        return models.map { model in
            let name = model.deletingPathExtension().lastPathComponent
            let output = context.pluginWorkDirectoryURL.appendingPathComponent("\(name)+Entities.swift")
            let isPublic = model.deletingLastPathComponent().lastPathComponent == "Public"
            return .buildCommand(
                displayName: "Making classes of \(model.lastPathComponent)",
                executable: tool.url,
                arguments: ["generate", model.path, "--file", output.path, "--access", isPublic ? "public" : "internal"],
                inputFiles: Self.files(in: model),
                outputFiles: [output])
        }
    }

    /// The models in a folder and the folders in it, without the versions inside of models.
    private static func models(in folder: URL) -> [URL] {
        contents(of: folder).flatMap { url -> [URL] in
            switch url.pathExtension {
            case "xcdatamodeld", "xcdatamodel": [url]
            case "": models(in: url)
            default: []
            }
        }
    }

    /// All files of a model: the choice of the current version as much as the versions.
    private static func files(in folder: URL) -> [URL] {
        contents(of: folder).flatMap { url in
            let files = files(in: url)
            return files.isEmpty ? [url] : files
        }
    }

    private static func contents(of folder: URL) -> [URL] {
        let found = try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        return (found ?? []).sorted { $0.path < $1.path }
    }
}
