import SafeCoreData
import TestSupport
import Testing

enum Wood: String, Codable { case oak, beech }
enum Grade: Int16 { case first = 1, second }
struct Extent: Codable, Hashable {
    var width: Int
    var height: Int
}

private let standardGrade = Grade.second
private let evaluations = Counter()

/// The class as it was when the store was made.
@Entity("Plank")
class FormerPlank: NSManagedObject {
    var name: String
    var remark: String?
}

@Entity("RoundPlank")
final class FormerRoundPlank: FormerPlank {
    var radius: Double
}

/// The class with properties that the store does not have yet.
@Entity
class Plank: NSManagedObject {
    var name: String
    var remark: String = "none".uppercased()
    var wood: Wood = .oak
    var grade: Grade = standardGrade
    var tags: [String] = ["new"]
    var extent: Extent = Extent(width: 1, height: 2)
    var made: Date = Date(timeIntervalSinceReferenceDate: 1000)
    var picture: Data = Data([1, 2, 3])
    @Attribute(.externalStorage) var scan: Data = Data(repeating: 7, count: 5)
    var page: URL = URL(fileURLWithPath: "/planks")
    var code: UUID = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
    var price: Decimal = Decimal(15) / 10
    var weight: Double = 60 * 1.5
    var count: Int = 6 * 7
    var isDry: Bool = !false
    var number: Int = evaluations.increase()
    var note: String? = "a" + "b"
    var parts: Set<Plank> = []
    @Relationship(inverse: \Plank.parts) var whole: Plank? = nil
}

@Entity
final class RoundPlank: Plank {
    var radius: Double
    var bark: Wood = .beech
}

@Entity("Plank") final class SerialPlank: NSManagedObject {
    var name: String
    var remark: String?
    @Attribute(.unique) var serial: String = UUID().uuidString
}

@Entity("Plank") final class ExactingPlank: NSManagedObject {
    var name: String
    var remark: String?
    var owner: String
}

/// Required properties with an initial value, added to stores that are there.
@Suite(.serialized) struct NewPropertyTests {
    private let folder: TemporaryFolder
    private let url: URL

    init() throws {
        folder = try TemporaryFolder()
        url = folder.file("planks.sqlite")
    }

    nonisolated(nonsending) private func fill(_ names: [String]) async throws {
        let stack = DataStack(entities: FormerPlank.self, FormerRoundPlank.self, store: .file(url))
        try await stack.write { context in
            for name in names { _ = FormerPlank(context: context, name: name) }
            if let name = names.first {
                _ = FormerRoundPlank(context: context, inheriting: .init(name: name, remark: "round"), radius: 2)
            }
        }
        try await stack.close()
    }

    @MainActor @Test func objectsThatAreThereGetTheInitialValuesOfEveryType() async throws {
        try await fill(["A", "B"])
        let stack = DataStack(entities: Plank.self, RoundPlank.self, store: .file(url))
        let planks = try await stack.read {
            try $0.fetch(Plank.self, sortBy: [.ascending(\.name), .ascending(\.remark)])
        }
        #expect(planks.map(\.name) == ["A", "A", "B"])
        #expect(planks.map(\.remark) == ["NONE", "round", "NONE"])
        for plank in planks {
            #expect(plank.wood == .oak)
            #expect(plank.grade == .second)
            #expect(plank.tags == ["new"])
            #expect(plank.extent == Extent(width: 1, height: 2))
            #expect(plank.made == Date(timeIntervalSinceReferenceDate: 1000))
            #expect(plank.picture == Data([1, 2, 3]))
            #expect(plank.scan == Data(repeating: 7, count: 5))
            #expect(plank.page == URL(fileURLWithPath: "/planks"))
            #expect(plank.code.uuidString == "01020304-0506-0708-090A-0B0C0D0E0F10")
            #expect(plank.price == Decimal(string: "1.5"))
            #expect(plank.weight == 90)
            #expect(plank.count == 42)
            #expect(plank.isDry)
            #expect(plank.note == "ab")
            #expect(plank.parts.isEmpty)
            #expect(plank.whole == nil)
        }
        #expect(planks.compactMap { ReadOnly<RoundPlank>($0)?.bark } == [.beech])
        try await stack.close()
        #expect(SQLiteFile(url).column("SELECT DISTINCT ZWOOD || ZGRADE || ZTAGS FROM ZPLANK") == [#"oak2["new"]"#])
        #expect(SQLiteFile(url).integer("SELECT COUNT(*) FROM ZPLANK WHERE ZMADE = 1000 AND ZPICTURE = X'010203'") == 3)
    }

