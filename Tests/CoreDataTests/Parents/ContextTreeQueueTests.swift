import CoreData
import Foundation
import Synchronization
import TestSupport
import Testing

/// A tree of contexts whose blocks wait for each other.
struct ContextTreeQueueTests {
    /// Contexts by their place in a tree, and what was done in them.
    final class Tree: @unchecked Sendable {
        // Sendable: each counter is used in blocks of its context only.
        let library: Library
        let contexts: [NSManagedObjectContext]
        let counters: [Count]
        let expected: Mutex<[Int]>
        /// Whether a thread uses a context.
        private let users: [Flag]
        private let usage: [Count]
        let collisions = Mutex(0)

        /// A number that nothing but its context's queue guards. An array of numbers would be one
        /// value for all queues.
        final class Count {
            var value = 0
        }

        final class Flag: Sendable {
            private let value = Atomic(false)

            func exchange(_ new: Bool) -> Bool { value.exchange(new, ordering: .relaxed) }
        }

        /// - Parameter mainIndex: the place of a context of the main queue.
        init(_ parents: [Int?], main mainIndex: Int? = nil) throws {
            library = try Library(.inMemory)
            var contexts: [NSManagedObjectContext] = []
            for (index, parent) in parents.enumerated() {
                let context = NSManagedObjectContext(index == mainIndex ? .mainQueue : .privateQueue)
                context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
                if let parent {
                    context.parent = contexts[parent]
                } else {
                    context.persistentStoreCoordinator = library.coordinator
                }
                contexts.append(context)
            }
            self.contexts = contexts
            counters = parents.map { _ in Count() }
            usage = parents.map { _ in Count() }
            users = parents.map { _ in Flag() }
            expected = Mutex(parents.map { _ in 0 })
        }

        /// Something in a context, within which there may be something in another one, wherever
        /// that is in the tree.
        ///
        /// - Parameter outer: the contexts whose blocks it is in.
        func work(_ random: inout SeededGenerator, depth: Int, in outer: Set<Int> = []) {
            let index = Int.random(in: contexts.indices, using: &random)
            let context = contexts[index]
            let kind = Int.random(in: 0..<6, using: &random)
            expected.withLock { $0[index] += 1 }
            var inner = random
            random = SeededGenerator(seed: random.next())
            context.performAndWait {
                let own = outer.union([index])
                useAlone(own)
                counters[index].value += 1
                switch kind {
                case 0: _ = try? context.names()
                case 1: context.author("Ada")
                case 2: try? context.save()
                case 3: context.refreshAllObjects()
                case 4:
                    // While the block waits for a parent others may delete what it has fetched.
                    for author in (try? context.authors()) ?? [] where author.managedObjectContext === context {
                        context.delete(author)
                    }
                default: break
                }
                useAlone(own)
                if depth > 0 { work(&inner, depth: depth - 1, in: own) }
                useAlone(own)
            }
        }

        /// Notices whether another thread, too, is in blocks of contexts without waiting.
        private func useAlone(_ indices: Set<Int>) {
            for index in indices where users[index].exchange(true) { collisions.withLock { $0 += 1 } }
            for _ in 0..<20 { for index in indices { usage[index].value &+= 1 } }
            for index in indices { _ = users[index].exchange(false) }
        }

        /// The same without waiting for it.
        func enqueue(_ random: inout SeededGenerator, _ group: DispatchGroup) {
            let index = Int.random(in: contexts.indices, using: &random)
            let context = contexts[index]
            let seed = random.next()
            expected.withLock { $0[index] += 1 }
            group.enter()
            context.perform { [self] in
                counters[index].value += 1
                var random = SeededGenerator(seed: seed)
                work(&random, depth: 1)
                group.leave()
            }
        }
    }

