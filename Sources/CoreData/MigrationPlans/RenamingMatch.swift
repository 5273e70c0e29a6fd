/// Finds the older name of each name in a new model.
///
/// A renaming identifier is a canonical name: the name of the item in the first version that had
/// it. It stays the same through all later versions. Where an identifier does not follow that rule,
/// the older model's own names are tried.
package struct RenamingMatch {
    package struct Item {
        let name: String
        /// The renaming identifier; the name itself unless it is set.
        let identifier: String

        package init(name: String, identifier: String?) {
            self.name = name
            self.identifier = identifier ?? name
        }

        var isRenamed: Bool { identifier != name }
    }

    /// The older name by new name. New items have none.
    package private(set) var sourceNames: [String: String] = [:]
    /// New names whose renaming identifier refers to an older item that another new item matches
    /// already.
    private(set) var contested: [(name: String, identifier: String, other: String)] = []

    package init(from sources: [Item], to destinations: [Item]) {
        var taken: [String: String] = [:]
        var waiting: [Item] = []
        func pass(_ items: [Item], _ fits: (Item, Item) -> Bool) {
            waiting = []
            for item in items {
                if let source = sources.first(where: { taken[$0.name] == nil && fits($0, item) }) {
                    taken[source.name] = item.name
                    sourceNames[item.name] = source.name
                } else {
                    waiting.append(item)
                }
            }
        }
        // Renamed items come first, because a new item may have the old name of a renamed one.
        pass(destinations.filter(\.isRenamed)) { $0.name == $1.name && $0.identifier == $1.identifier }
        pass(waiting) { $0.identifier == $1.identifier }
        pass(waiting) { $0.name == $1.identifier }
        let unsettled = waiting
        pass(destinations.filter { !$0.isRenamed } + unsettled) { $0.name == $1.name }
        pass(waiting) { !$1.isRenamed && $0.identifier == $1.name }
        for item in waiting where item.isRenamed {
            let source = sources.first { $0.identifier == item.identifier || $0.name == item.identifier }
            guard let source, let other = taken[source.name],
                destinations.contains(where: { $0.name == other && $0.isRenamed })
            else { continue }
            contested.append((item.name, item.identifier, other))
        }
    }
}
