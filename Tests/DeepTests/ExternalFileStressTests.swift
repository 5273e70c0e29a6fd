import CoreData
import Synchronization
import TestSupport
import Testing

/// Programs that save, read and are killed at once: no value is lost, none is read that was never
/// there, no file is left over.
@Suite(.serialized) struct ExternalFileStressTests {
    let folder: TemporaryFolder
    let url: URL

    init() throws {
        folder = try TemporaryFolder()
        url = folder.file("gallery.sqlite")
    }

    private func run(_ arguments: String...) throws -> ProgramRun {
        try ProgramRun(OtherProgram.url, ["gallery", arguments[0], url.path] + arguments.dropFirst())
    }

    @Test func aKilledProgramLosesNoSaveAndLeavesNoFile() throws {
        try Gallery.create(url, options: [NSPersistentHistoryTrackingKey: true])
        var saves = 0
        var known = Dictionary(uniqueKeysWithValues: Gallery.names.map { ($0, Int64(1)) })
        for round in 1...(LongTests.areEnabled ? 500 : 5) {
            let output = try run("killed", String(round)).output
            // The last line may be cut off.
            for line in output.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
                let parts = line.split(separator: ",")
                guard parts.count == 2, let number = Int64(parts[1]) else {
                    Issue.record("round \(round): \(line)")
                    continue
                }
                known[String(parts[0])] = number
                saves += 1
            }
            #expect(try Gallery.problems(url) == [], "round \(round)")
            let numbers = try Gallery.numbers(
                try Gallery.open(url, options: [NSReadOnlyPersistentStoreOption: true]).newContext())
            for (name, number) in known {
                #expect(numbers[name] ?? 0 >= number, "round \(round): a save of \(name) that was over is lost")
            }
            known = numbers
        }
        #expect(saves > 0)
        let transactions = SQLiteFile(url).integer("SELECT count(*) FROM ATRANSACTION") ?? 0
        #expect(transactions >= saves)
    }

    @Test func readersInTheSameProcessAndInOthersFindEveryPhoto() async throws {
        try Gallery.create(url)
        let reader = try RunningProgram(OtherProgram.url, ["gallery", "reads", url.path])
        let ended = Counter()
        let url = url
        let looks = try await withThrowingTaskGroup(of: Int.self) { group in
            group.addTask {
                defer { ended.increase() }
                let coordinator = try Gallery.open(url)
                let context = coordinator.newContext()
                var generator = SeededGenerator(seed: 3)
                for _ in 0..<(LongTests.areEnabled ? 3000 : 60) { _ = try Gallery.step(in: context, &generator) }
                return 0
            }
            group.addTask {
                let coordinator = try Gallery.open(url)
                var looks = 0
                repeat {
                    #expect(try Gallery.wrongPhotos(coordinator.newContext()) == [])
                    looks += 1
                } while ended.value == 0
                return looks
            }
            return try await group.reduce(0, +)
        }
        #expect(looks > 0)
        let output = reader.finish()
        #expect(output.hasPrefix("looks: "), "\(output)")
        #expect(try Gallery.problems(url) == [])
    }

    @Test func fourProgramsCountExactly() throws {
        try Gallery.create(url)
        let times = LongTests.areEnabled ? 300 : 12
        let outputs = Mutex<[String]>([])
        let path = url.path
        DispatchQueue.concurrentPerform(iterations: 4) { number in
            let run = try? ProgramRun(OtherProgram.url, ["gallery", "saves", path, String(number + 1), String(times)])
            outputs.withLock { $0.append(run?.output ?? "not run") }
        }
        #expect(outputs.withLock { $0 } == Array(repeating: "saved \(times)\n", count: 4))
        let numbers = try Gallery.numbers(try Gallery.open(url).newContext())
        #expect(numbers.values.reduce(0, +) == Int64(Gallery.names.count + 4 * times))
        #expect(try Gallery.problems(url) == [])
    }

    // MARK: Limits

    @Test(arguments: [40_000, 70_000, 103_000]) func aSaveThatFindsNoSpaceSaysSoAndIsMadeLater(bytes: Int) throws {
        try Gallery.create(url)
        let lines = try run("small", String(bytes)).output.split(separator: "\n")
        #expect(lines.count == 3, "\(lines)")
        #expect(lines.first == "done", "the store opens")
        #expect(
            lines.dropFirst().first?.hasPrefix("error \(CocoaError.fileWriteOutOfSpace.rawValue): ") == true, "\(lines)"
        )
        #expect(lines.dropFirst().first?.contains("gallery") == true)
        #expect(lines.last == "done")
        #expect(try Gallery.problems(url) == [])
    }

    @Test(arguments: [0, 1_000, 8_000, 30_000]) func openingWithoutSpaceSaysSo(bytes: Int) throws {
        let output = try run("small", String(bytes)).output
        #expect(output.hasPrefix("error \(CocoaError.fileWriteOutOfSpace.rawValue): "), "\(output)")
        #expect(output.contains("gallery.sqlite"))
    }

    @Test func openingWithoutFileDescriptorsSaysSo() throws {
        for exists in [false, true] {
            if exists { try Gallery.create(url) }
            let output = try run("closed").output
            #expect(output.contains("no file descriptor left"), "\(output)")
            #expect(output.contains("gallery.sqlite"), "\(output)")
            #expect(output.hasPrefix("error \(CocoaError.persistentStoreOpen.rawValue): "), "\(output)")
        }
        #expect(try Gallery.problems(url) == [])
    }
}
