/// The value as which a required property reads when the storage has no value for it.
public enum _PropertyPlaceholder {
    /// Returns an empty value or the first value of the type if the storage has none, as numbers
    /// read 0 and texts are empty; otherwise stops the program.
    ///
    /// An object has no values once its row or its context is gone.
    @inline(never)
    public static func value<Value>(
        _ object: NSManagedObject, _ name: StaticString, isMissing: @autoclosure () -> Bool,
        problem: @autoclosure () -> String
    ) -> Value {
        if object._isKeyPathProbe {
            if let value = object._replaceProbeValue(among: candidates(of: Value.self)) { return value }
            preconditionFailure(
                "A key path of a subclass or through a relationship cannot name \(type(of: object)).\(name), as no "
                    + "\(Value.self) could be "
                    + "made up to read: write the name in a predicate's format or a sort descriptor's key, or make "
                    + "the property optional."
            )
        }
        let isMissing = isMissing()
        if isMissing, let value = missing(Value.self) { return value }
        if isMissing {
            preconditionFailure(
                "\(type(of: object)).\(name) is nil, and no \(Value.self) could be made up in its place "
                    + "(\(object.objectID)): the object or "
                    + "its store is gone, it was never given a value, or others have emptied it in the store, where "
                    + "the row has to be corrected. "
                    + "value(forKey:) gives nil for it, and validateForUpdate() throws; or declare the property "
                    + "optional."
            )
        }
        preconditionFailure(
            "\(type(of: object)).\(name) is a \(Value.self), but the store holds no value of this type: \(problem()). "
                + "Declare it optional, or correct the store.")
    }

    /// Returns the value as which an optional property reads if its stored value is invalid: nil.
    @inline(never)
    public static func optional<Wrapped>(_ object: NSManagedObject, _ type: Wrapped.Type) -> Wrapped? {
        guard object._isKeyPathProbe else { return nil }
        return object._replaceProbeValue(among: candidates(of: type).map { Optional($0) }) ?? nil
    }

    /// Returns an empty value or the first value of a type; nil if none could be constructed.
    static func missing<Value>(_ type: Value.Type) -> Value? { candidates(of: type).first }

    /// Returns values of a type, an empty one first if the type has one; empty if none could be
    /// constructed.
    private static func candidates<Value>(of type: Value.Type) -> [Value] {
        if let cases = type as? any CaseIterable.Type, let values = all(of: cases) as? [Value], !values.isEmpty {
            return values
        }
        let cases = EnumerationCases.all(of: type)
        if !cases.isEmpty { return cases }
        if let type = type as? any Decodable.Type, let values = decoded(type) as? [Value], !values.isEmpty {
            return values
        }
        guard let type = type as? any RawRepresentable.Type else { return [] }
        return PropertySamples.values(of: type) as? [Value] ?? []
    }

    private static func all<Cases: CaseIterable>(of type: Cases.Type) -> Any { Array(type.allCases) }

    private static func decoded<Value: Decodable>(_ type: Value.Type) -> Any {
        let texts = ["[]", "{}", "0", "\"\""].compactMap { try? JSONDecoder().decode(type, from: Data($0.utf8)) }
        if !texts.isEmpty { return texts }
        return [SampleDecoder.empty, SampleDecoder(variant: 0), SampleDecoder(variant: 1)].compactMap {
            try? $0.value(type)
        }
    }
}
