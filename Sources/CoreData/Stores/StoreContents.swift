import Foundation

/// The model version and entity numbers of a store when it was opened.
///
/// A later comparison shows whether another program has migrated the store meanwhile.
package struct StoreContents: Sendable {
    /// The versions of the entities; nil where they do not matter.
    private let versions: HeldVersions?
    private let entityNumbers: [String: Int]

    package init(versions: HeldVersions?, mapping: SQLMapping) {
        self.versions = versions
        let numbers = mapping.entities.compactMap { entity in entity.map { ($0.layout.name, $0.number) } }
        entityNumbers = Dictionary(numbers, uniquingKeysWith: { first, _ in first })
    }

    /// Returns the error for a store whose rows have a different meaning now; nil if they have not.
    ///
    /// - Parameters:
    ///   - store: the name of the store, with its article.
    ///   - numbers: the numbers of the entities in the store, by name.
    package func refusal(
        of store: String, _ metadata: [String: Any], numbers: [String: Int], userInfo: [String: Any]
    ) -> NSError? {
        guard let change = change(metadata, numbers: numbers) else { return nil }
        return CoreDataErrors.make(
            .persistentStoreIncompatibleVersionHash,
            "\(store) \(change) by somebody else while it was open here: it is neither read nor written any more.",
            recovery: "Remove it from the coordinator. Add it again with the version of the model that it has now.",
            userInfo: userInfo.merging(["metadata": metadata]) { $1 })
    }

    /// Describes the change of the store; nil if nothing changed.
    private func change(_ metadata: [String: Any], numbers: [String: Int]) -> String? {
        if let versions, let hashes = StoreMetadataHashes.hashes(in: metadata), !versions.fit(hashes) {
            return "was brought to another version of the model"
        }
        let isNumberedOtherwise = numbers.contains { name, number in entityNumbers[name].map { $0 != number } ?? false }
        return isNumberedOtherwise ? "was given other numbers of entities" : nil
    }
}
