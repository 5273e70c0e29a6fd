import SafeCoreData
import SafeCoreDataTesting
import TestSupport
import Testing

@Entity
final class Parcel: NSManagedObject {
    var code: String
    var weight: Double = 1
    var note: String?
    var courier: Courier?
}

@Entity
final class Courier: NSManagedObject {
    var name: String
    @Relationship(deleteRule: .cascade, inverse: \Parcel.courier) var parcels: Set<Parcel>
}

struct EntityValidationTests {
    private static let fitting = """
        <entity name="Parcel" CLASS>
            <attribute name="code" attributeType="String"/>
            <attribute name="weight" attributeType="Double" defaultValueString="2"/>
            <attribute name="note" optional="YES" attributeType="String"/>
            <relationship name="courier" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Courier"
                inverseName="parcels" inverseEntity="Courier"/>
        </entity>
        <entity name="Courier" representedClassName="Courier">
            <attribute name="name" attributeType="String"/>
            <relationship name="parcels" optional="YES" toMany="YES" deletionRule="Cascade" destinationEntity="Parcel"
                inverseName="courier" inverseEntity="Parcel"/>
        </entity>
        """

    private static let different = """
        <entity name="Parcel" representedClassName="Parcel">
            <attribute name="code" optional="YES" attributeType="String"/>
            <attribute name="weight" attributeType="Float"/>
            <attribute name="sender" attributeType="String"/>
            <relationship name="courier" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Courier"
                inverseName="parcels" inverseEntity="Courier"/>
        </entity>
        <entity name="Courier" representedClassName="Courier">
            <attribute name="name" attributeType="String"/>
            <relationship name="parcels" optional="YES" toMany="YES" ordered="YES" deletionRule="Deny"
                destinationEntity="Parcel" inverseName="courier" inverseEntity="Parcel"/>
        </entity>
        """

    private static let differences = [
        "Parcel.code: the class says required, the entity optional",
        "Parcel.weight: the class declares Double, the entity has Float",
        "Parcel.note: the entity has no such property",
        "Parcel.courier: the class declares one object, the entity has several objects",
        "Parcel.sender: the entity requires it, but the class does not declare it",
        "Courier.parcels: the class says not ordered, the entity ordered",
        "Courier.parcels: the class has the delete rule Cascade, the entity Deny",
    ]

    @Test func aModelFileThatFitsServesTheClasses() throws {
        let model = try NSManagedObjectModel(
            drawn: Self.fitting.replacingOccurrences(of: "CLASS", with: #"representedClassName="Parcel""#))
        try model.validate(entities: Parcel.self, Courier.self)
        let stack = try EntityStack(model: model)
        let parcel = Parcel(context: stack.context, code: "A", courier: Courier(context: stack.context, name: "Ada"))
        try stack.context.save()
        #expect(parcel.weight == 1)
        #expect(try stack.freshContext().all(Courier.self).first?.parcels.first?.code == "A")
    }

    @Test func anEntityWithoutAClassIsGivenOne() throws {
        let model = try NSManagedObjectModel(drawn: Self.fitting.replacingOccurrences(of: "CLASS", with: ""))
        #expect(model.entity(for: Parcel.self)?.name == "Parcel")
        try model.attach(entities: Parcel.self, Courier.self)
        let stack = try EntityStack(model: model)
        _ = Parcel(context: stack.context, code: "A")
        try stack.context.save()
        #expect(try stack.freshContext().all(Parcel.self).map(\.code) == ["A"])
    }

    @Test func allDifferencesAreReportedAtOnce() throws {
        let model = try NSManagedObjectModel(drawn: Self.different)
        let error = try #require(throws: EntityMismatch.self) {
            try model.validate(entities: Parcel.self, Courier.self, Shelf.self)
        }
        #expect(error.differences == Self.differences + ["Shelf: the model has no such entity (Courier, Parcel)"])
        #expect(error.localizedDescription.contains("- Parcel.note: the entity has no such property\n"))
    }

    @Test func aCoordinatorRefusesAModelThatDoesNotFitItsClasses() throws {
        let model = try NSManagedObjectModel(drawn: Self.different)
        let error = try #require(throws: NSError.self) { try NSPersistentStoreCoordinator(validating: model) }
        #expect(error.singleErrors.map(\.localizedDescription) == Self.differences)
    }

    @Test func aKeyPathOfAClassHasTheNameOfItsProperty() {
        #expect(Article.keyName(for: \Article.quality) == "quality")
        #expect(Article.keyName(for: \Article.dimensions) == "dimensions")
        #expect(Article.keyName(for: \Article.vendor?.name) == "vendor.name")
        #expect(PaperNovel.keyName(for: \PaperNovel.author) == "author")
    }

    @Test func aModelOfClassesThatWasChangedIsCompared() throws {
        let model = NSManagedObjectModel(entities: Parcel.self, Courier.self)
        let parcel = try #require(model.entitiesByName["Parcel"])
        parcel.attributesByName["code"]?.isOptional = true
        parcel.attributesByName["weight"]?.attributeType = .floatAttributeType
        parcel.properties.removeAll { $0.name == "note" }
        let error = try #require(throws: NSError.self) { try NSPersistentStoreCoordinator(validating: model) }
        #expect(error.singleErrors.map(\.localizedDescription) == Array(Self.differences.prefix(3)))
        #expect(throws: NSError.self) { try assertRoundTrips(Parcel.self, in: model) }
    }

    @Test(arguments: [true, false]) func anOptionThatDoesNotFitItsAttributeIsAnErrorOfTheStack(isInMemory: Bool)
        async throws
    {
        let folder = try TemporaryFolder()
        let stack = DataStack(
            entities: Mislimited.self, store: isInMemory ? .inMemory : .file(folder.file("limits.sqlite")))
        let error = await #expect(throws: CocoaError.self) { try await stack.write { _ in } }
        let text = error?.localizedDescription ?? ""
        #expect(text.contains("Mislimited.name is not a number or a date: it has no range."))
        #expect(text.contains("Mislimited.size is not a text: it has no length."))
        #expect(text.contains("Mislimited.due is a date: its range needs dates."))
        #expect(text.contains("Mislimited.until is a date: its range needs dates."))
        #expect(text.contains("Mislimited.count is a number: its range needs numbers."))
    }
}

private let limit = AttributeOption.range(0...5)
private let length = AttributeOption.length(1...)

/// Its options are not written where the compiler could compare them with the types.
@Entity
final class Mislimited: NSManagedObject {
    @Attribute(limit) var name: String
    @Attribute(length) var size: Int
    // The compiler accepts these: a bound's type is not compared with the attribute's.
    @Attribute(.range(0...)) var due: Date
    @Attribute(.range(...5)) var until: Date?
    @Attribute(.range(Date.distantPast...Date.distantFuture)) var count: Int
}
