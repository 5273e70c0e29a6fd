/// How a mapping makes the attributes of an object from those of a source object, for one layout of
/// each.
///
/// An attribute whose expression only reads a source attribute of the same kind gets its stored
/// value. Nearly all attributes are such ones, and an expression costs fifty times as much.
struct AttributeCopies {
    /// The attributes that get stored values, with their places among the mapping's attributes.
    let slots: [(source: Int, destination: Int, index: Int)]
    /// The places of the others.
    let expressions: [Int]
    /// Whether nil leaves an attribute's default: it is required, and has one.
    let keepsDefault: [Bool]
    private let source: EntityLayout
    private let destination: EntityLayout

    init(of values: [MappingStep.Value], from source: EntityLayout, to destination: EntityLayout) {
        (self.source, self.destination) = (source, destination)
        let found = values.map { Self.slots(of: $0, from: source, to: destination) }
        slots = found.enumerated().compactMap { index, pair in pair.map { ($0.source, $0.destination, index) } }
        expressions = values.indices.filter { found[$0] == nil }
        // As in a migration by statements.
        keepsDefault = values.map { value in
            let attribute = destination.slotByName[value.name].flatMap { destination.slots[$0].attribute }
            return attribute.map { !$0.isOptional && $0.defaultValue != nil } ?? false
        }
    }

    func areFor(_ source: EntityLayout, _ destination: EntityLayout) -> Bool {
        source === self.source && destination === self.destination
    }

    private static func slots(
        of value: MappingStep.Value, from source: EntityLayout, to destination: EntityLayout
    ) -> (source: Int, destination: Int)? {
        guard let name = value.expression.sourceProperty, let read = source.slotByName[name],
            let written = destination.slotByName[value.name], read < source.storedCount,
            written < destination.storedCount
        else { return nil }
        let kind = source.slots[read].kind
        return kind == destination.slots[written].kind && hasOneForm(kind) ? (read, written) : nil
    }

    /// Whether setting a value stores it as it was read, but for its range. A transformer is the
    /// program's, and a decimal may be written in several ways.
    private static func hasOneForm(_ kind: ValueKind) -> Bool {
        switch kind {
        case .string, .data, .uuid, .uri: true
        default: kind.isInteger || kind.isFloatingPoint
        }
    }

    /// A number as setting it stores it: others write numbers into files that an attribute's type
    /// does not have.
    static func fitted(_ value: StoredValue, _ kind: ValueKind) -> StoredValue {
        switch (value, kind) {
        case (.integer(let number), .int16): .integer(Int64(Int16(truncatingIfNeeded: number)))
        case (.integer(let number), .int32): .integer(Int64(Int32(truncatingIfNeeded: number)))
        case (.integer(let number), .boolean): .integer(number == 0 ? 0 : 1)
        case (.double(let number), .float): .double(Double(Float(number)))
        default: value
        }
    }
}
