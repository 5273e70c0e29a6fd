import CoreData
import Foundation

/// How the time of operations on relationships grows with the number of members.
///
/// A step to ten times as many members should take ten times as long, and at most 1.3 times that.
final class GrowthBenchmark {
    private enum Kind: String, CaseIterable {
        case toMany = "to many"
        case ordered = "ordered to many"
        case manyToMany = "many to many"
        case chain = "chain"
    }

    private static let bound = 1.3
    private let folder: URL
    private let sizes: [Int]
    /// Seconds by operation, for each size.
    private var times: [String: [Double]] = [:]
    private var operations: [String] = []

    init(folder: URL, sizes: [Int]) {
        self.folder = folder
        self.sizes = sizes
    }

    func run() throws {
        for kind in Kind.allCases {
            // The first run of all warms up.
            for size in [1000] + sizes { try measure(kind, size) }
            print(kind)
        }
    }

    private func print(_ kind: Kind) {
        for operation in operations {
            guard let measured = times[operation]?.dropFirst() else { continue }
            let columns = zip(sizes, measured).enumerated().map { index, column in
                let (size, time) = column
                let each = String(format: "%8d: %7.3f µs each", size, time * 1e6 / Double(size))
                guard index > 0, let former = measured.dropFirst(index - 1).first else { return each }
                let growth = time / former / (Double(size) / Double(sizes[index - 1]))
                return each + String(format: ", growth %.2f", growth) + (growth > Self.bound ? " over" : "")
            }
            Swift.print(
                "\(kind.rawValue), \(operation)".padding(toLength: 28, withPad: " ", startingAt: 0),
                columns.joined(separator: "  "))
        }
        times = [:]
        operations = []
    }

    /// The seconds that the process has computed, whatever else the machine does meanwhile.
    private static func processorTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    private func time(_ operation: String, _ work: () throws -> Void) rethrows {
        let start = Self.processorTime()
        try work()
        let seconds = Self.processorTime() - start
        if times[operation] == nil { operations.append(operation) }
        times[operation, default: []].append(seconds)
    }

    // MARK: Operations

    private func context(_ kind: Kind) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model(kind))
        _ = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil,
            at: folder.appendingPathComponent("\(UUID().uuidString).sqlite"))
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    private func measure(_ kind: Kind, _ size: Int) throws {
        let context = try context(kind)
        try context.performAndWait {
            if kind == .chain { return try measureChain(size, context) }
            try measureMembers(kind, size, context)
            try measureEnd(kind, size, context)
        }
    }

    private static func make(_ name: String, _ context: NSManagedObjectContext) -> NSManagedObject {
        NSEntityDescription.insertNewObject(forEntityName: name, into: context)
    }

    private func measureMembers(_ kind: Kind, _ size: Int, _ context: NSManagedObjectContext) throws {
        let parts = (0..<size).map { _ in Self.make("Part", context) }
        let owner = Self.make("Owner", context)
        if kind == .ordered {
            time("insert") { for part in parts { owner.mutableOrderedSetValue(forKey: "parts").insert(part, at: 0) } }
            try time("save") { try context.save() }
            let set = owner.mutableOrderedSetValue(forKey: "parts")
            time("move") { for index in 0..<size { set.moveObjects(at: [index], to: size - 1 - index) } }
            time("exchange") { for index in 0..<size { set.exchangeObject(at: index, withObjectAt: size - 1 - index) } }
            time("remove") { for _ in 0..<size { set.removeObject(at: 0) } }
        } else {
            let set = owner.mutableSetValue(forKey: "parts")
            time("add") { for part in parts { set.add(part) } }
            try time("save") { try context.save() }
            time("remove") { for part in parts { set.remove(part) } }
        }
        context.processPendingChanges()
        try time("save removals") { try context.save() }
        context.undoManager = UndoManager()
        context.undoManager?.groupsByEvent = false
        context.undoManager?.beginUndoGrouping()
        owner.setValue(kind == .ordered ? NSOrderedSet(array: parts) as Any : NSSet(array: parts), forKey: "parts")
        context.processPendingChanges()
        context.undoManager?.endUndoGrouping()
        time("undo") { context.undo() }
        time("redo") { context.redo() }
        context.undoManager = nil
        try context.save()
        context.reset()
    }

    /// Releases the members, and deletes them with their owner.
    private func measureEnd(_ kind: Kind, _ size: Int, _ context: NSManagedObjectContext) throws {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Owner")
        var owner = try context.fetch(request).first
        Harness.sink &+= Int64((owner?.value(forKey: "parts") as? NSOrderedSet)?.count ?? 0)
        Harness.sink &+= Int64((owner?.value(forKey: "parts") as? NSSet)?.count ?? 0)
        time("release") { owner = nil }
        try time("delete and save") {
            try context.fetch(request).forEach(context.delete)
            try context.save()
        }
    }

    private func measureChain(_ size: Int, _ context: NSManagedObjectContext) throws {
        var objects = (0..<size).map { _ in Self.make("Owner", context) }
        time("link") { for index in 1..<size { objects[index].setValue(objects[index - 1], forKey: "next") } }
        try time("save") { try context.save() }
        var last: NSManagedObject? = objects.last
        objects = []
        Harness.sink &+= Int64(last == nil ? 0 : 1)
        time("release") { last = nil }
    }

    private static func model(_ kind: Kind) -> NSManagedObjectModel {
        let (owner, part) = (NSEntityDescription(), NSEntityDescription())
        (owner.name, part.name) = ("Owner", "Part")
        for entity in [owner, part] {
            entity.managedObjectClassName = "NSManagedObject"
            entity.properties = [BenchmarkModel.attribute("name", .stringAttributeType)]
        }
        func relationship(_ name: String, to destination: NSEntityDescription, isToMany: Bool)
            -> NSRelationshipDescription
        {
            let relationship = NSRelationshipDescription()
            relationship.name = name
            relationship.destinationEntity = destination
            relationship.maxCount = isToMany ? 0 : 1
            relationship.isOptional = true
            return relationship
        }
        let parts = relationship("parts", to: part, isToMany: true)
        parts.isOrdered = kind == .ordered
        parts.deleteRule = .cascadeDeleteRule
        let inverse = relationship("owner", to: owner, isToMany: kind == .manyToMany)
        parts.inverseRelationship = inverse
        inverse.inverseRelationship = parts
        owner.properties += [parts, relationship("next", to: owner, isToMany: false)]
        part.properties += [inverse]
        let model = NSManagedObjectModel()
        model.entities = [owner, part]
        return model
    }
}
