import CoreData

/// The effects of a context's save on the rows, compared with what its merge policy promises.
struct ContestOutcome {
    /// The changes of a context to one row.
    struct Intention {
        var committed: [String: String]
        var changes: [String: String] = [:]
        /// Relationships to many that gain or lose something.
        var changesMembers = false
        var isDeletion = false

        /// The intention with other names for destinations that have got their keys since.
        func renaming(_ names: [String: String]) -> Intention {
            var renamed = self
            renamed.changes = changes.mapValues { value in names["\(value.dropFirst())"].map { "→" + $0 } ?? value }
            return renamed
        }
    }

    /// The changes by others between the attempts of one save.
    struct Interruption {
        var happened = false
        var states: [ContestRows.State] = []
    }

    let policy: NSMergePolicyType
    let intentions: [String: Intention]
    /// The rows that were to be inserted.
    let new: Set<String>
    /// The store's content when the last attempt began, and its content now.
    let before: ContestRows.State
    let after: ContestRows.State
    let interruption: Interruption

    static func intentions(of context: NSManagedObjectContext) -> [String: Intention] {
        var intentions: [String: Intention] = [:]
        for object in context.updatedObjects {
            let names = ContestRows.names(object)
            let changed = object.changedValues()
            intentions[ContestRows.name(object)] = Intention(
                committed: object.committedValues(forKeys: names).mapValues(ContestRows.text),
                changes: changed.filter { names.contains($0.key) }.mapValues(ContestRows.text),
                changesMembers: changed.keys.contains { object.entity.relationshipsByName[$0]?.isToMany == true })
        }
        for object in context.deletedObjects where object.managedObjectContext != nil && !object.isFault {
            let committed = object.committedValues(forKeys: ContestRows.names(object)).mapValues(ContestRows.text)
            // The deletion of a row that others have deleted, as this context was told, has nothing
            // left to do.
            if committed.values.allSatisfy({ $0 == "nil" }) { continue }
            intentions[ContestRows.name(object)] = Intention(committed: committed, isDeletion: true)
        }
        return intentions
    }

    private var objectsWin: Bool {
        policy == .mergeByPropertyObjectTrumpMergePolicyType || policy == .overwriteMergePolicyType
    }

    /// The first thing that is not as it should be.
    var problem: String? {
        for name in new.sorted() where after[name] == nil { return "the new object \(name) has no row" }
        for name in Set(after.keys).union(before.keys).sorted() where intentions[name] == nil && !new.contains(name) {
            if let problem = changeOfOthers(before[name], after[name]) {
                return "policy \(policy.rawValue), \(name), which was not changed: \(problem). "
                    + "It was \(text(before[name])), is \(text(after[name]))"
            }
        }
        for (name, intention) in intentions.sorted(by: { $0.key < $1.key }) {
            if let difference = difference(name, intention) {
                return
                    "policy \(policy.rawValue)\(interruption.happened ? ", interrupted" : ""), \(name): "
                    + "\(difference). It was "
                    + "\(text(before[name])), is \(text(after[name])), committed \(text(intention.committed)), "
                    + "changed \(text(intention.changes))"
            }
        }
        for (name, row) in after {
            for (key, value) in row where leads(value) && after[String(value.dropFirst())] == nil {
                return
                    "policy \(policy.rawValue)\(interruption.happened ? ", interrupted" : ""): \(name).\(key) leads "
                    + "to \(value), which "
                    + "has no row. Was \(text(before[name])); new \(new.sorted()), wanted \(intentions)"
            }
        }
        return nil
    }

    private func text(_ row: [String: String]?) -> String {
        row.map { $0.sorted { $0.key < $1.key }.map { "\($0) \($1)" }.joined(separator: ", ") } ?? "no row"
    }

    private func leads(_ value: String) -> Bool { value.hasPrefix("→") }

