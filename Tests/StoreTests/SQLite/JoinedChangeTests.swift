import CoreData
import TestSupport
import Testing

/// Key paths over more tables than SQLite joins, in requests that change rows, in subqueries and in
/// orders: SQLite refuses them and changes nothing, other stores follow them.
struct JoinedChangeTests {
    /// SQLite joins 64 tables, of which a request leaves three for what else it may need; the first
    /// is that of its own rows.
    private static let mostJoins = 60

    /// Persons in a line: each is the boss and the mentor of the next one.
    private func line(_ kind: StoreKind) throws -> TestStack {
        let person = NSEntityDescription(
            "Person", class: "NSManagedObject",
            [
                NSAttributeDescription("name", .stringAttributeType),
                NSAttributeDescription("mark", .stringAttributeType),
            ])
        relate(person, "staff", toMany: true, person, inverse: "boss")
        relate(person, "pupils", toMany: true, person, inverse: "mentor")
        let stack = try TestStack([person], kind: kind)
        var last: NSManagedObject?
        for number in 0...100 {
            let next = NSManagedObject(entity: stack.entity("Person"), insertInto: stack.context)
            next.setValue("\(number)", forKey: "name")
            next.setValue(last, forKey: "boss")
            next.setValue(last, forKey: "mentor")
            last = next
        }
        try stack.context.save()
        return stack
    }

    /// A key path to somebody's name.
    private static func path(_ relationship: String, _ length: Int) -> String {
        Array(repeating: relationship, count: length).joined(separator: ".") + ".name"
    }

    private func names(_ stack: TestStack, _ format: String) throws -> [String] {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
        request.predicate = NSPredicate(format: format)
        return try stack.newContext().fetch(request).compactMap { $0.value(forKey: "name") as? String }.sorted()
    }

    /// Runs a request, which stores in SQLite files refuse where it goes over too many tables.
    ///
    /// - Parameter joins: how many it goes over beside the first.
    /// - Returns: what it gave; nil where it was refused.
    private func result<Value>(
        _ kind: StoreKind, joins: Int, sourceLocation: SourceLocation = #_sourceLocation, _ request: () throws -> Value
    ) throws -> Value? {
        guard kind == .sqlite, joins > Self.mostJoins else { return try request() }
        let error = errorThrown { _ = try request() }
        #expect(error?.code == CocoaError.coreData.rawValue, "\(error as Any)", sourceLocation: sourceLocation)
        let isClear = error?.localizedDescription.contains("at most 61 tables") == true
        #expect(isClear, "\(error as Any)", sourceLocation: sourceLocation)
        return nil
    }

    private func update(_ stack: TestStack, _ format: String, mark: Any = "found") throws -> Int {
        let request = NSBatchUpdateRequest(entityName: "Person")
        request.predicate = NSPredicate(format: format)
        request.propertiesToUpdate = ["mark": mark]
        request.resultType = .updatedObjectsCountResultType
        return try #require((stack.newContext().execute(request) as? NSBatchUpdateResult)?.result as? Int)
    }

