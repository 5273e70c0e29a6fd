import CoreData
import Foundation

/// One line of the table: a case, the engine's time as a multiple of the raw API's, and the bound
/// it should keep.
struct Measurement: Codable {
    let `case`: String
    let ratio: Double
    let bound: Double
}

/// Runs the two sides of each case in turn and compares medians, because the machine's speed
/// drifts.
final class Harness {
    private(set) var measurements: [Measurement] = []
    let folder: URL
    let runs: Int
    private let filter: String?

    init(runs: Int, filter: String?) throws {
        self.runs = runs
        self.filter = filter
        folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "OpenCoreDataBenchmarks-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    func cleanUp() { try? FileManager.default.removeItem(at: folder) }

    /// A result that the optimizer cannot drop.
    nonisolated(unsafe) static var sink: Int64 = 0

    func wants(_ name: String) -> Bool { filter.map { name.lowercased().contains($0.lowercased()) } ?? true }

    /// Measures one case. Each side gives the seconds of its timed part.
    func compare(_ name: String, bound: Double, engine: () throws -> Double, raw: () throws -> Double) throws {
        guard wants(name) else { return }
        _ = try raw()
        _ = try engine()
        var engineTimes: [Double] = []
        var rawTimes: [Double] = []
        for _ in 0..<runs {
            rawTimes.append(try raw())
            engineTimes.append(try engine())
        }
        let engineTime = Self.median(engineTimes)
        let rawTime = Self.median(rawTimes)
        record(
            name, ratio: engineTime / rawTime, bound: bound,
            detail: "\(Self.milliseconds(engineTime)) / \(Self.milliseconds(rawTime))")
    }

    func record(_ name: String, ratio: Double, bound: Double, detail: String) {
        measurements.append(Measurement(case: name, ratio: (ratio * 1000).rounded() / 1000, bound: bound))
        let mark = ratio <= bound ? "" : "  over"
        let columns = [
            name.padding(toLength: 52, withPad: " ", startingAt: 0), String(format: "%6.2f", ratio),
            String(format: "%6.2f", bound),
            detail,
        ]
        print(columns.joined(separator: "  ") + mark)
    }

    static func median(_ values: [Double]) -> Double {
        let sorted = values.sorted()
        return sorted.count % 2 == 1
            ? sorted[sorted.count / 2] : (sorted[sorted.count / 2 - 1] + sorted[sorted.count / 2]) / 2
    }

    private static func milliseconds(_ seconds: Double) -> String { String(format: "%.2f ms", seconds * 1000) }

    /// The wall-clock seconds of a block.
    static func time(_ body: () throws -> Void) rethrows -> Double {
        let start = DispatchTime.now().uptimeNanoseconds
        try body()
        return Double(DispatchTime.now().uptimeNanoseconds - start) / 1e9
    }

    // MARK: - Stores

    let model = BenchmarkModel.make()

    func newURL() -> URL { folder.appendingPathComponent("\(UUID().uuidString).sqlite") }

    func coordinator(_ url: URL) throws -> NSPersistentStoreCoordinator {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        _ = try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url)
        return coordinator
    }

    func context(_ coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    func remove(_ url: URL) {
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: url.path + suffix) }
    }
}