    /// The forbidden change to a row that the context did not touch; allowed is only that
    /// references to deleted rows end.
    private func changeOfOthers(_ before: [String: String]?, _ after: [String: String]?) -> String? {
        guard let before else { return after == nil ? nil : "it came back" }
        guard let after else { return "it is gone" }
        for (key, value) in after where value != before[key] {
            let isNullified =
                value == "nil" && leads(before[key] ?? "") && self.after[String(before[key]?.dropFirst() ?? "")] == nil
            if !isNullified { return "\(key) is \(value)" }
        }
        return nil
    }

    /// Changes that are more than the end of relationships to what is gone.
    private func realChanges(_ intention: Intention) -> [String: String] {
        intention.changes.filter { key, value in
            let former = intention.committed[key] ?? ""
            return !(value == "nil" && leads(former) && after[String(former.dropFirst())] == nil)
        }
    }

    /// The intention without the ends of relationships to what was to be deleted, but was not.
    private func withoutLostDeletions(_ intention: Intention) -> Intention {
        var rest = intention
        rest.changes = intention.changes.filter { key, value in
            let former = String((intention.committed[key] ?? "").dropFirst())
            return value != "nil" || intentions[former]?.isDeletion != true || after[former] == nil
        }
        return rest
    }

    /// How the outcome for one row differs from what the policy promises; nil when it does not.
    private func difference(_ name: String, _ intention: Intention) -> String? {
        let intention = withoutLostDeletions(intention)
        let (before, after) = (before[name], after[name])
        if intention.isDeletion {
            if objectsWin || before == nil || policy == .errorMergePolicyType {
                // What others deleted first and then made again is not what was to be deleted.
                if interruption.states.contains(where: { $0[name] == nil }) {
                    return after == nil || after == before ? nil : "a deletion changed it"
                }
                return after == nil ? nil : "it was not deleted"
            }
            // Others' changes undo the deletion.
            return after == nil || changeOfOthers(before, after) == nil ? nil : "a deletion changed it"
        }
        guard let before else {
            if !objectsWin { return after == nil ? nil : "it came back" }
            let changes = realChanges(intention)
            guard let after else { return changes.isEmpty ? nil : "it was not recreated" }
            if changes.isEmpty, !intention.changesMembers { return "it came back, though nothing in it was changed" }
            // What others wrote before they deleted it was merged first.
            return mismatch(
                interruption.happened ? changes : intention.committed.merging(intention.changes) { $1 }, after)
        }
        guard let after else { return "it is gone" }
        switch policy {
        case .mergeByPropertyObjectTrumpMergePolicyType, .errorMergePolicyType:
            return mismatch(before.merging(realChanges(intention)) { $1 }, after)
        case .overwriteMergePolicyType:
            if intention.changes.isEmpty, !intention.changesMembers { return changeOfOthers(before, after) }
            let whole = mismatch(intention.committed.merging(intention.changes) { $1 }, after)
            if whole == nil { return nil }
            // Changes that others made too, or that end relationships to what is gone, are none.
            return realChanges(intention).allSatisfy { before[$0.key] == $0.value }
                ? changeOfOthers(before, after) : whole
        case .mergeByPropertyStoreTrumpMergePolicyType:
            if interruption.happened { return between(before, intention, after) }
            var expected = before.merging(intention.changes) { $1 }
            for (key, value) in before where value != intention.committed[key] { expected[key] = value }
            return mismatch(expected, after)
        default:
            if interruption.happened { return between(before, intention, after) }
            if before == intention.committed, mismatch(before.merging(intention.changes) { $1 }, after) == nil {
                return nil
            }
            return mismatch(before, after)
        }
    }

    /// Each property is the store's or the object's: who came when is not told apart.
    private func between(_ before: [String: String], _ intention: Intention, _ after: [String: String]) -> String? {
        for (key, value) in after where value != before[key] && value != intention.changes[key] && value != "nil" {
            return "\(key) is \(value)"
        }
        return nil
    }

    private func mismatch(_ expected: [String: String], _ after: [String: String]) -> String? {
        for (key, value) in expected where after[key] != value {
            // A destination that is gone is nil.
            if leads(value), self.after[String(value.dropFirst())] == nil || interruption.happened, after[key] == "nil"
            {
                continue
            }
            return "\(key) is \(after[key] ?? "?"), not \(value)"
        }
        return nil
    }
}
