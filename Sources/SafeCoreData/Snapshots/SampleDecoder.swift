/// A decoder without input that constructs a sample value of the requested type.
///
/// Collections have one element; texts and numbers depend on the variant. A type with stricter
/// requirements throws.
struct SampleDecoder: Decoder {
    let variant: Int
    /// Whether texts, collections and optionals are empty and numbers 0.
    private(set) var isEmpty = false
    var codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]
    /// The keys that are requested by the value under construction.
    private var keys = CodedKeys()
    /// The recorder of stored properties whose keys are not requested.
    private let losses: KeyLosses?

    /// The greatest nesting depth of types, which ends recursive types.
    private static let depthLimit = 12

    init(variant: Int, losses: KeyLosses? = nil) {
        self.variant = variant
        self.losses = losses
    }

    /// A decoder whose values are as empty as their types allow.
    static var empty: SampleDecoder {
        var decoder = SampleDecoder(variant: 0)
        decoder.isEmpty = true
        return decoder
    }

    fileprivate func deeper(_ key: (any CodingKey)?) throws -> SampleDecoder {
        guard codingPath.count < Self.depthLimit else {
            throw DecodingError.dataCorrupted(.init(codingPath: codingPath, debugDescription: "The type holds itself."))
        }
        var copy = self
        copy.codingPath.append(key ?? _SnapshotKey(stringValue: "element"))
        return copy
    }

    func value<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let made: Any? =
            switch type {
            case is String.Type: isEmpty ? "" : "text \(variant)"
            case is Bool.Type: !isEmpty && variant % 2 == 0
            case is Double.Type: isEmpty ? 0 : Double(variant) + 0.5
            case is Float.Type: isEmpty ? 0 : Float(variant) + 0.5
            case is Date.Type: Date(timeIntervalSinceReferenceDate: Double(variant) * 86400)
            case is UUID.Type: UUID()
            case is URL.Type: URL(string: "https://example.com/\(variant)")
            case is Data.Type: isEmpty ? Data() : Data([UInt8(truncatingIfNeeded: variant)])
            case is Decimal.Type: Decimal(variant)
            case let integer as any FixedWidthInteger.Type: integer.init(exactly: variant)
            case let cases as any CaseIterable.Type: Self.first(of: cases, variant)
            default: Self.element(of: EnumerationCases.all(of: type), variant)
            }
        if let made = made as? Value { return made }
        var decoder = self
        decoder.keys = CodedKeys()
        let value = try Value(from: decoder)
        losses?.note(value, decoder.keys)
        return value
    }

    private static func first<Cases: CaseIterable>(of type: Cases.Type, _ variant: Int) -> Any? {
        element(of: Array(type.allCases), variant)
    }

    private static func element<Value>(of values: [Value], _ variant: Int) -> Any? {
        values.isEmpty ? nil : values[variant % values.count]
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(SampleKeyedContainer<Key>(decoder: self, keys: keys))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { SampleUnkeyedContainer(decoder: self) }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { SampleSingleContainer(decoder: self) }
}

private struct SampleKeyedContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: SampleDecoder
    let keys: CodedKeys
    var codingPath: [any CodingKey] { decoder.codingPath }
    /// One key if the keys are enumeration cases: an enumeration with associated values has one
    /// key, the name of the case.
    var allKeys: [Key] {
        let keys = EnumerationCases.all(of: Key.self)
        return keys.isEmpty ? [] : [keys[decoder.variant % keys.count]]
    }

    func contains(_ key: Key) -> Bool { true }
    func decodeNil(forKey key: Key) throws -> Bool { decoder.isEmpty }
    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        keys.insert(key)
        return try decoder.deeper(key).value(type)
    }
    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) throws
        -> KeyedDecodingContainer<Nested>
    {
        keys.insert(key)
        return try decoder.deeper(key).container(keyedBy: type)
    }
    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        keys.insert(key)
        return try decoder.deeper(key).unkeyedContainer()
    }
    func superDecoder() throws -> any Decoder { try decoder.deeper(nil) }
    func superDecoder(forKey key: Key) throws -> any Decoder { try decoder.deeper(key) }
}

private struct SampleUnkeyedContainer: UnkeyedDecodingContainer {
    let decoder: SampleDecoder
    var codingPath: [any CodingKey] { decoder.codingPath }
    var count: Int? { decoder.isEmpty ? 0 : 1 }
    var isAtEnd: Bool { decoder.isEmpty || currentIndex > 0 }
    private(set) var currentIndex = 0

    init(decoder: SampleDecoder) { self.decoder = decoder }

    private mutating func next() throws -> SampleDecoder {
        currentIndex += 1
        return try decoder.deeper(nil)
    }

    mutating func decodeNil() throws -> Bool { decoder.isEmpty }
    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try next().value(type) }
    mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) throws -> KeyedDecodingContainer<Nested>
    {
        try next().container(keyedBy: type)
    }
    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { try next().unkeyedContainer() }
    mutating func superDecoder() throws -> any Decoder { try next() }
}

private struct SampleSingleContainer: SingleValueDecodingContainer {
    let decoder: SampleDecoder
    var codingPath: [any CodingKey] { decoder.codingPath }

    func decodeNil() -> Bool { decoder.isEmpty }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try decoder.deeper(nil).value(type) }
}
