import Foundation
import Testing

/// Finds names that a file uses although they are declared in a higher layer only: types,
/// functions, members of extensions, and members with a name of two words or more that only one
/// file of the module declares.
struct LayerCheck: CustomTestStringConvertible {
    /// A use of something that the file's layer must not know.
    struct Violation: Hashable, CustomStringConvertible {
        let file: String
        let line: Int
        let name: String
        let layer: String
        let declaredIn: String
        let upperLayer: String

        var description: String {
            "\(file):\(line): '\(name)' is of the layer \(upperLayer) (\(declaredIn)), which the layer \(layer) must "
                + "not know"
        }
    }

    /// The folder that the layers' folders are in.
    var root = ""
    /// Folders by layer, from the ground up. A folder belongs to the layer of the longest path that
    /// it starts with; an empty path stands for the files that lie in no folder.
    let layers: [(name: String, folders: [String])]
    /// Names that a file may use all the same.
    var exceptions: [String: Set<String>] = [:]
    /// Names of members that types of other modules have, too: which of them is meant a source does
    /// not tell.
    var foreignMembers: Set<String> = []
    /// Folders of one layer that use each other, as their types are mutual by nature.
    var mutualFolders: [Set<String>] = []

    var testDescription: String { root }

    /// Where the sources are.
    var folder: URL { LayerTable.package.appendingPathComponent(root) }

    /// The number of the layer that a file belongs to, and the folder of the table that it lies in,
    /// which is the longest path that it starts with; nil for a file that no layer claims.
    func place(of file: String) -> (layer: Int, folder: String)? {
        layers.enumerated().flatMap { number, layer in layer.folders.map { (layer: number, folder: $0) } }
            .filter { $0.folder.isEmpty ? !file.contains("/") : file.hasPrefix($0.folder + "/") }.max {
                $0.folder.count < $1.folder.count
            }
    }

    private func layer(of file: String) -> Int? { place(of: file)?.layer }

    /// - Parameter names: the names in sources by path, relative to the folder that the layers'
    ///   folders are in.
    func violations(in names: [String: SourceNames]) -> [Violation] {
        // Values of a type are had from what names it; so types are looked at, and what extensions
        // add to types from below.
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
                if let place = types[use.name]?.first, place.layer > own,
                    allMembers[use.name]?.first.map({ $0.layer > own }) ?? true
                {
                    report(use, place)
                }
            }
            // A member stands alone within its type.
            let members = content.usedMembers.union(content.used.filter { !content.ownValues.contains($0.name) })
            for use in members where !foreignMembers.contains(use.name) {
                // A name of two words that one file declares means that member, whatever its type.
                if let places = allMembers[use.name], places.count == 1, places[0].layer > own, types[use.name] == nil,
                    use.name.first?.isLowercase == true, use.name.contains(where: \.isUppercase),
                    !content.ownValues.contains(use.name)
                {
                    report(use, places[0])
                    continue
                }
                guard let place = added[use.name]?.first, place.layer > own,
                    allMembers[use.name]?.first?.layer == place.layer,
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

    // MARK: Circles

    /// The types and functions of other files that each file names, by file, without the listed
    /// exceptions. Where several files declare a name, it is not known which is meant.
    private func uses(in names: [String: SourceNames]) -> [String: Set<String>] {
        var places: [String: Set<String>] = [:]
        for (file, content) in names {
            for name in content.declared { places[name, default: []].insert(file) }
        }
        let members = names.values.reduce(into: Set<String>()) { $0.formUnion($1.declaredMembers) }
        var uses: [String: Set<String>] = [:]
        for (file, content) in names {
            let others = content.used.union(content.usedMembers).map(\.name).filter { name in
                !content.ownTypes.contains(name) && !members.contains(name) && exceptions[file]?.contains(name) != true
            }
            for name in others where places[name]?.count == 1 { uses[file, default: []].formUnion(places[name] ?? []) }
            uses[file]?.remove(file)
        }
        return uses
    }

    /// Files that use each other, directly or by way of others; the largest circle first.
    func circlesOfFiles(in names: [String: SourceNames]) -> [Set<String>] { Circles(uses(in: names)).found }

    /// Folders of the table that use each other.
    func circlesOfFolders(in names: [String: SourceNames]) -> [Set<String>] {
        var folders: [String: Set<String>] = [:]
        for (file, others) in uses(in: names) {
            guard let own = place(of: file)?.folder else { continue }
            folders[own, default: []].formUnion(others.compactMap { place(of: $0)?.folder }.filter { $0 != own })
        }
        return Circles(folders).found
    }

    private typealias Place = (layer: Int, file: String)

    /// The files that declare each name, lowest layer first.
    private func places(_ names: [String: SourceNames], _ declared: (SourceNames) -> Set<String>) -> [String: [Place]] {
        var places: [String: [Place]] = [:]
        for (file, content) in names {
            guard let layer = layer(of: file) else { continue }
            for name in declared(content) { places[name, default: []].append((layer, file)) }
        }
        return places.mapValues { $0.sorted { ($0.layer, $0.file) < ($1.layer, $1.file) } }
    }
}
