import Foundation

/// What a store held when it was opened, to be compared with what it holds later: another program may have migrated it meanwhile.
package struct StoreContents: Sendable {
    /// The versions of the entities; nil where they do not matter.
    private let versions: HeldVersions?
    private let entityNumbers: [String: Int]

    package init(versions: HeldVersions?, mapping: SQLMapping) {
        self.versions = versions
        let numbers = mapping.entities.compactMap { entity in entity.map { ($0.layout.name, $0.number) } }
        entityNumbers = Dictionary(numbers, uniquingKeysWith: { first, _ in first })
    }

    /// What has happened to a store whose rows are others now; nil where they are the same.
    ///
    /// - Parameter numbers: the numbers of entities that the store has, by name.
    package func change(_ metadata: [String: Any], numbers: [String: Int]) -> String? {
        if let versions, let hashes = StoreMetadataHashes.hashes(in: metadata), !versions.fit(hashes) {
            return "was brought to another version of the model"
        }
        let isNumberedOtherwise = numbers.contains { name, number in entityNumbers[name].map { $0 != number } ?? false }
        return isNumberedOtherwise ? "was given other numbers of entities" : nil
    }

    /// - Parameters:
    ///   - store: names the store, with its article.
    ///   - change: what has happened to it.
    package static func refusal(_ store: String, _ change: String, userInfo: [String: Any]) -> NSError {
        CoreDataErrors.make(
            .persistentStoreIncompatibleVersionHash,
            "\(store) \(change) by somebody else while it was open here: it is neither read nor written any more.",
            recovery: "Remove it from the coordinator. Add it again with the version of the model that it has now.", userInfo: userInfo)
    }
}
