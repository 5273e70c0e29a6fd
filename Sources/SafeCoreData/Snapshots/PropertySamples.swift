/// Sample values for types that accept only some values of their attribute type, for tests that
/// fill objects.
enum PropertySamples {
    /// Returns valid raw values of a type; empty if none was found.
    static func rawValues<Value: RawRepresentable>(of type: Value.Type) -> [Any]
    where Value.RawValue: NativeAttributeValue {
        if let cases = type as? any CaseIterable.Type {
            func raws<Cases: CaseIterable>(_ cases: Cases.Type) -> [Any] {
                cases.allCases.compactMap { ($0 as? Value)?.rawValue }
            }
            return raws(cases)
        }
        let cases = EnumerationCases.all(of: type).map(\.rawValue)
        return cases.isEmpty ? guesses(Value.RawValue.self).filter { Value(rawValue: $0) != nil } : cases
    }

    /// Returns some values of a type with raw values, as an array of the type; empty if none was
    /// found.
    static func values<Value: RawRepresentable>(of type: Value.Type) -> Any {
        func values<Raw: NativeAttributeValue>(_ raw: Raw.Type) -> [Value] {
            guesses(raw).compactMap { ($0 as? Value.RawValue).flatMap { Value(rawValue: $0) } }
        }
        return (Value.RawValue.self as? any NativeAttributeValue.Type).map { values($0) } ?? []
    }

    private static func guesses<Raw: NativeAttributeValue>(_ type: Raw.Type) -> [Raw] {
        let guesses: [any NativeAttributeValue] =
            switch type._attributeType {
            case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType: Array(0...127)
            case .doubleAttributeType: [0.5, 1.0, 2.0, 10.0]
            case .floatAttributeType: [Float(0.5), 1, 2, 10]
            case .booleanAttributeType: [true, false]
            case .dateAttributeType:
                [Date(timeIntervalSinceReferenceDate: 0), Date(timeIntervalSinceReferenceDate: 86400)]
            case .UUIDAttributeType: [UUID(), UUID()]
            case .stringAttributeType: ["a", "b", "A", "B", "0", "1"]
            default: []
            }
        return guesses.compactMap { guess in
            if let guess = guess as? Raw { return guess }
            // An integer of another width.
            guard let integer = guess as? Int else { return nil }
            return (type as? any FixedWidthInteger.Type).flatMap { $0.init(exactly: integer) as? Raw }
        }
    }

    /// Returns values of composite attributes; empty if none could be constructed. The element
    /// without a name is the one that has the name of the property.
    static func composites<Value: CompositeValue>(_ type: Value.Type) -> [Any] {
        decoded(type).map { CompositeElements.dictionary(of: $0, property: "") }
    }

    /// Returns encoded values; empty if none could be constructed.
    static func encoded<Value: Codable>(_ type: Value.Type) -> [Any] { decoded(type).map { CodedValue.encode($0) } }

    private static func decoded<Value: Decodable>(_ type: Value.Type) -> [Value] {
        (0..<4).compactMap { try? SampleDecoder(variant: $0).value(type) }
    }

    /// Returns the stored properties that a type and its nested types do not encode, such as
    /// `Dimensions.height`.
    static func uncodedProperties<Value: Codable>(of type: Value.Type) -> [String] {
        let losses = KeyLosses()
        for variant in 0..<4 { _ = try? SampleDecoder(variant: variant, losses: losses).value(Value.self) }
        return losses.properties.sorted()
    }
}

extension EntityObject {
    /// Returns sample values for a property that key-value coding accepts; nil if every value of
    /// the attribute's type is valid.
    package static func _samples(of name: String) -> [Any]? {
        var finder = SampleFinder(name: name)
        try? _snapshotType.visitAll(&finder)
        return finder.samples
    }
}

private struct SampleFinder: _SnapshotVisitor {
    let name: String
    var samples: [Any]?

    mutating func visit<Kind: _SnapshotKind>(
        _ property: inout SnapshotProperty<Kind>, _ name: StaticString, isDerived: Bool
    ) {
        guard name.description == self.name else { return }
        samples = Kind._samples()?.map { sample in
            guard var values = sample as? [String: Any], let value = values.removeValue(forKey: "") else {
                return sample
            }
            values[self.name] = value
            return values
        }
    }
}
