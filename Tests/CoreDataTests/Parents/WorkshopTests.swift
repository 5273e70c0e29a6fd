import CoreData
import TestSupport
import Testing

/// Contexts with every kind of property: the same changes in two places, or undone and done again,
/// must show the same.
struct WorkshopTests {
    private static let seeds = 1...(LongTests.areEnabled ? 300 : 3)

    /// Notices where a context shows something else.
    private func expect(_ shown: [String], _ expected: [String], _ place: String) throws {
        let missing = expected.filter { !shown.contains($0) }.sorted()
        let added = shown.filter { !expected.contains($0) }.sorted()
        try #require(
            shown == expected,
            """
            \(place):
            \(added.prefix(3).joined(separator: "\n"))
            where there should be
            \(missing.prefix(3).joined(separator: "\n"))
            """
        )
    }

    /// Changes made in levels of a tree and saved upward, beside the same changes in one context.
    @Test(arguments: StoreKind.allCases, seeds)
    func levelsShowWhatOneContextShows(kind: StoreKind, seed: Int) throws {
        let folder = try TemporaryFolder()
        let (tree, plain) = (
            try Workshop.coordinator(kind, folder, "tree"), try Workshop.coordinator(kind, folder, "plain")
        )
        let (root, single) = (tree.newContext(), plain.newContext())
        var levels = [root]
        for _ in 0..<2 { levels.append(levels[levels.count - 1].newChild()) }
        var random = SeededGenerator(seed: UInt64(seed))
        var steps: [String] = []
        for round in 0..<25 {
            let changes = Workshop(seed: random.next(), firstNumber: round * 100)
            let count = Int.random(in: 1...6, using: &random)
            let level = Int.random(in: 0..<levels.count, using: &random)
            let expected = try single.performAndWait {
                var changes = changes
                for _ in 0..<count { try changes.change(single) }
                single.processPendingChanges()
                return try Workshop.state(single)
            }
            let context = levels[level]
            try context.performAndWait {
                var changes = changes
                for _ in 0..<count { steps.append("level \(level): " + (try changes.change(context))) }
                context.processPendingChanges()
                try expect(Workshop.state(context), expected, "level \(level), round \(round)")
            }
            // Up to the root or to the stores; what is below reads anew.
            let top = Int.random(in: -1...level, using: &random)
            for upper in stride(from: level, to: top, by: -1) {
                let context = levels[upper]
                try context.performAndWait {
                    steps.append("save \(upper)")
                    do { try context.save() } catch {
                        let conflicts = (error as NSError).userInfo["conflictList"] as? [NSMergeConflict] ?? []
                        let states = conflicts.map {
                            "\($0.objectSnapshot ?? [:]), there \($0.persistedSnapshot ?? [:])"
                        }
                        Issue.record("\(error) \(states) after \(steps.suffix(40))")
                        throw error
                    }
                    if Bool.random(using: &random) { context.refreshAllObjects() }
                }
            }
            let isSaved = top < 0
            // Only the unsaved level and those below it, which read through it, see everything.
            for (index, lower) in levels.enumerated().dropFirst(max(top, 0)) {
                let isBelow = index > top && lower !== context
                lower.performAndWait { if isBelow { lower.reset() } }
                try expect(lower.performAndWait { try Workshop.state(lower) }, expected, "round \(round)")
            }
            if top > 0 {
                // The next changes are made where these are seen.
                for upper in stride(from: top, to: 0, by: -1) {
                    try levels[upper].performAndWait { try levels[upper].save() }
                }
            }
            if isSaved {
                try single.performAndWait { try single.save() }
                let fresh = tree.newContext()
                try expect(fresh.performAndWait { try Workshop.state(fresh) }, expected, "round \(round), the store")
                let other = plain.newContext()
                try expect(
                    other.performAndWait { try Workshop.state(other) }, expected, "round \(round), the other store")
            }
        }
        withExtendedLifetime((root, single, levels)) {}
    }

    /// Groups of changes, undone and done again in any order, with saves between them.
    @Test(arguments: StoreKind.allCases, seeds)
    func undoingAndRedoingGoesBackAndForth(kind: StoreKind, seed: Int) throws {
        let folder = try TemporaryFolder()
        let coordinator = try Workshop.coordinator(kind, folder, "undone")
        let parent = coordinator.newContext()
        let isChild = seed % 3 == 0
        let context = isChild ? NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType) : parent
        if isChild { context.parent = parent }
        let manager = UndoManager()
        manager.groupsByEvent = false
        context.undoManager = manager
        var random = SeededGenerator(seed: UInt64(seed))
        var changes = Workshop(seed: random.next())
        /// The views before each group that can be undone, and after each that can be redone.
        var (former, later): ([[String]], [[String]]) = ([], [])
        var steps: [String] = []
        try context.performAndWait {
            var present = try Workshop.state(context)
            for step in 0..<60 {
                switch Int.random(in: 0..<6, using: &random) {
                case 0, 1:
                    manager.beginUndoGrouping()
                    // No group is without a change: whether such a one is there to be undone is
                    // nobody's business here.
                    changes.mark(try Workshop.parts(context), step)
                    for _ in 0..<Int.random(in: 1...5, using: &random) {
                        let change = try changes.change(context)
                        steps.append(change)
                        if Bool.random(using: &random) { context.processPendingChanges() }
                    }
                    context.processPendingChanges()
                    manager.endUndoGrouping()
                    steps.append("end of group")
                    former.append(present)
                    later = []
                    present = try Workshop.state(context)
                case 2:
                    guard let state = former.popLast() else { continue }
                    later.append(present)
                    manager.undo()
                    steps.append("undo")
                    present = state
                case 3:
                    guard let state = later.popLast() else { continue }
                    former.append(present)
                    manager.redo()
                    steps.append("redo")
                    present = state
                case 4:
                    do { try context.save() } catch {
                        Issue.record("\(error) after \(steps)")
                        throw error
                    }
                    steps.append("save")
                    if isChild { try parent.performAndWait { try parent.save() } }
                    let fresh = coordinator.newContext()
                    let stored = try fresh.performAndWait { try Workshop.state(fresh) }
                    try expect(stored, present, "step \(step), the store, after \(steps)")
                default: break
                }
                try expect(Workshop.state(context), present, "step \(step) after \(steps)")
            }
        }
        withExtendedLifetime(parent) {}
    }
}
