import CoreData
import TestSupport
import Testing

/// Changes of rows that wait for each other's unique values: what is not changed stays, whatever
/// the constraint is made of.
struct UniqueExchangeTests {
    /// Entries with several properties that constraints can be made of.
    private final class Register {
        private let folder: TemporaryFolder
        private let kind: StoreKind
        private let coordinator: NSPersistentStoreCoordinator
        let context: NSManagedObjectContext
        private(set) var entries: [NSManagedObject] = []
        private(set) var owners: [NSManagedObject] = []

        init(_ kind: StoreKind, _ constraints: [[String]], lists: [String] = ["L", "L", "L"]) throws {
            let place = NSCompositeAttributeDescription(
                "place", NSAttributeDescription("street", .stringAttributeType),
                NSAttributeDescription("house", .integer32AttributeType))
            let entry = NSEntityDescription(
                "Entry", class: "NSManagedObject",
                [
                    NSAttributeDescription("number", .integer32AttributeType),
                    NSAttributeDescription("list", .stringAttributeType),
                    NSAttributeDescription("position", .integer32AttributeType),
                    NSAttributeDescription("sku", .stringAttributeType),
                    NSAttributeDescription("email", .stringAttributeType), place,
                ])
            let owner = NSEntityDescription(
                "Owner", class: "NSManagedObject", [NSAttributeDescription("name", .stringAttributeType)])
            let person = NSEntityDescription(
                "Person", class: "NSManagedObject", [NSAttributeDescription("born", .integer32AttributeType)])
            owner.subentities = [person]
            relate(owner, "entries", toMany: true, entry, inverse: "owner")
            entry.uniquenessConstraints = constraints
            self.kind = kind
            folder = try TemporaryFolder()
            coordinator = NSPersistentStoreCoordinator(
                managedObjectModel: NSManagedObjectModel([entry, owner, person]))
            try coordinator.addPersistentStore(
                ofType: kind.type, configurationName: nil, at: kind.url(folder.file("store.sqlite")))
            context = coordinator.newContext()
            owners = ["Owner", "Person"].map { NSEntityDescription.insertNewObject(forEntityName: $0, into: context) }
            for number in 1...3 {
                let entry = NSEntityDescription.insertNewObject(forEntityName: "Entry", into: context)
                entry.setValuesForKeys([
                    "number": number, "list": lists[number - 1], "position": number, "sku": "s\(number)",
                    "email": "e\(number)",
                    "place": ["street": "S", "house": number],
                ])
                entry.setValue(owners[number == 2 ? 1 : 0], forKey: "owner")
                entries.append(entry)
            }
            try context.save()
        }

        /// The values as a new context reads them.
        func values(_ paths: String...) throws -> [String] {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Entry")
            request.sortDescriptors = [NSSortDescriptor(key: "number", ascending: true)]
            let context = coordinator.newContext()
            return try context.fetch(request).map { entry in
                paths.map { entry.value(forKeyPath: $0).map { "\($0)" } ?? "nil" }.joined(separator: " ")
            }
        }

        /// The columns of the rows, where there are tables.
        func columns(_ names: String) -> [String]? {
            if !kind.isDatabase { return nil }
            return StoreTables(kind, folder.file("store.sqlite")).rows("SELECT \(names) FROM {entry} ORDER BY {number}")
                .map { row in
                    row.map { $0 ?? "nil" }.joined(separator: " ")
                }
        }

