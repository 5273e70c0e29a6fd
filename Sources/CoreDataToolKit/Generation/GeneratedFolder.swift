import Foundation

/// A folder for generated sources. Other files in it are not changed.
struct GeneratedFolder {
    enum Outcome: String {
        case written, unchanged
    }

    private let url: URL

    init(path: String) {
        url = URL(fileURLWithPath: path, isDirectory: true)
    }

    /// Writes the files that differ from the existing ones.
    ///
    /// - Throws: `ToolError`, before anything is written, if the command did not generate an
    ///   existing file; also when the folder cannot be written to.
    func write(_ files: [EntitySources.File]) throws -> [Outcome] {
        let present = files.map { try? Data(contentsOf: url.appendingPathComponent($0.name)) }
        for (file, data) in zip(files, present) where FileManager.default.fileExists(atPath: path(of: file)) {
            guard let data, data.starts(with: EntitySources.mark.utf8) else {
                throw ToolError(
                    "'\(path(of: file))' was not made by this command and is not overwritten. Move it, or choose "
                        + "another --output."
                )
            }
        }
        do {
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
            return try zip(files, present).map { file, data in
                let text = Data(file.text.utf8)
                if data == text { return .unchanged }
                try text.write(to: url.appendingPathComponent(file.name), options: .atomic)
                return .written
            }
        } catch {
            throw ToolError(
                "The folder '\(url.path)' cannot be written to: \(ErrorText.line(error)) Choose another --output.")
        }
    }

    /// Returns files of the same model in the folder whose entities no longer exist.
    func leftOver(besides files: [String], firstLine: String) -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []
        let current = Set(files)
        return names.sorted().filter { name in
            guard name.hasSuffix(".swift"), !current.contains(name),
                let data = try? Data(contentsOf: url.appendingPathComponent(name))
            else { return false }
            return data.starts(with: firstLine.utf8)
        }
    }

    private func path(of file: EntitySources.File) -> String { url.appendingPathComponent(file.name).path }
}
