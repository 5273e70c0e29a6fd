import Foundation

/// Finds names that a file uses although they are declared in a higher layer only.
struct LayerCheck {
    /// A use of something that the file's layer must not know.
    struct Violation: Hashable, CustomStringConvertible {
        let file: String
        let line: Int
        let name: String
        let layer: String
        let declaredIn: String
        let upperLayer: String

        var description: String {
            "\(file):\(line): '\(name)' is of the layer \(upperLayer) (\(declaredIn)), which the layer \(layer) must not know"
        }
    }

    /// Folders by layer, from the ground up. A folder belongs to the layer of the longest path that it starts with.
    let layers: [(name: String, folders: [String])]
    /// Names that a file may use all the same.
    let exceptions: [String: Set<String>]

    /// The place of the layer that a file belongs to; nil for a file that no layer claims.
    func layer(of file: String) -> Int? {
        var best: (layer: Int, length: Int)?
        for (number, layer) in layers.enumerated() {
            for folder in layer.folders where file.hasPrefix(folder + "/") && folder.count > best?.length ?? -1 {
                best = (number, folder.count)
            }
        }
        return best?.layer
    }

    /// - Parameter sources: texts by path, relative to the folder that the layers' folders are in.
    func violations(in sources: [String: String]) -> [Violation] {
        let names = sources.mapValues(SourceNames.init(source:))
        // Values of a type are had from what names it; so types are looked at, and what extensions add to types from below.
        let types = places(names, \.declared)
        let allMembers = places(names, \.declaredMembers)
        let added = places(names) { content in
            Set(content.extensionMembers.values.joined())
        }
        var result: [Violation] = []
        for (file, content) in names {
            guard let own = layer(of: file) else { continue }
            let allowed = exceptions[file] ?? []
            func report(_ use: SourceNames.Use, _ place: Place) {
                if allowed.contains(use.name) { return }
                result.append(
                    Violation(
                        file: file, line: use.line, name: use.name, layer: layers[own].name, declaredIn: place.file,
                        upperLayer: layers[place.layer].name))
            }
            for use in content.used.union(content.usedMembers) where !content.ownTypes.contains(use.name) {
                if let place = types[use.name]?.first, place.layer > own, allMembers[use.name]?.first.map({ $0.layer > own }) ?? true {
                    report(use, place)
                }
            }
            // A member stands alone within its type.
            let members = content.usedMembers.union(content.used.filter { !content.ownValues.contains($0.name) })
            for use in members {
                guard let place = added[use.name]?.first, place.layer > own, allMembers[use.name]?.first?.layer == place.layer,
                    types[use.name] == nil,
                    names[place.file]?.extensionMembers.contains(where: { type, members in
                        members.contains(use.name) && types[type]?.first.map { $0.layer <= own } ?? true
                    }) == true
                else { continue }
                report(use, place)
            }
        }
        return result.sorted { ($0.file, $0.line, $0.name) < ($1.file, $1.line, $1.name) }
    }

    private typealias Place = (layer: Int, file: String)

    /// Where names are declared, lowest layer first.
    private func places(_ names: [String: SourceNames], _ declared: (SourceNames) -> Set<String>) -> [String: [Place]] {
        var places: [String: [Place]] = [:]
        for (file, content) in names {
            guard let layer = layer(of: file) else { continue }
            for name in declared(content) { places[name, default: []].append((layer, file)) }
        }
        return places.mapValues { $0.sorted { ($0.layer, $0.file) < ($1.layer, $1.file) } }
    }
}