        /// Saves what must be refused.
        func saveRefused() {
            let error = #expect(throws: CocoaError.self) { try context.save() }
            #expect(error?.code == .managedObjectConstraintMerge)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func aPlaceInAListThatAnotherHasIsRefused(kind: StoreKind) throws {
        let register = try Register(kind, [["list", "position"]])
        register.entries[0].setValue(3, forKey: "position")
        register.saveRefused()
        #expect(try register.values("list", "position") == ["L 1", "L 2", "L 3"])
        if let columns = register.columns("{list}, {position}") { #expect(columns == ["L 1", "L 2", "L 3"]) }
    }

    @Test(arguments: StoreKind.allCases)
    func placesInAListAreExchanged(kind: StoreKind) throws {
        let register = try Register(kind, [["list", "position"]])
        register.entries[0].setValue(2, forKey: "position")
        register.entries[1].setValue(1, forKey: "position")
        try register.context.save()
        #expect(try register.values("list", "position") == ["L 2", "L 1", "L 3"])
        if let columns = register.columns("{list}, {position}") { #expect(columns == ["L 2", "L 1", "L 3"]) }
    }

    @Test(arguments: StoreKind.allCases)
    func anExchangeUnderOneConstraintLeavesTheOtherAlone(kind: StoreKind) throws {
        let register = try Register(kind, [["sku"], ["email"]])
        register.entries[0].setValue("s2", forKey: "sku")
        register.entries[1].setValue("s1", forKey: "sku")
        try register.context.save()
        #expect(try register.values("sku", "email") == ["s2 e1", "s1 e2", "s3 e3"])
        if let columns = register.columns("{sku}, {email}") { #expect(columns == ["s2 e1", "s1 e2", "s3 e3"]) }
        register.entries[0].setValue("e3", forKey: "email")
        register.saveRefused()
        #expect(try register.values("sku", "email") == ["s2 e1", "s1 e2", "s3 e3"])
    }

    @Test(arguments: StoreKind.allCases)
    func anElementOfACompositeStaysWhenAnotherIsExchanged(kind: StoreKind) throws {
        let register = try Register(kind, [["place.street", "place.house"]])
        register.entries[0].setValue(["street": "S", "house": 2], forKey: "place")
        register.entries[1].setValue(["street": "S", "house": 1], forKey: "place")
        try register.context.save()
        #expect(try register.values("place.street", "place.house") == ["S 2", "S 1", "S 3"])
        register.entries[0].setValue(["street": "S", "house": 3], forKey: "place")
        register.saveRefused()
        #expect(try register.values("place.street", "place.house") == ["S 2", "S 1", "S 3"])
    }

    @Test(arguments: StoreKind.allCases)
    func theDestinationOfARelationshipIsExchangedWhole(kind: StoreKind) throws {
        let register = try Register(kind, [["owner", "list"]], lists: ["L", "L", "M"])
        register.entries[0].setValue(register.owners[1], forKey: "owner")
        register.entries[1].setValue(register.owners[0], forKey: "owner")
        try register.context.save()
        #expect(try register.values("owner.entity.name", "list") == ["Person L", "Owner L", "Owner M"])
    }

    @Test(arguments: StoreKind.allCases)
    func theDestinationOfARelationshipStaysWhenTheRestIsChanged(kind: StoreKind) throws {
        let register = try Register(kind, [["owner", "list"]], lists: ["L", "L", "M"])
        register.entries[0].setValue("M", forKey: "list")
        register.saveRefused()
        #expect(try register.values("owner.entity.name", "list") == ["Owner L", "Person L", "Owner M"])
        register.entries[2].setValue("L", forKey: "list")
        try register.context.save()
        #expect(try register.values("owner.entity.name", "list") == ["Owner M", "Person L", "Owner L"])
    }

    @Test(arguments: StoreKind.allCases)
    func threeRowsPassTheirPlacesOn(kind: StoreKind) throws {
        let register = try Register(kind, [["list", "position"], ["sku"]])
        for (index, entry) in register.entries.enumerated() {
            entry.setValue(index == 2 ? 1 : index + 2, forKey: "position")
        }
        register.entries[0].setValue("s2", forKey: "sku")
        register.entries[1].setValue("s1", forKey: "sku")
        try register.context.save()
        #expect(try register.values("list", "position", "sku", "email") == ["L 2 s2 e1", "L 3 s1 e2", "L 1 s3 e3"])
    }
}
