import CoreData
import Foundation

// Fetches with a fetchBatchSize, against the same fetch without one.

extension Harness {
    func walkBatches() throws {
        guard wants("Batches of 100") || wants("Batches of 1,000") else { return }
        let (_, coordinator) = try wideStore(200_000)
        for (size, name) in [(100, "100"), (1000, "1,000")] {
            for key in [nil, "b"] {
                let order = key == nil ? "" : ", sorted"
                try compare("Batches of \(name)\(order): walk 200,000", bound: 1.5) {
                    try walk(batchSize: size, sortedBy: key, coordinator)
                } raw: {
                    try walk(batchSize: 0, sortedBy: key, coordinator)
                }
            }
        }
        try compare("Batches of 100: show the first 100 of 200,000", bound: 1) {
            try walk(batchSize: 100, showing: 100, coordinator)
        } raw: {
            try walk(batchSize: 0, showing: 100, coordinator)
        }
    }

    private func walk(
        batchSize: Int, sortedBy key: String? = nil, showing count: Int = .max,
        _ coordinator: NSPersistentStoreCoordinator
    ) throws -> Double {
        let context = context(coordinator)
        var objects: [Wide] = []
        defer { withExtendedLifetime(objects) {} }
        return try Self.time {
            objects = try context.fetch(Self.wideRequest(batchSize: batchSize, sortedBy: key))
            for object in objects.prefix(count) { Self.sink &+= object.a &+ object.j }
        }
    }

    static func wideRequest(batchSize: Int, sortedBy key: String? = nil) -> NSFetchRequest<Wide> {
        let request = NSFetchRequest<Wide>(entityName: "Wide")
        request.fetchBatchSize = batchSize
        request.sortDescriptors = key.map { [NSSortDescriptor(key: $0, ascending: false)] }
        return request
    }
}
