import CoreData

/// A value that a person sets: `KEY=VALUE`, `KEY+=VALUE` or `KEY-=VALUE`.
struct Assignment {
    enum Operation: String {
        case set = "="
        /// Adds members to a to-many relationship.
        case add = "+="
        /// Removes members of a to-many relationship.
        case remove = "-="
    }

    let key: String
    let operation: Operation
    let value: String

    /// - Throws: `UsageError` for a text without an equals sign, or without a key.
    init(_ text: String) throws(UsageError) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        var key = parts[0]
        var operation = Operation.set
        if key.hasSuffix("+") { operation = .add }
        if key.hasSuffix("-") { operation = .remove }
        if operation != .set { key.removeLast() }
        guard parts.count == 2, !key.isEmpty else {
            throw UsageError(message: "'\(text)' sets nothing: write KEY=VALUE, KEY+=VALUE or KEY-=VALUE.")
        }
        self.key = key
        self.operation = operation
        value = parts[1]
    }
}

/// An assignment whose names and value were found to fit an entity.
struct ResolvedAssignment {
    enum Value {
        /// The value of an attribute; nil for none.
        case attribute(Any?)
        /// The URI of the object of a to-one relationship; nil for none.
        case toOne(URL?)
        /// The URIs of members of a to-many relationship.
        case toMany(Assignment.Operation, [URL])
    }

    let keyPath: String
    let value: Value

    /// Sets the value of an object.
    ///
    /// - Throws: `ToolError` if a related object does not exist.
    func apply(to object: NSManagedObject, in context: NSManagedObjectContext) throws {
        switch value {
        case .attribute(let value): object.setValue(value, forKeyPath: keyPath)
        case .toOne(let uri):
            let destination = try uri.map { try EditOperation.existingObject(at: $0, in: context) }
            object.setValue(destination, forKey: keyPath)
        case .toMany(let operation, let uris):
            let members = try uris.map { try EditOperation.existingObject(at: $0, in: context) }
            let isOrdered = object.entity.relationshipsByName[keyPath]?.isOrdered ?? false
            if isOrdered {
                change(object.mutableOrderedSetValue(forKey: keyPath), operation, members)
            } else {
                change(object.mutableSetValue(forKey: keyPath), operation, members)
            }
        }
    }

    private func change(_ set: NSMutableSet, _ operation: Assignment.Operation, _ members: [NSManagedObject]) {
        switch operation {
        case .set: set.setSet(Set(members))
        case .add: for member in members { set.add(member) }
        case .remove: for member in members { set.remove(member) }
        }
    }

    private func change(_ set: NSMutableOrderedSet, _ operation: Assignment.Operation, _ members: [NSManagedObject]) {
        switch operation {
        case .set:
            set.removeAllObjects()
            set.addObjects(from: members)
        case .add: for member in members { set.add(member) }
        case .remove: for member in members { set.remove(member) }
        }
    }
}