    @Test func anExpressionIsEvaluatedOnceForAMigration() async throws {
        try await fill(["A", "B", "C"])
        let before = evaluations.increase()
        let stack = DataStack(entities: Plank.self, RoundPlank.self, store: .file(url))
        try await stack.opened()
        try await stack.close()
        #expect(SQLiteFile(url).column("SELECT DISTINCT ZNUMBER FROM ZPLANK") == ["\(before + 1)"])
        #expect(evaluations.increase() == before + 2)
        // A store that has the property is opened without another evaluation.
        let again = DataStack(entities: Plank.self, RoundPlank.self, store: .file(url))
        try await again.opened()
        #expect(evaluations.increase() == before + 3)
    }

    @Test func aStoreWithoutObjectsGetsTheProperties() async throws {
        try await fill([])
        let stack = DataStack(entities: Plank.self, RoundPlank.self, store: .file(url))
        try await stack.write { _ = Plank(context: $0, name: "A") }
        try await stack.close()
        #expect(SQLiteFile(url).column("SELECT ZNAME || ZWOOD FROM ZPLANK") == ["Aoak"])
    }

    @Test func oneValueForSeveralObjectsIsRefusedWhereItMustBeUnique() async throws {
        try await fill(["A", "B"])
        let stack = DataStack(entities: SerialPlank.self, store: .file(url))
        let error = await #expect(throws: CocoaError.self) { try await stack.opened() }
        #expect(error?.localizedDescription.contains("serial") == true)
        #expect(SQLiteFile(url).integer("SELECT COUNT(*) FROM ZPLANK") == 3)
    }

    @Test func aRequiredPropertyWithoutAnInitialValueIsRefused() async throws {
        try await fill(["A"])
        let stack = DataStack(entities: ExactingPlank.self, store: .file(url))
        let error = await #expect(throws: CocoaError.self) { try await stack.opened() }
        #expect(error?.code == .migration)
        #expect(error?.localizedDescription.contains("owner") == true)
        #expect(SQLiteFile(url).integer("SELECT COUNT(*) FROM ZPLANK") == 2)
    }

    @Test func aStoreWithoutObjectsGetsARequiredPropertyWithoutAnInitialValue() async throws {
        try await fill([])
        let stack = DataStack(entities: ExactingPlank.self, store: .file(url))
        try await stack.opened()
        try await stack.close()
        #expect(SQLiteFile(url).column("SELECT count(ZOWNER) FROM ZPLANK") == ["0"])
    }

    @Test func aMappingIsInferredForAModelWithInitialValues() throws {
        let mapping = try NSMappingModel.inferredMappingModel(
            forSourceModel: NSManagedObjectModel(entities: FormerPlank.self, FormerRoundPlank.self),
            destinationModel: NSManagedObjectModel(entities: Plank.self, RoundPlank.self))
        #expect(mapping.entityMappings.count == 2)
    }

    @Test func theInitialValuesArePartOfNoVersionHash() {
        let model = NSManagedObjectModel(entities: SerialPlank.self)
        let hash = model.entityVersionHashesByName["Plank"]
        let plain = NSEntityDescription(
            "Plank",
            [
                NSAttributeDescription("name", .stringAttributeType, optional: false),
                NSAttributeDescription("remark", .stringAttributeType),
                NSAttributeDescription("serial", .stringAttributeType, optional: false),
            ])
        plain.uniquenessConstraints = [["serial"]]
        #expect(NSManagedObjectModel([plain]).entityVersionHashesByName["Plank"] == hash)
    }
}
