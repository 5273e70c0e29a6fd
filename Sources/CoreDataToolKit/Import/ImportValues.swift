import CoreData

/// Makes values of attributes from the values of a file.
struct ImportValues {
    /// The attributes whose bytes a value transformer made.
    let transformables: Set<ObjectIdentifier>
    /// The folder with files that hold binary values; nil if none was named.
    let blobs: URL?

    /// Returns the value for an attribute; nil for null.
    func value(_ json: JSONValue, of attribute: NSAttributeDescription) throws(RowMistake) -> Any? {
        do {
            return try plainValue(json, of: attribute)
        } catch {
            throw RowMistake(
                property: error.property.map { "\(attribute.name).\($0)" } ?? attribute.name, reason: error.reason)
        }
    }

    private func plainValue(_ json: JSONValue, of attribute: NSAttributeDescription) throws(RowMistake) -> Any? {
        if json == .null { return nil }
        if let composite = attribute as? NSCompositeAttributeDescription { return try elements(json, of: composite) }
        if transformables.contains(ObjectIdentifier(attribute)) { return try archive(json) }
        switch attribute.attributeType {
        case .integer16AttributeType: return NSNumber(value: try integer(json, Int16.self))
        case .integer32AttributeType: return NSNumber(value: try integer(json, Int32.self))
        case .integer64AttributeType: return NSNumber(value: try integer(json, Int64.self))
        case .booleanAttributeType:
            guard case .bool(let value) = json else { throw wrong(json, "true or false") }
            return NSNumber(value: value)
        case .doubleAttributeType: return NSNumber(value: try floating(json, Double.self))
        case .floatAttributeType: return NSNumber(value: try floating(json, Float.self))
        case .decimalAttributeType: return NSDecimalNumber(decimal: try decimal(json))
        case .stringAttributeType: return try text(json, "a text")
        case .dateAttributeType:
            return try parsed(json, "a date like 2026-01-31T12:00:00Z") { DateText.date(from: $0) }
        case .UUIDAttributeType: return try parsed(json, "a UUID") { UUID(uuidString: $0) }
        case .URIAttributeType: return try parsed(json, "a URI") { URL(string: $0) }
        case .binaryDataAttributeType: return try bytes(json)
        default: throw RowMistake(reason: "values of this type cannot be imported")
        }
    }

    private func wrong(_ json: JSONValue, _ wanted: String) -> RowMistake {
        let given =
            switch json {
            case .null: "null"
            case .bool(let value): "\(value)"
            case .number(let number): String(number.prefix(40)) + (number.count > 40 ? "…" : "")
            case .string(let text): "'\(DisplayWidth.truncated(text, to: 40))'"
            case .array: "a list"
            case .object: "an object"
            }
        return RowMistake(reason: "\(given) is not \(wanted)")
    }

    private func text(_ json: JSONValue, _ wanted: String) throws(RowMistake) -> String {
        guard case .string(let text) = json else { throw wrong(json, wanted) }
        return text
    }

    private func parsed<Value>(
        _ json: JSONValue, _ wanted: String, _ parse: (String) -> Value?
    ) throws(RowMistake) -> Value {
        guard let value = parse(try text(json, wanted)) else { throw wrong(json, wanted) }
        return value
    }

    // MARK: Numbers

    private func integer<Integer: FixedWidthInteger>(
        _ json: JSONValue, _: Integer.Type
    ) throws(RowMistake) -> Integer {
        guard case .number(let number) = json, let exact = ExactNumber(number) else {
            throw wrong(json, "a whole number")
        }
        guard let whole = exact.integerText else { throw wrong(json, "a whole number") }
        guard let value = Integer(whole) else { throw wrong(json, "within the limits of \(Integer.bitWidth) bits") }
        return value
    }

