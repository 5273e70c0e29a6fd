import Foundation
import SafeCoreData

// Reads and writes one stack from many tasks at once, for Thread Sanitizer, and shows that a stack
// works in programs of every kind.
//
//     StackStress concurrent [ROUNDS]     concurrent reads and writes, with the store closed and
//                                         opened meanwhile
//     StackStress tree [SECONDS]          parents, children and merges on many threads
//     StackStress large [ROUNDS]          saves of many objects, taken over by contexts that go on
//                                         meanwhile
//     StackStress blocking                a program without async code whose main thread waits
//
// Ends with status 0 when what it read is what it wrote.

let arguments = CommandLine.arguments.dropFirst()
switch arguments.first {
case "blocking":
    exit(BlockingProgram.run() ? 0 : 1)
case "concurrent", nil:
    let rounds = arguments.dropFirst().first.flatMap { Int($0) } ?? 20
    for store in Stress.stores() {
        let stress = Stress(store, rounds: rounds)
        guard try await stress.run() else {
            print("\(store): what was read is not what was written")
            exit(1)
        }
    }
    print("done")
case "tree":
    let seconds = arguments.dropFirst().first.flatMap { Double($0) } ?? 10
    for store in Stress.stores() {
        guard try ContextTree(store).run(seconds: seconds) else {
            print("\(store): contexts do not agree with the store")
            exit(1)
        }
        if let folder = store.url?.deletingLastPathComponent() { try FileManager.default.removeItem(at: folder) }
    }
    print("done")
case "large":
    let rounds = arguments.dropFirst().first.flatMap { Int($0) } ?? 20
    for store in Stress.stores() {
        guard try LargeSaves(store, rounds: rounds).run() else {
            print("\(store): what was taken over is not what was saved")
            exit(1)
        }
        if let folder = store.url?.deletingLastPathComponent() { try FileManager.default.removeItem(at: folder) }
    }
    print("done")
default:
    print("unknown mode: \(arguments.joined(separator: " "))")
    exit(2)
}
