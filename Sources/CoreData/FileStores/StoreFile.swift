import Foundation

/// The content of a file that holds a whole store, in one format.
protocol StoreFile: Sendable {
    /// The type of the stores.
    static var storeType: String { get }

    /// The features of these entities that the format cannot hold, as parts of a sentence.
    static func unsupportedFeatures(of entities: [NSEntityDescription]) -> [String]

    /// A new store without objects.
    init()

    /// - Throws: `ModelReadingError` when the data are not such a file.
    init(_ data: Data) throws

    /// The metadata. Of the store's type and UUID, the format may leave out either.
    func metadata() throws -> [String: Any]

    /// - Throws: an error when a value is no property list value.
    mutating func setMetadata(_ metadata: [String: Any]) throws

    /// The highest number that an object of the store has had.
    var lastKey: Int64 { get }

    /// The objects, in any order.
    ///
    /// - Throws: `ModelReadingError` or `StoreFileProblem` when they are damaged, or do not fit the
    ///   model.
    func objects(_ entities: [FileEntity]) throws -> [FileObject]

    mutating func setObjects(_ objects: [FileObject], _ entities: [FileEntity], lastKey: Int64) throws

    /// The whole file.
    func data() throws -> Data
}

/// One object of a file. Objects of all entities share one sequence of numbers.
struct FileObject {
    // unowned(unsafe): the model's layouts own it.
    unowned(unsafe) let layout: EntityLayout
    let key: Int64
    /// The values of attributes that are not nil.
    let values: RowValues
    /// The numbers of related objects, by slot.
    var related: [(slot: Int, keys: [Int64])] = []

    init(_ layout: EntityLayout, key: Int64) {
        self.layout = layout
        self.key = key
        values = RowValues.make(slotCount: layout.slots.count)
    }
}

/// The properties of an entity that files hold.
struct FileEntity {
    // unowned(unsafe): the model's layouts own it.
    unowned(unsafe) let layout: EntityLayout
    /// By name. Each element of a composite attribute is an attribute, named by its path.
    let attributes: [PropertySlot]
    /// By name.
    let relationships: [PropertySlot]

    init(_ layout: EntityLayout) {
        self.layout = layout
        attributes = layout.slots[..<layout.storedCount].filter { !$0.kind.isRelationship }.sorted { $0.name < $1.name }
        relationships = layout.persistentRelationships.sorted { $0.name < $1.name }
    }
}

/// A reason why the objects of a file cannot be read. It reads on from "The store … ".
struct StoreFileProblem: Error {
    let text: String
    var code = CocoaError.Code.fileReadCorruptFile

    /// The error for an entity or a property that the model does not have.
    static func unknown(_ text: String) -> StoreFileProblem {
        StoreFileProblem(text: text, code: .persistentStoreIncompatibleSchema)
    }

    /// The error for a value that is not of its attribute's type.
    ///
    /// - Parameter text: The value, if it is a text.
    static func value(_ slot: PropertySlot, _ object: FileObject, text: String? = nil) -> StoreFileProblem {
        let type = (slot.attribute?.attributeType ?? .undefinedAttributeType).displayName
        return StoreFileProblem(
            text: "has a value\(text.map { " '\($0.prefix(80))'" } ?? "") of '\(slot.name)' of the object "
                + "\(object.key) of entity '\(object.layout.name)', which is of the type \(type).")
    }
}
