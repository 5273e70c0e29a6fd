import SafeCoreData
import TestSupport
import Testing

private enum FleetV1: VersionedSchema {
    static let entities: [any EntityObject.Type] = [Car.self, Truck.self, Owner.self]

    @Entity(isAbstract: true) class Vehicle: NSManagedObject {
        var plate: String
        @Relationship(inverse: \Owner.vehicles) var owner: Owner?
    }

    @Entity final class Car: Vehicle { var seats: Int = 4 }

    @Entity final class Truck: Vehicle { var load: Int = 1 }

    @Entity final class Owner: NSManagedObject {
        var name: String
        @Relationship var vehicles: Set<Vehicle>
    }
}

/// Both kinds of vehicles become one class, and owners are renamed.
private enum FleetV2: VersionedSchema {
    static let entities: [any EntityObject.Type] = [Vehicle.self, Keeper.self]

    @Entity final class Vehicle: NSManagedObject {
        var plate: String
        var kind: String
        @Relationship(inverse: \Keeper.vehicles, originalName: "owner") var keeper: Keeper?
    }

    @Entity(renamingIdentifier: "Owner") final class Keeper: NSManagedObject {
        var name: String
        @Relationship var vehicles: Set<Vehicle>
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
            let owner = FleetV1.Owner(context: context, name: "Ada")
            let vehicles = [
                FleetV1.Car(context: context, inheriting: .init(plate: "C1")),
                FleetV1.Truck(context: context, inheriting: .init(plate: "T1"), load: 9),
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
            step.map(FleetV1.Car.self, to: FleetV2.Vehicle.self) { old, new in new.kind = "car \(old.seats)" }
            step.map(FleetV1.Truck.self, to: FleetV2.Vehicle.self) { old, new in new.kind = "truck \(old.load)" }
        }
        let sql = """
            SELECT v.ZPLATE || ' ' || v.ZKIND || ' ' || k.ZNAME FROM ZVEHICLE v JOIN ZKEEPER k ON k.Z_PK = v.ZKEEPER
            ORDER BY 1
            """
        #expect(SQLiteFile(url).column(sql) == ["C1 car 4 Ada", "T1 truck 9 Ada"])
    }

    @Test func anAbstractClassIsNotMapped() async throws {
        try await fill()
        let error = await #expect(throws: CocoaError.self) {
            try await open { $0.map(FleetV1.Vehicle.self, to: FleetV2.Vehicle.self) { _, _ in } }
        }
        #expect(error?.localizedDescription.contains("'Vehicle' is abstract") == true)
    }
}
