import SafeCoreData
import TestSupport
import Testing

/// Opening a stack's store.
struct StackOpeningTests {
    @Test func aStackIsInMemoryUnlessToldOtherwise() async throws {
        let stack = DataStack(model: Shop.model())
        try await stack.insertItem("Bolt")
        #expect(try await stack.itemNames() == ["Bolt"])
        #expect(stack.location == .inMemory)
    }

    @Test func aStackMakesItsFileAndTheDirectory() async throws {
        let folder = try TemporaryFolder()
        let url = folder.file("a/b/shop.sqlite")
        let stack = DataStack(model: Shop.model(), store: .file(url))
        try await stack.insertItem("Bolt")
        #expect(try itemNames(in: url) == ["Bolt"])
    }

    @Test func callersWhoCameBeforeItWasOpenAreServedInTheirOrder() async throws {
        let gate = Gate()
        let stack = gate.stack()
        let log = Log()
        await withCheckedContinuation { continuation in
            for number in 1...50 { stack.whenOpen { _ in log.add("\(number)") } }
            stack.whenOpen { _ in continuation.resume() }
            #expect(log.all.isEmpty)
            gate.open()
        }
        #expect(log.all == (1...50).map { "\($0)" })
    }

    @Test func requestsMadeBeforeItWasOpenAreServed() async throws {
        let gate = Gate()
        let stack = gate.stack()
        let log = Log()
        await withCheckedContinuation { continuation in
            for number in 1...20 {
                stack.write { context in
                    let item = ShopItem(context: context)
                    item.name = "\(number)"
                    log.add("\(number)")
                } completion: { _ in
                    if number == 20 { continuation.resume() }
                }
            }
            gate.open()
        }
        #expect(log.all == (1...20).map { "\($0)" })
        #expect(try await stack.itemNames().count == 20)
    }

    @MainActor @Test func readsMadeBeforeItWasOpenAreServedInTheirOrder() async throws {
        let gate = Gate()
        let stack = gate.stack()
        let log = Log()
        var tasks: [Task<Void, any Error>] = []
        for number in 1...20 {
            tasks.append(
                Task {
                    try await stack.read { _ in
                        if number == 1 { #expect(log.all.isEmpty) }
                        log.add("\(number)")
                    }
                })
        }
        await Task.yield()
        gate.open()
        for task in tasks { try await task.value }
        #expect(log.all == (1...20).map { "\($0)" })
    }

    @MainActor @Test func codeThatCannotWaitIsToldThatTheStoreIsNotOpen() async throws {
        let gate = Gate()
        let stack = gate.stack()
        func readNow() throws -> Int {
            try stack.readNow { try $0.count(for: NSFetchRequest<ShopItem>(entityName: "Item")) }
        }
        #expect(throws: DataStackError.notOpenYet) { try readNow() }
        gate.open()
        try await stack.opened()
        #expect(try readNow() == 0)
    }

    @Test func codeWithoutAsyncReadsWhenTheStoreIsOpen() async throws {
        let stack = DataStack(model: Shop.model())
        try await stack.insertItem("Bolt")
        let count = await withCheckedContinuation { continuation in
            stack.whenOpen(read: { result in
                continuation.resume(
                    returning: Result { try result.get().count(for: NSFetchRequest<ShopItem>(entityName: "Item")) })
            })
        }
        #expect(try count.get() == 1)
    }

    // MARK: Failing

    private func errors(of stack: DataStack) async -> [NSError] {
        var errors: [NSError] = []
        do { try await stack.opened() } catch { errors.append(error as NSError) }
        do { try await stack.write { _ in } } catch { errors.append(error as NSError) }
        do { try await stack.read { _ in } } catch { errors.append(error as NSError) }
        let called = await withCheckedContinuation { continuation in
            stack.write { _ in
            } completion: {
                continuation.resume(returning: $0)
            }
        }
        if case .failure(let error) = called { errors.append(error as NSError) }
        return errors
    }

    @Test func everyCallerGetsTheErrorOfAModelThatCannotBeRead() async throws {
        let folder = try TemporaryFolder()
        let stack = DataStack(modelAt: folder.file("none.momd"))
        let errors = await errors(of: stack)
        #expect(errors.count == 4)
        #expect(errors.allSatisfy { $0.localizedDescription.contains("none.momd") })
        guard case .failed = stack.state else {
            Issue.record("the state is \(stack.state)")
            return
        }
    }

    @Test func everyCallerGetsTheErrorOfAFileThatIsNoStore() async throws {
        let folder = try TemporaryFolder()
        let url = folder.file("shop.sqlite")
        try Data(repeating: 65, count: 5000).write(to: url)
        let errors = await errors(of: DataStack(model: Shop.model(), store: .file(url)))
        #expect(errors.count == 4)
        #expect(errors.allSatisfy { $0.domain == NSCocoaErrorDomain })
        #expect(Set(errors.map(\.code)).count == 1)
    }

    @Test func everyCallerGetsTheErrorOfAStoreOfAnotherModel() async throws {
        let folder = try TemporaryFolder()
        let url = folder.file("shop.sqlite")
        let other = NSManagedObjectModel([
            NSEntityDescription("Item", [NSAttributeDescription("name", .dateAttributeType)])
        ])
        try await DataStack(model: other, store: .file(url)).opened()
        var options = DataStackOptions()
        options.migratesAutomatically = false
        let errors = await errors(of: DataStack(model: Shop.model(), store: .file(url), options: options))
        #expect(errors.map(\.code) == Array(repeating: NSPersistentStoreIncompatibleVersionHashError, count: 4))
    }

    @Test func callersWhoWaitedGetTheErrorToo() async throws {
        let gate = Gate()
        let folder = try TemporaryFolder()
        let url = folder.file("shop.sqlite")
        try Data(repeating: 65, count: 5000).write(to: url)
        let stack = gate.stack(.file(url))
        let log = Log()
        await withCheckedContinuation { continuation in
            for number in 1...10 {
                stack.whenOpen { result in
                    if case .failure = result { log.add("\(number)") }
                    if number == 10 { continuation.resume() }
                }
            }
            gate.open()
        }
        #expect(log.all == (1...10).map { "\($0)" })
    }

    @Test func aStackThatCouldNotBeOpenedIsOpenedLater() async throws {
        let folder = try TemporaryFolder()
        let url = folder.file("shop.sqlite")
        try Data(repeating: 65, count: 5000).write(to: url)
        let stack = DataStack(model: Shop.model(), store: .file(url))
        await #expect(throws: (any Error).self) { try await stack.opened() }
        try FileManager.default.removeItem(at: url)
        try await stack.reopen()
        try await stack.insertItem("Bolt")
        #expect(try itemNames(in: url) == ["Bolt"])
    }

    @Test func itsStateCanBeFollowed() async throws {
        let gate = Gate()
        let stack = gate.stack()
        var iterator = stack.states.makeAsyncIterator()
        func next() async -> String { await iterator.next().map { "\($0)" } ?? "end" }
        #expect(await next() == "opening")
        gate.open()
        #expect(await next() == "open")
        try await stack.close()
        #expect(await next() == "closed")
    }
}
