import SafeCoreData
import TestSupport
import Testing

private enum FleetV1: VersionedSchema {
    static let entities: [any EntityObject.Type] = [StoredCar.self, StoredTruck.self, StoredOwner.self]

    @Entity(isAbstract: true) class StoredVehicle: NSManagedObject {
        var plate: String
        @Relationship(inverse: \StoredOwner.vehicles) var owner: StoredOwner?
    }

    @Entity final class StoredCar: StoredVehicle { var seats: Int = 4 }

    @Entity final class StoredTruck: StoredVehicle { var load: Int = 1 }

    @Entity final class StoredOwner: NSManagedObject {
        var name: String
        @Relationship var vehicles: Set<StoredVehicle>
    }
}

/// Both kinds of vehicles become one class, and owners are renamed.
private enum FleetV2: VersionedSchema {
    static let entities: [any EntityObject.Type] = [StoredVehicle.self, StoredKeeper.self]

    @Entity final class StoredVehicle: NSManagedObject {
        var plate: String
        var kind: String
        @Relationship(inverse: \StoredKeeper.vehicles, originalName: "owner") var keeper: StoredKeeper?
    }

    @Entity(renamingIdentifier: "StoredOwner") final class StoredKeeper: NSManagedObject {
        var name: String
        @Relationship var vehicles: Set<StoredVehicle>
    }
}

/// Steps between class hierarchies.
struct MigrationInheritanceTests {
    private let folder: TemporaryFolder
    private let url: URL

    init() throws {
        folder = try TemporaryFolder()
        url = folder.file("fleet.sqlite")
    }

    nonisolated(nonsending) private func fill() async throws {
        let stack = DataStack(migration: MigrationPlan(from: FleetV1.self), store: .file(url))
        try await stack.write { context in
            let owner = FleetV1.StoredOwner(context: context, name: "Ada")
            let vehicles = [
                FleetV1.StoredCar(context: context, inheriting: .init(plate: "C1")),
                FleetV1.StoredTruck(context: context, inheriting: .init(plate: "T1"), load: 9),
            ]
            for vehicle in vehicles { vehicle.owner = owner }
        }
        try await stack.close()
    }

    nonisolated(nonsending) private func open(_ body: (inout MigrationStep) -> Void) async throws {
        let plan = MigrationPlan(from: FleetV1.self).step(to: FleetV2.self, body)
        let stack = DataStack(migration: plan, store: .file(url))
        try await stack.opened()
        try await stack.close()
    }

    @Test func severalClassesBecomeOne() async throws {
        try await fill()
        try await open { step in
            step.map(FleetV1.StoredCar.self, to: FleetV2.StoredVehicle.self) { old, new in new.kind = "car \(old.seats)"
            }
            step.map(FleetV1.StoredTruck.self, to: FleetV2.StoredVehicle.self) { old, new in
                new.kind = "truck \(old.load)"
            }
        }
        let sql = """
            SELECT v.ZPLATE || ' ' || v.ZKIND || ' ' || k.ZNAME FROM ZSTOREDVEHICLE v
            JOIN ZSTOREDKEEPER k ON k.Z_PK = v.ZKEEPER ORDER BY 1
            """
        #expect(SQLiteFile(url).column(sql) == ["C1 car 4 Ada", "T1 truck 9 Ada"])
    }

    @Test func anAbstractClassIsNotMapped() async throws {
        try await fill()
        let error = await #expect(throws: CocoaError.self) {
            try await open { $0.map(FleetV1.StoredVehicle.self, to: FleetV2.StoredVehicle.self) { _, _ in } }
        }
        #expect(error?.localizedDescription.contains("'StoredVehicle' is abstract") == true)
    }
}