    @Test(arguments: 0..<3)
    func blocksThatWaitForEachOtherAllEnd(seed: Int) throws {
        let tree = try Tree([nil, 0, 0, 1, 1, 2])
        let group = DispatchGroup()
        let count = LongTests.areEnabled ? 15_000 : 150
        for number in 0..<4 {
            group.detach {
                var random = SeededGenerator(seed: UInt64(seed * 100 + number))
                for _ in 0..<count {
                    if Bool.random(using: &random) {
                        tree.enqueue(&random, group)
                    } else {
                        tree.work(&random, depth: 3)
                    }
                }
            }
        }
        let hasEnded = group.wait(timeout: .now() + 1800) == .success
        #expect(hasEnded, "Blocks wait for each other for ever.")
        guard hasEnded else { return }
        #expect(tree.collisions.withLock { $0 } == 0)
        for (index, context) in tree.contexts.enumerated() {
            context.performAndWait { #expect(tree.counters[index].value == tree.expected.withLock { $0[index] }) }
        }
    }

    /// As above, with the main thread among those that wait.
    @Test(arguments: 0..<3) @MainActor
    func blocksOfTheMainQueueEndToo(place: Int) async throws {
        let tree = try Tree([nil, 0, 0, 1, 1], main: place)
        let working = Mutex(3)
        for number in 0..<3 {
            Thread.detachNewThread { @Sendable in
                var random = SeededGenerator(seed: UInt64(place * 100 + number))
                for _ in 0..<(LongTests.areEnabled ? 3000 : 60) { tree.work(&random, depth: 3) }
                working.withLock { $0 -= 1 }
            }
        }
        let end = Date() + 1800
        var random = SeededGenerator(seed: UInt64(place))
        while working.withLock({ $0 }) > 0, Date() < end {
            tree.work(&random, depth: 3)
            await Task.yield()
        }
        #expect(working.withLock { $0 } == 0, "Blocks wait for each other for ever.")
        #expect(tree.collisions.withLock { $0 } == 0)
    }

    @Test func aParentsBlockWaitsForAChildThatNeedsTheParent() throws {
        let tree = try Tree([nil, 0])
        let (parent, child) = (tree.contexts[0], tree.contexts[1])
        let childHasBegun = DispatchSemaphore(value: 0)
        let parentWaits = DispatchSemaphore(value: 0)
        let hasEnded = DispatchSemaphore(value: 0)
        child.perform {
            childHasBegun.signal()
            parentWaits.wait()
            child.author("Ada")
            try? child.save()
        }
        childHasBegun.wait()
        Thread.detachNewThread {
            parent.performAndWait {
                parentWaits.signal()
                child.performAndWait { _ = child.author("Bob") }
                hasEnded.signal()
            }
        }
        #expect(hasEnded.wait(timeout: .now() + 60) == .success)
        #expect(try parent.performAndWait { try parent.names() } == ["Ada"])
        withExtendedLifetime(tree) {}
    }

    @Test @MainActor func theMainThreadWaitsForAChildThatNeedsTheMainContext() throws {
        let library = try Library(.inMemory)
        let main = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        main.persistentStoreCoordinator = library.coordinator
        let child = main.newChild()
        let childHasBegun = DispatchSemaphore(value: 0)
        child.perform {
            childHasBegun.signal()
            child.author("Ada")
            try? child.save()
        }
        childHasBegun.wait()
        child.performAndWait { _ = child.author("Bob") }
        try child.performAndWait { try child.save() }
        #expect(try main.names() == ["Ada", "Bob"])
    }

    /// A block that catches up with its parent's keys, in the middle of another context's block,
    /// waits for the parent. It begins when its thread has that other context again, also where
    /// another thread keeps it while it waits for the same parent.
    @Test func aBlockThatCatchesUpWithKeysHasAllContextsItIsIn() throws {
        let tree = try Tree([nil, 0, 0])
        let (root, outer, inner) = (tree.contexts[0], tree.contexts[1], tree.contexts[2])
        // The key that the root obtains is one that the inner context takes over with its next
        // block.
        try inner.performAndWait {
            inner.author("Ada")
            try inner.save()
        }
        try root.performAndWait { try root.save() }
        outer.performAndWait {}

        let isUsed = Tree.Flag()
        let collisions = Mutex(0)
        let innerHasBegun = Atomic(false)
        @Sendable func useOuter() {
            if isUsed.exchange(true) { collisions.withLock { $0 += 1 } }
            _ = wait(upTo: 0.1) { collisions.withLock { $0 } > 0 }
            if !isUsed.exchange(false) { collisions.withLock { $0 += 1 } }
        }
        func detach(_ group: DispatchGroup, _ body: @escaping @Sendable () -> Void) {
            group.detach(body)
            // Until it waits in line.
            Thread.sleep(forTimeInterval: 0.1)
        }
        let group = DispatchGroup()
        let rootHasBegun = DispatchSemaphore(value: 0)
        let rootMayEnd = DispatchSemaphore(value: 0)
        root.perform {
            rootHasBegun.signal()
            rootMayEnd.wait()
        }
        rootHasBegun.wait()
        detach(group) {
            outer.performAndWait {
                inner.performAndWait {
                    innerHasBegun.store(true, ordering: .relaxed)
                    useOuter()
                }
            }
        }
        // The root's next block: while it runs, the first thread has caught up, and the next one
        // still waits.
        detach(group) {
            root.performAndWait { _ = wait(upTo: 0.2) { innerHasBegun.load(ordering: .relaxed) } }
        }
        detach(group) {
            outer.performAndWait {
                _ = try? outer.names()
                useOuter()
            }
        }
        rootMayEnd.signal()
        #expect(group.wait(timeout: .now() + 60) == .success)
        #expect(collisions.withLock { $0 } == 0)
        let hasBegun = innerHasBegun.load(ordering: .relaxed)
        #expect(hasBegun)
        withExtendedLifetime(tree) {}
    }

    @Test func blocksOfOneContextRunInTheirOrder() throws {
        let library = try Library(.inMemory)
        let context = library.context
        let order = Mutex<[Int]>([])
        for number in 0..<100 {
            if number % 3 == 0 {
                context.performAndWait { order.withLock { $0.append(number) } }
            } else {
                context.perform { order.withLock { $0.append(number) } }
            }
        }
        context.performAndWait {}
        #expect(order.withLock { $0 } == Array(0..<100))
    }
}
