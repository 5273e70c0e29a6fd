import Foundation

// Compares the engine with the SQLite C API on the same files, and with libpq on the same tables.
//
//     Benchmarks [CASE] [--runs N]     CASE is a part of a case's name, such as W3
//     Benchmarks --growth [LARGEST]    how operations on relationships grow from 10,000 members to
//     100,000, or to LARGEST
//
// Prints a table of ratios and writes them to .build/bench.json.

var arguments = Array(CommandLine.arguments.dropFirst())
if arguments.first == "--memory", arguments.count == 3 {
    let harness = try Harness(runs: 1, filter: nil)
    try harness.runMemoryChild(arguments[1], arguments[2])
    harness.cleanUp()
    exit(0)
}
if arguments.first == "--growth" {
    let largest = arguments.dropFirst().first.flatMap { Int($0) } ?? 100_000
    let harness = try Harness(runs: 1, filter: nil)
    try GrowthBenchmark(folder: harness.folder, sizes: [10_000, 100_000, 1_000_000].filter { $0 <= largest }).run()
    harness.cleanUp()
    exit(0)
}
var runs = 7
if let index = arguments.firstIndex(of: "--runs"), index + 1 < arguments.count {
    runs = Int(arguments[index + 1]) ?? runs
    arguments.removeSubrange(index...(index + 1))
}
let harness = try Harness(runs: runs, filter: arguments.first)
print("case                                                    ratio   bound  engine / raw (medians of \(runs) runs)")
try harness.fetchWide()
try harness.insertWide()
try harness.fetchMixed()
try harness.createRelated()
try harness.walkRelated()
try harness.updateWide()
try harness.lookUpByID()
try harness.prefixQueries()
try harness.walkBatches()
try harness.batchRequests()
try harness.readOnlyViews()
try harness.readEntityProperties()
try harness.fetchSnapshots()
try harness.followResults()
try harness.contextTrees()
try await harness.readBesideWrites()
try await harness.history()
try harness.migrations()
try harness.memory()
try harness.postgreSQL()
harness.cleanUp()
let encoder = JSONEncoder()
encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
try FileManager.default.createDirectory(atPath: ".build", withIntermediateDirectories: true)
try encoder.encode(harness.measurements).write(to: URL(fileURLWithPath: ".build/bench.json"))