    private func floating<Number: BinaryFloatingPoint & LosslessStringConvertible>(
        _ json: JSONValue, _: Number.Type
    ) throws(RowMistake) -> Number {
        switch json {
        case .number(let number):
            guard let value = Number(number) else { throw wrong(json, "a number") }
            if !value.isFinite { throw wrong(json, "within the limits of a floating-point number") }
            return value
        case .string("inf"): return .infinity
        case .string("-inf"): return -.infinity
        case .string("nan"): return .nan
        default: throw wrong(json, "a number, \"inf\", \"-inf\" or \"nan\"")
        }
    }

    private func decimal(_ json: JSONValue) throws(RowMistake) -> Decimal {
        if case .string(let text) = json, text.lowercased() == "nan" { return .nan }
        guard case .number(let number) = json, let exact = ExactNumber(number) else { throw wrong(json, "a number") }
        guard let value = exact.decimal else {
            throw wrong(json, "within the limits of a decimal number (38 digits)")
        }
        return value
    }

    // MARK: Bytes

    /// Returns the only member of an object with this key; nil for anything else.
    private func member(_ key: String, of json: JSONValue) throws(RowMistake) -> JSONValue? {
        guard case .object(let members) = json else { return nil }
        let found = members.filter { $0.key == key }
        if found.count > 1 { throw RowMistake(reason: "the key '\(key)' is there twice") }
        return found.first?.value
    }

    private func bytes(_ json: JSONValue) throws(RowMistake) -> Data {
        if let file = try member("file", of: json) {
            guard case .string(let path) = file else { throw wrong(file, "the path of a file") }
            return try contents(of: path)
        }
        return try parsed(json, "base64, or {\"file\": \"PATH\"}") { Data(base64Encoded: $0) }
    }

    /// Returns the bytes of a transformable value. What is shown beside them does not count.
    private func archive(_ json: JSONValue) throws(RowMistake) -> Data? {
        guard case .object = json else { return try bytes(json) }
        if let archive = try member("archive", of: json) { return archive == .null ? nil : try bytes(archive) }
        if try member("file", of: json) != nil { return try bytes(json) }
        throw RowMistake(reason: "the object has no member 'archive' with the bytes of the value")
    }

    /// Returns the content of a file of the folder of binary values.
    private func contents(of path: String) throws(RowMistake) -> Data {
        guard let blobs else {
            throw RowMistake(reason: "the value is in the file '\(path)'. Name the folder of such files: --blobs DIR")
        }
        let folder = blobs.resolvingSymlinksInPath().standardizedFileURL
        let url = folder.appendingPathComponent(path).resolvingSymlinksInPath().standardizedFileURL
        guard !path.hasPrefix("/"), !path.split(separator: "/").contains(".."),
            url.path.hasPrefix(folder.path + "/")
        else { throw RowMistake(reason: "'\(path)' leads out of the folder of --blobs") }
        let type = (try? FileManager.default.attributesOfItem(atPath: url.path))?[.type] as? FileAttributeType
        guard type == .typeRegular, let data = try? Data(contentsOf: url) else {
            throw RowMistake(reason: "there is no readable file '\(path)' in the folder of --blobs")
        }
        return data
    }

    // MARK: Composites

    private func elements(
        _ json: JSONValue, of composite: NSCompositeAttributeDescription
    ) throws(RowMistake) -> [String: Any] {
        guard case .object(let members) = json else { throw wrong(json, "an object") }
        var values: [String: Any] = [:]
        var seen: Set<String> = []
        for member in members {
            guard let element = composite.elements.first(where: { $0.name == member.key }) else {
                let advice = NearNames.advice(
                    for: member.key, among: composite.elements.map(\.name), kind: "element")
                throw RowMistake(property: member.key, reason: "there is no such element. \(advice)")
            }
            guard seen.insert(member.key).inserted else {
                throw RowMistake(property: member.key, reason: "the key is there twice")
            }
            if let value = try value(member.value, of: element) { values[member.key] = value }
        }
        return values
    }
}
