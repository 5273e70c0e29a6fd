import Foundation

/// The picture of the engine's layers in Design.md: from the ground up, with their folders.
enum LayerPicture {
    static let start = "<!-- layers -->"
    static let end = "<!-- /layers -->"

    static func text(of module: LayerCheck) -> String {
        let width = module.layers.map(\.name.count).max() ?? 0
        let lines = module.layers.map { name, folders in
            name.padding(toLength: width + 2, withPad: " ", startingAt: 0)
                + folders.filter { !$0.isEmpty }.joined(separator: ", ")
        }
        return (["```"] + lines + ["```"]).joined(separator: "\n")
    }
}
