import CoreData

/// A delegate that rebuilds a controller's sections from its calls alone, and notes each call.
open class ResultsListener: NSObject, NSFetchedResultsControllerDelegate {
    public struct Section: Equatable {
        public var name: String
        public var objects: [NSManagedObject]
    }

    public struct ObjectCall {
        public let object: NSManagedObject
        public let type: NSFetchedResultsChangeType
        public let old: IndexPath?
        public let new: IndexPath?
    }

    public struct SectionCall {
        public let name: String
        public let type: NSFetchedResultsChangeType
        public let index: Int
    }

    /// The sections that result from the calls.
    public private(set) var sections: [Section] = []
    /// The calls of the current round: "will", "section", "object", "did".
    public private(set) var calls: [String] = []
    public private(set) var objectCalls: [ObjectCall] = []
    public private(set) var sectionCalls: [SectionCall] = []
    public private(set) var rounds = 0
    /// The objects of all calls, but for deletions, since they were last forgotten.
    public private(set) var told: [NSManagedObject] = []
    /// Calls that were wrong.
    public private(set) var complaints: [String] = []
    /// Called at the beginning of a round.
    public var willChange: (NSFetchedResultsController<NSFetchRequestResult>) -> Void = { _ in }

    /// Takes the sections of a controller that has just fetched.
    public func begin<Result>(with controller: NSFetchedResultsController<Result>) {
        sections = Self.sections(of: controller)
        forgetCalls()
    }

    /// Forgets the calls, not the sections.
    public func forgetCalls() { (calls, objectCalls, sectionCalls, rounds, complaints, told) = ([], [], [], 0, [], []) }

    public static func sections<Result>(of controller: NSFetchedResultsController<Result>) -> [Section] {
        (controller.sections ?? []).map {
            Section(name: $0.name, objects: ($0.objects ?? []).compactMap { $0 as? NSManagedObject })
        }
    }

    public func controllerWillChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
        (calls, objectCalls, sectionCalls) = (["will"], [], [])
        if Self.sections(of: controller) != sections { complaints.append("the former results were not there any more") }
        willChange(controller)
    }

    public func controller(
        _ controller: NSFetchedResultsController<NSFetchRequestResult>,
        didChange sectionInfo: any NSFetchedResultsSectionInfo,
        atSectionIndex sectionIndex: Int, for type: NSFetchedResultsChangeType
    ) {
        calls.append("section")
        sectionCalls.append(SectionCall(name: sectionInfo.name, type: type, index: sectionIndex))
    }

    public func controller(
        _ controller: NSFetchedResultsController<NSFetchRequestResult>, didChange anObject: Any,
        at indexPath: IndexPath?,
        for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) {
        calls.append("object")
        guard let object = anObject as? NSManagedObject else { return complaints.append("\(anObject) is no object") }
        if type != .delete { told.append(object) }
        objectCalls.append(ObjectCall(object: object, type: type, old: indexPath, new: newIndexPath))
    }

    public func controllerDidChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
        calls.append("did")
        rounds += 1
        apply()
    }

    /// Objects leave their old places, sections go and come, objects come to their new places.
    private func apply() {
        for call in objectCalls {
            let paths = (call.old != nil, call.new != nil)
            let isRight =
                switch call.type {
                case .insert: paths == (false, true)
                case .delete, .update: paths == (true, false)
                case .move: paths == (true, true)
                }
            if !isRight { complaints.append("a call of type \(call.type.rawValue) has \(paths)") }
        }
        for call in objectCalls where call.type == .update {
            guard let path = call.old, path.section < sections.count, path.item < sections[path.section].objects.count,
                sections[path.section].objects[path.item] === call.object
            else {
                complaints.append("an update has not the old path of its object")
                continue
            }
        }
        let leaving = objectCalls.filter { $0.type == .delete || $0.type == .move }.compactMap { call in
            call.old.map { ($0, call.object) }
        }
        for (path, object) in leaving.sorted(by: { $0.0 > $1.0 }) {
            guard path.section < sections.count, path.item < sections[path.section].objects.count else {
                complaints.append("nothing at \(path)")
                continue
            }
            if sections[path.section].objects.remove(at: path.item) !== object {
                complaints.append("another object at \(path)")
            }
        }
        for call in sectionCalls.filter({ $0.type == .delete }).sorted(by: { $0.index > $1.index }) {
            let section = sections.remove(at: call.index)
            if section.name != call.name { complaints.append("section \(section.name) was removed for \(call.name)") }
            if !section.objects.isEmpty {
                complaints.append("section \(section.name) was not empty when it was removed")
            }
        }
        for call in sectionCalls.filter({ $0.type == .insert }).sorted(by: { $0.index < $1.index }) {
            if call.index > sections.count {
                return complaints.append("section \(call.name) was inserted at \(call.index)")
            }
            sections.insert(Section(name: call.name, objects: []), at: call.index)
        }
        let coming = objectCalls.filter { $0.type == .insert || $0.type == .move }.compactMap { call in
            call.new.map { ($0, call.object) }
        }
        for (path, object) in coming.sorted(by: { $0.0 < $1.0 }) {
            guard path.section < sections.count, path.item <= sections[path.section].objects.count else {
                complaints.append("no place at \(path)")
                continue
            }
            sections[path.section].objects.insert(object, at: path.item)
        }
    }

    /// The types of the calls for objects, each with the object's title.
    public var summary: [String] {
        objectCalls.map {
            "\(["", "insert", "delete", "move", "update"][Int($0.type.rawValue)]) "
                + "\(($0.object as? LibraryBook)?.title ?? "?")"
        }
    }
}