    private func delete(_ stack: TestStack, _ format: String) throws -> Int {
        let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: "Person")
        fetch.predicate = NSPredicate(format: format)
        let request = NSBatchDeleteRequest(fetchRequest: fetch)
        request.resultType = .resultTypeCount
        return try #require((stack.newContext().execute(request) as? NSBatchDeleteResult)?.result as? Int)
    }

    // MARK: Key paths

    @Test(arguments: StoreKind.allCases, [60, 61, 80]) func aBatchUpdateFindsItsRowsOverManyTables(
        kind: StoreKind, joins: Int
    ) throws {
        let stack = try line(kind)
        let count = try result(kind, joins: joins) { try update(stack, Self.path("boss", joins) + " == '3'") }
        let isRefused = kind == .sqlite && joins > Self.mostJoins
        #expect(count == (isRefused ? nil : 1))
        let found = try names(stack, "mark == 'found'")
        #expect(found == (isRefused ? [] : ["\(3 + joins)"]))
    }

    /// Delete rules are followed, too.
    @Test(arguments: StoreKind.allCases, [60, 61, 80]) func aBatchDeletionFindsItsRowsOverManyTables(
        kind: StoreKind, joins: Int
    ) throws {
        let stack = try line(kind)
        let count = try result(kind, joins: joins) { try delete(stack, Self.path("boss", joins) + " == '3'") }
        let isRefused = kind == .sqlite && joins > Self.mostJoins
        #expect(count == (isRefused ? nil : 1))
        let left = try names(stack, "TRUEPREDICATE")
        #expect(left.count == (isRefused ? 101 : 100))
        #expect(left.contains("\(3 + joins)") == isRefused)
        let leaderless = try names(stack, "boss == nil")
        #expect(leaderless == (isRefused ? ["0"] : ["0", "\(4 + joins)"]))
    }

    /// The condition and the new values go over different tables.
    @Test(arguments: StoreKind.allCases, [20, 30, 40]) func aBatchUpdateReadsItsValuesOverManyTables(
        kind: StoreKind, joins: Int
    ) throws {
        let stack = try line(kind)
        let value = NSExpression(format: Self.path("mentor", joins))
        let count = try result(kind, joins: 2 * joins) {
            try update(stack, Self.path("boss", joins) + " == '3'", mark: value)
        }
        let isRefused = kind == .sqlite && 2 * joins > Self.mostJoins
        #expect(count == (isRefused ? nil : 1))
        let found = try names(stack, "mark == '3'")
        #expect(found == (isRefused ? [] : ["\(3 + joins)"]))
        #expect(try names(stack, "mark != nil").count == found.count)
    }

    /// The condition and the order go over different tables.
    @Test(arguments: StoreKind.allCases, [20, 30, 40]) func anOrderGoesOverManyTables(kind: StoreKind, joins: Int)
        throws
    {
        let stack = try line(kind)
        let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
        request.predicate = NSPredicate(format: Self.path("boss", joins) + " IN {'3', '5', '4'}")
        request.sortDescriptors = [NSSortDescriptor(key: Self.path("mentor", joins), ascending: false)]
        request.fetchLimit = 2
        let found = try result(kind, joins: 2 * joins) {
            try stack.newContext().fetch(request).compactMap { $0.value(forKey: "name") as? String }
        }
        let isRefused = kind == .sqlite && 2 * joins > Self.mostJoins
        #expect(found == (isRefused ? nil : ["\(5 + joins)", "\(4 + joins)"]))
    }

    // MARK: Subqueries

    /// Each part of a request has tables of its own: that of the rows, and that of a subquery.
    @Test(arguments: StoreKind.allCases, [40, 60, 61])
    func aSubqueryGoesOverManyTablesBesideThoseOfTheRequest(kind: StoreKind, joins: Int) throws {
        let stack = try line(kind)
        let inner = "SUBQUERY(staff, $s, $s.\(Self.path("boss", joins)) == '3').@count == 1"
        let both = "\(Self.path("boss", joins)) == '2' AND \(inner)"
        let isRefused = kind == .sqlite && joins > Self.mostJoins
        let expected = isRefused ? [] : ["\(2 + joins)"]
        for format in [inner, both] {
            let found = try result(kind, joins: joins) { try names(stack, format) } ?? []
            #expect(found == expected)
        }
        let updated = try result(kind, joins: joins) { try update(stack, both) }
        #expect(updated == (isRefused ? nil : 1))
        #expect(try names(stack, "mark == 'found'") == expected)
        let deleted = try result(kind, joins: joins) { try delete(stack, both) }
        #expect(deleted == (isRefused ? nil : 1))
        let left = try names(stack, "TRUEPREDICATE")
        #expect(left.count == (isRefused ? 101 : 100))
        #expect(left.contains("\(2 + joins)") == isRefused)
    }

    // MARK: Many relationships

    /// Hubs with a relationship to each of seventy spokes; in one of the hubs all lead to the
    /// first.
    @Test(arguments: StoreKind.allCases, [60, 61, 70]) func aPredicateNamesManyRelationships(
        kind: StoreKind, joins: Int
    ) throws {
        let name = NSAttributeDescription("name", .stringAttributeType)
        let spoke = NSEntityDescription("Spoke", class: "NSManagedObject", [name])
        let hub = NSEntityDescription(
            "Hub", class: "NSManagedObject",
            [
                NSAttributeDescription("name", .stringAttributeType),
                NSAttributeDescription("mark", .stringAttributeType),
            ])
        for number in 0..<70 { hub.properties.append(NSRelationshipDescription("r\(number)", to: spoke)) }
        let stack = try TestStack([spoke, hub], kind: kind)
        func make(_ entity: String, _ name: String) -> NSManagedObject {
            let object = NSManagedObject(entity: stack.entity(entity), insertInto: stack.context)
            object.setValue(name, forKey: "name")
            return object
        }
        let spokes = (0..<70).map { make("Spoke", "s\($0)") }
        let hubs = ["right", "wrong"].map { make("Hub", $0) }
        for number in 0..<70 {
            hubs[0].setValue(spokes[number], forKey: "r\(number)")
            hubs[1].setValue(spokes[0], forKey: "r\(number)")
        }
        try stack.context.save()
        let format = (0..<joins).map { "r\($0).name == 's\($0)'" }.joined(separator: " AND ")
        let request = NSFetchRequest<NSManagedObject>(entityName: "Hub")
        request.predicate = NSPredicate(format: format)
        let isRefused = kind == .sqlite && joins > Self.mostJoins
        let found = try result(kind, joins: joins) {
            try stack.newContext().fetch(request).compactMap { $0.value(forKey: "name") as? String }
        }
        #expect(found == (isRefused ? nil : ["right"]))
        let update = NSBatchUpdateRequest(entityName: "Hub")
        update.predicate = request.predicate
        update.propertiesToUpdate = ["mark": "found"]
        _ = try result(kind, joins: joins) { try stack.newContext().execute(update) }
        let marks: [String?] = isRefused ? [nil, nil] : [nil, "found"]
        #expect(stack.stored("mark", of: "Hub") == marks)
    }
}
