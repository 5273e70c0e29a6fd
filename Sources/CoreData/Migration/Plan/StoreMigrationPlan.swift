import Foundation

/// The steps by which adding a store would migrate it, without doing so.
///
/// ```swift
/// if let plan = try coordinator.migrationPlan(for: description) {
///     print(plan)             // every step, why, and what happens to each entity
/// }
/// ```
public struct StoreMigrationPlan: Sendable {
    /// A version of a model.
    public struct Version: Sendable, Hashable {
        /// The name of its file; else its version identifiers, or the checksum.
        public let name: String
        /// `NSManagedObjectModel.versionChecksum`.
        public let checksum: String
    }

    /// The effect of a step on the objects of an entity.
    public enum EntityAction: Sendable, Hashable {
        /// The entity is new.
        case added
        /// The entity is the same in both versions.
        case unchanged
        /// The database copies the rows to the new columns.
        case copiedBySQL
        /// Each object is read and made anew, by the policy class of that name, if any.
        case movedByObjects(policy: String?)
        /// The objects are deleted.
        case removed
    }

    /// An entity in a step.
    public struct EntityChange: Sendable, Hashable {
        /// The name before the step; nil if the entity is new.
        public let source: String?
        /// The name after the step; nil if the entity is removed.
        public let destination: String?
        public let action: EntityAction
    }

    /// How the mapping of a step is found.
    public enum Mapping: Sendable, Hashable {
        case inferred
        case mappingModel
    }

    /// A migration between two versions.
    public struct Step: Sendable, Hashable {
        public let source: Version
        public let destination: Version
        public let mapping: Mapping
        /// Whether the step is a custom stage, whose handlers run before and after it.
        public let isCustomStage: Bool
        /// The label of the custom stage.
        public let stageLabel: String?
        /// The entities, sorted by name.
        public let entities: [EntityChange]
    }

    /// The steps in their order.
    public let steps: [Step]

    /// Why the store is not migrated in one step; empty if it is, or if stages say the steps.
    public let detourReasons: [String]

    /// Whether the store is migrated in a copy, which then takes its place.
    public let usesCopy: Bool

    /// The number of objects of each entity of the store's version, without those of subentities.
    public let objectCounts: [String: Int]

    /// The bytes that should be free on the disk of the store; nil for a store without a file.
    ///
    /// It is an estimate on the safe side: copies of the store, and a journal of its size.
    public let requiredBytes: Int?

    /// A rough estimate of the time, from the number of objects and the size of the store.
    ///
    /// The time of handlers and policies of the program is not known.
    public let estimatedSeconds: Double
}

extension StoreMigrationPlan: CustomStringConvertible {
    /// The plan as lines of text.
    public var description: String {
        let names = [steps.first?.source.name ?? ""] + steps.map(\.destination.name)
        var lines = ["\(names.joined(separator: " → ")): \(steps.count == 1 ? "1 step" : "\(steps.count) steps")"]
        if !detourReasons.isEmpty { lines.append("  not in one step, because:") }
        lines += detourReasons.map { "    " + $0 }
        for (number, step) in steps.enumerated() {
            let stage = step.isCustomStage ? ", custom stage" + (step.stageLabel.map { " '\($0)'" } ?? "") : ""
            let mapping = step.mapping == .inferred ? "inferred" : "by a mapping model"
            lines.append("\(number + 1). \(step.source.name) → \(step.destination.name), \(mapping)\(stage)")
            lines += step.entities.map { "    " + text($0, isFirst: number == 0) }
        }
        let seconds = estimatedSeconds < 1 ? "less than a second" : "about \(Int(estimatedSeconds.rounded(.up))) s"
        let space = requiredBytes.map { "; needs \(($0 + 999_999) / 1_000_000) MB of free space" } ?? ""
        lines.append((usesCopy ? "in a copy of the store" : "in place") + ", \(seconds)\(space)")
        return lines.joined(separator: "\n")
    }

    private func text(_ change: EntityChange, isFirst: Bool) -> String {
        let count = isFirst ? change.source.flatMap { objectCounts[$0] } : nil
        return change.description + (count.map { ", \($0) \($0 == 1 ? "object" : "objects")" } ?? "")
    }
}

extension StoreMigrationPlan.EntityChange: CustomStringConvertible {
    /// The names of the entity and what happens to its objects, as a line of text.
    public var description: String {
        let names = [source, destination].compactMap { $0 }
        let name = Set(names).count == 1 ? names[0] : names.joined(separator: " → ")
        let text =
            switch action {
            case .added: "new"
            case .unchanged: "unchanged"
            case .copiedBySQL: "copied by SQL"
            case .movedByObjects(let policy): "moved by objects" + (policy.map { " with the policy \($0)" } ?? "")
            case .removed: "removed"
            }
        return "\(name): \(text)"
    }
}
