import Foundation

/// The picture of the layers in Design.md: for each module its layers from the ground up, with their folders.
enum LayerPicture {
    static let start = "<!-- layers -->"
    static let end = "<!-- /layers -->"

    static func text(of modules: [LayerCheck]) -> String {
        (["```"] + modules.map(text) + ["```"]).joined(separator: "\n")
    }

    private static func text(of module: LayerCheck) -> String {
        let width = module.layers.map(\.name.count).max() ?? 0
        let lines = module.layers.map { name, folders in
            let name = name.padding(toLength: width, withPad: " ", startingAt: 0)
            let indentation = String(repeating: " ", count: width + 6)
            return "    \(name)  " + rows(folders.filter { !$0.isEmpty }).joined(separator: "\n" + indentation)
        }
        return ([module.root] + lines.map(trimmed)).joined(separator: "\n")
    }

    private static func trimmed(_ line: String) -> String {
        String(line.reversed().drop(while: { $0 == " " }).reversed())
    }

    /// The folders in lines that fit into a page of 100 columns.
    private static func rows(_ folders: [String]) -> [String] {
        var rows = [""]
        for folder in folders {
            let last = rows[rows.count - 1]
            if last.isEmpty {
                rows[rows.count - 1] = folder
            } else if last.count + folder.count < 65 {
                rows[rows.count - 1] = "\(last), \(folder)"
            } else {
                rows[rows.count - 1] = last + ","
                rows.append(folder)
            }
        }
        return rows
    }
}
