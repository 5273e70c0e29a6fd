import Foundation

/// A version of a model, with its version hashes.
struct ModelVersion {
    let model: NSManagedObjectModel
    /// Kept, because a model that is not in use hashes its entities at each call.
    let hashes: [String: Data]

    init(_ model: NSManagedObjectModel) {
        self.model = model
        hashes = model.entityVersionHashesByName
    }

    var checksum: String { VersionHash.checksum(ofEntityHashes: hashes) }

    /// Returns the configuration of the model whose entities a store holds; nil for all.
    func configuration(holding hashes: [String: Data]) -> String? {
        func fits(_ name: String?) -> Bool {
            model.heldEntities(forConfigurationName: name)?.versions.fit(hashes) == true
        }
        return fits(nil) ? nil : model.configurations.sorted().first(where: fits)
    }

    /// The name of the version's file; else the version identifiers, or the checksum.
    ///
    /// Cost: the versions of a bundle are read until the one with these hashes is found.
    var name: String {
        if let file = model.fileURL.flatMap(file(in:)) { return file.deletingPathExtension().lastPathComponent }
        let identifiers = model.versionIdentifiers.map { "\($0)" }.filter { !$0.isEmpty }.sorted()
        return identifiers.isEmpty ? checksum : identifiers.joined(separator: ", ")
    }

    private func file(in url: URL) -> URL? {
        guard ModelFile.isBundle(url) else { return url }
        let current = try? ModelFile.version(of: url)
        let others = ((try? ModelFile.versions(of: url)) ?? [:]).values.sorted { $0.path < $1.path }
        return ([current].compactMap { $0 } + others).first {
            (try? ModelFile.model(at: $0))?.entityVersionHashesByName == hashes
        }
    }
}
