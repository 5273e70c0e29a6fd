import Foundation
import PackagePlugin

/// Makes `@Entity` classes of the model files of a target while it is built: `coredata generate`
/// for each `.xcdatamodeld` and `.xcdatamodel` in the target's folder, when the model has changed.
///
/// The classes of a model are in one file in the build folder, and internal to the target; models
/// in a folder named `Public` make public ones. Entities that get no class are warnings: the target
/// may write their classes itself.
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
        return zip(models, Self.outputNames(of: models)).map { model, name in
            let output = context.pluginWorkDirectoryURL.appendingPathComponent(name)
            let isPublic = model.deletingLastPathComponent().lastPathComponent == "Public"
            return .buildCommand(
                displayName: "Making classes of \(model.lastPathComponent)",
                executable: tool.url,
                arguments: [
                    "generate", model.path, "--file", output.path, "--access", isPublic ? "public" : "internal",
                    "--allow-refusals",
                ],
                inputFiles: Self.files(in: model),
                outputFiles: [output])
        }
    }

    /// The models in a folder and the folders in it, without the versions inside of models.
    private static func models(in folder: URL) -> [URL] {
        contents(of: folder).flatMap { url -> [URL] in
            switch url.pathExtension {
            case "xcdatamodeld", "xcdatamodel": [url]
            // A file has no contents, and a hidden folder is none of the target's.
            default: url.lastPathComponent.hasPrefix(".") ? [] : models(in: url)
            }
        }
    }

    /// A file for the classes of each model. Models of one name, in different folders, get files
    /// with numbers: a module has no two files of one name.
    private static func outputNames(of models: [URL]) -> [String] {
        var taken: Set<String> = []
        return models.map { model in
            let name = model.deletingPathExtension().lastPathComponent + "+Entities"
            var (unique, number) = (name, 1)
            while !taken.insert(unique.lowercased()).inserted {
                number += 1
                unique = "\(name)\(number)"
            }
            return unique + ".swift"
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
        // Foundation lists no folder through a symbolic link.
        let found = try? FileManager.default.contentsOfDirectory(
            at: folder.resolvingSymlinksInPath(), includingPropertiesForKeys: nil)
        return (found ?? []).sorted { $0.path < $1.path }
    }
}
