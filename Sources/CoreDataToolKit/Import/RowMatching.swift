import CoreData

/// Finds the objects of a store that rows of a file belong to, by values that identify an object.
struct RowMatching {
    enum Match {
        case object(NSManagedObjectID)
        /// More than one object has the values.
        case several(String)
        /// An earlier row has the same values.
        case sameAs(Int, keys: [String])
    }

    /// Properties whose values together identify an object.
    private struct Rule: Hashable {
        /// The place of the highest entity that has the properties.
        let owner: Int
        let keys: [String]
    }

    private let schema: ImportSchema
    private let rules: [[Rule]]
    /// The rows with each value, by rule.
    private var seen: [Rule: [[UInt8]: Int]] = [:]
    /// The rows that are still to be looked up in the store.
    private var wanted: [Rule: [(number: Int, token: [UInt8], values: [Any])]] = [:]
    private var duplicates: [(Int, Match)] = []

    /// The number of objects that are looked for at once.
    private static let chunkSize = 100

    /// - Parameter keys: the properties that identify an object, beside uniqueness constraints.
    /// - Throws: `ToolError` if no entity has these properties.
    init(_ schema: ImportSchema, keys: [String]) throws(ToolError) {
        self.schema = schema
        rules = schema.entities.map { entity in
            var constraints = ImportSchema.constraints(of: entity.description)
            let hasKeys = !keys.isEmpty && keys.allSatisfy(entity.attributes.contains)
            if (hasKeys || keys == [QueryColumn.objectID]), !constraints.contains(keys) { constraints.append(keys) }
            return constraints.map { Rule(owner: schema.owner(of: $0, from: entity).index, keys: $0) }
        }
        let isUsed = keys.isEmpty || rules.contains { $0.contains { $0.keys == keys } }
        if isUsed { return }
        let names = Set(schema.entities.flatMap(\.attributes)).union([QueryColumn.objectID]).sorted()
        let unknown = keys.first { !names.contains($0) }
        throw ToolError(
            "--match \(keys.joined(separator: ",")): no entity has "
                + (unknown.map { "an attribute '\($0)'. \(NearNames.advice(for: $0, among: names, kind: "attribute"))" }
                    ?? "all these attributes."))
    }

    /// Notes the values of a row that are to be looked for.
    ///
    /// - Parameter key: the key in the file; 0 without one.
    mutating func note(_ number: Int, _ entity: ImportSchema.Entity, _ values: [String: Any], _ key: Int64) {
        for rule in rules[entity.index] {
            if rule.keys == [QueryColumn.objectID] {
                if key > 0 { wanted[rule, default: []].append((number, Self.token([key]), [key])) }
                continue
            }
            let found = rule.keys.compactMap { values[$0] }.filter { !($0 is NSNull) }
            // Nulls are equal to nothing.
            guard found.count == rule.keys.count else { continue }
            let token = Self.token(found)
            if let first = seen[rule]?[token] {
                duplicates.append((number, .sameAs(first, keys: rule.keys)))
                continue
            }
            seen[rule, default: [:]][token] = number
            wanted[rule, default: []].append((number, token, found))
        }
    }

    /// Returns what was found of the rows that were noted since the last call.
    mutating func objects(in store: WritableStore) throws -> [(number: Int, Match)] {
        var found: [Int: Set<NSManagedObjectID>] = [:]
        for (rule, rows) in wanted {
            for start in stride(from: 0, to: rows.count, by: Self.chunkSize) {
                let chunk = rows[start..<min(start + Self.chunkSize, rows.count)]
                let objects = try objects(Array(chunk.map(\.values)), rule, store)
                for row in chunk {
                    if let ids = objects[row.token] { found[row.number, default: []].formUnion(ids) }
                }
            }
        }
        defer { (wanted, duplicates) = ([:], []) }
        return duplicates
            + found.sorted { $0.key < $1.key }.map { number, ids in
                if ids.count == 1, let id = ids.first { return (number, .object(id)) }
                return (
                    number, .several(ids.map { CellValue($0).plainText }.sorted().prefix(3).joined(separator: ", "))
                )
            }
    }

    /// Returns the objects with some of the values, by token.
    private func objects(_ values: [[Any]], _ rule: Rule, _ store: WritableStore) throws -> [[UInt8]:
        [NSManagedObjectID]]
    {
        let entity = schema.entities[rule.owner]
        let request = NSFetchRequest<NSManagedObject>(entityName: entity.name)
        request.includesPendingChanges = false
        let isIdentity = rule.keys == [QueryColumn.objectID]
        if isIdentity {
            let ids = values.compactMap {
                ($0[0] as? Int64).flatMap { store.model.objectID(entity: entity.name, key: $0) }
            }
            request.predicate = NSPredicate(format: "SELF IN %@", ids)
        } else if rule.keys.count == 1 {
            request.predicate = NSPredicate(format: "%K IN %@", rule.keys[0], values.map { $0[0] } as NSArray)
        } else {
            request.predicate = NSCompoundPredicate(
                orPredicateWithSubpredicates: values.map { row in
                    NSCompoundPredicate(
                        andPredicateWithSubpredicates: zip(rule.keys, row).map { key, value in
                            NSPredicate(format: "%K == %@", argumentArray: [key, value])
                        })
                })
        }
        var found: [[UInt8]: [NSManagedObjectID]] = [:]
        for object in try store.context.fetch(request) {
            let values: [Any] =
                isIdentity
                ? [ObjectName(object.objectID).key ?? 0] : rule.keys.compactMap { object.value(forKey: $0) }
            if values.count == rule.keys.count { found[Self.token(values), default: []].append(object.objectID) }
        }
        return found
    }

    /// Returns bytes that are equal exactly where SQLite says that values are.
    private static func token(_ values: [Any]) -> [UInt8] {
        values.flatMap { value -> [UInt8] in
            let text =
                switch value {
                case let text as String: "s" + text
                case let date as Date: "d\(date.timeIntervalSinceReferenceDate)"
                case let uuid as UUID: "u" + uuid.uuidString
                case let url as URL: "s" + url.absoluteString
                case let data as Data: "b" + data.base64EncodedString()
                case let decimal as NSDecimalNumber: "n" + decimal.decimalValue.description
                case let number as NSNumber: "n\(number)"
                default: "o\(value)"
                }
            return Array("\(text.utf8.count):\(text)".utf8)
        }
    }
}
