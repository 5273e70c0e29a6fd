import CoreData

/// A value of a query's result, which can be written in any format.
enum CellValue: Equatable {
    case null
    case bool(Bool)
    case number(String)
    case text(String)
    /// Seconds since 2001 in UTC, as stores keep them.
    case date(Double)
    case data(Data)
    /// Lists and dictionaries of a decoded transformable value.
    case structure(JSONValue)

    /// Creates a value from the key-value coding result of an attribute.
    init(_ value: Any?, type: NSAttributeType, isTransformable: Bool) {
        guard let value else {
            self = .null
            return
        }
        // The type decides which cast is tried first: failing casts are slow.
        let known: CellValue? =
            switch type {
            case .stringAttributeType: (value as? String).map { .text($0) }
            case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType:
                (value as? NSNumber).map { .number(String($0.int64Value)) }
            case .booleanAttributeType: (value as? NSNumber).map { .bool($0.boolValue) }
            case .decimalAttributeType: (value as? NSDecimalNumber).map { .number(Self.text(of: $0.decimalValue)) }
            case .floatAttributeType:
                (value as? NSNumber).map { Self.floating(Double($0.floatValue), "\($0.floatValue)") }
            case .doubleAttributeType: (value as? NSNumber).map { Self.floating($0.doubleValue, "\($0.doubleValue)") }
            case .dateAttributeType: (value as? Date).map { .date($0.timeIntervalSinceReferenceDate) }
            default: isTransformable ? (value as? Data).map(Self.decoded) : nil
            }
        self = known ?? Self.plain(value)
    }

    /// Creates a value from the dictionary of a composite attribute, its elements in declared
    /// order.
    ///
    /// - Parameter odd: the values to show for elements that contradict the model, by their paths
    ///   in the attribute.
    init(
        _ value: Any?, of composite: NSCompositeAttributeDescription, _ transformables: Set<ObjectIdentifier>,
        odd: [String: CellValue] = [:]
    ) {
        let values = value as? [String: Any]
        if values == nil, odd.isEmpty {
            self = .null
            return
        }
        self = .structure(
            .object(
                composite.elements.compactMap { element in
                    if let shown = odd[element.name] { return JSONValue.Member(element.name, shown.json) }
                    let value = values?[element.name]
                    if let inner = element as? NSCompositeAttributeDescription {
                        let odd = Self.odd(odd, in: inner)
                        if value == nil, odd.isEmpty { return nil }
                        return JSONValue.Member(
                            element.name, CellValue(value, of: inner, transformables, odd: odd).json)
                    }
                    guard let value else { return nil }
                    let isTransformable = transformables.contains(ObjectIdentifier(element))
                    return JSONValue.Member(
                        element.name,
                        CellValue(value, type: element.attributeType, isTransformable: isTransformable).json)
                }))
    }

    /// Returns the faulty values of an inner composite attribute, by their paths in that attribute.
    private static func odd(_ odd: [String: CellValue], in inner: NSCompositeAttributeDescription) -> [String:
        CellValue]
    {
        let prefix = inner.name + "."
        let elements = odd.filter { $0.key.hasPrefix(prefix) }.map {
            (String($0.key.dropFirst(prefix.count)), $0.value)
        }
        return Dictionary(uniqueKeysWithValues: elements)
    }

    /// Creates the identity of an object: `Entity/p12`.
    init(_ objectID: NSManagedObjectID) { self = .text(ObjectName(objectID).text) }

    init(_ value: SQLiteReader.Value) {
        switch value {
        case .null: self = .null
        case .integer(let number): self = .number("\(number)")
        case .real(let number): self = Self.floating(number, "\(number)")
        case .text(let text): self = .text(text)
        case .blob(let data): self = .data(data)
        }
    }

    /// Creates a number of single precision, as short as it can be.
    init(float number: Double) {
        let float = Float(number)
        self = Self.floating(Double(float), "\(float)")
    }

    /// Creates an exact number from a decimal text; the text itself if it is no number.
    init(decimal text: String) {
        guard let decimal = Decimal(string: text) else {
            self = .text(text)
            return
        }
        self = .number(Self.text(of: decimal))
    }

    private static func text(of decimal: Decimal) -> String { decimal.isNaN ? "NaN" : decimal.description }

    private static func floating(_ value: Double, _ text: String) -> CellValue {
        guard value.isFinite else { return .text(text) }
        return .number(text.hasSuffix(".0") ? String(text.dropLast(2)) : text)
    }

    /// Returns the value of a transformable attribute with its bytes, from which it can be
    /// imported.
    static func archived(_ data: Data) -> CellValue {
        var value = JSONValue.null
        if case let decoded = decoded(data), decoded != .data(data) { value = decoded.json }
        return .structure(.object([.init("value", value), .init("archive", .string(data.base64EncodedString()))]))
    }

    private static func decoded(_ data: Data) -> CellValue {
        guard let value = StoreInspection.plainValue(keyedArchive: data) else { return .data(data) }
        return plain(value)
    }

    /// Returns values of Foundation's classes, independent of the model.
    private static func plain(_ value: Any) -> CellValue {
        switch value {
        case is NSNull: return .null
        case let text as String: return .text(text)
        case let date as Date: return .date(date.timeIntervalSinceReferenceDate)
        case let uuid as UUID: return .text(uuid.uuidString)
        case let url as URL: return .text(url.absoluteString)
        case let data as Data: return .data(data)
        case let number as NSDecimalNumber: return .number(text(of: number.decimalValue))
        case let number as Decimal: return .number(text(of: number))
        case let number as NSNumber:
            let type = String(cString: number.objCType)
            if type == "f" || type == "d" { return floating(number.doubleValue, "\(number.doubleValue)") }
            return .number("\(number)")
        case let list as [Any]: return .structure(.array(list.map { plain($0).json }))
        case let dictionary as [String: Any]:
            let members = dictionary.sorted { $0.key < $1.key }.map { JSONValue.Member($0.key, plain($0.value).json) }
            return .structure(.object(members))
        default: return .text("\(value)")
        }
    }

    // MARK: Writing

    /// The value in JSON; bytes as base64.
    var json: JSONValue {
        switch self {
        case .null: .null
        case .bool(let value): .bool(value)
        case .number("NaN"): .null
        case .number(let number): .number(number)
        case .text(let text): .string(text)
        case .date(let seconds): .string(DateText.exactText(seconds))
        case .data(let data): .string(data.base64EncodedString())
        case .structure(let value): value
        }
    }

    /// The value for programs that read text; bytes as base64, empty for null.
    var plainText: String {
        switch self {
        case .null: ""
        case .bool(let value): value ? "true" : "false"
        case .number(let number): number
        case .text(let text): text
        case .date(let seconds): DateText.exactText(seconds)
        case .data(let data): data.base64EncodedString()
        case .structure(let value): value.compact
        }
    }

    var tableText: String {
        switch self {
        case .null: "-"
        case .date(let seconds): DateText.text(of: Date(timeIntervalSinceReferenceDate: seconds))
        case .data(let data): "<\(data.count) \(data.count == 1 ? "byte" : "bytes")>"
        default: DisplayWidth.printable(plainText)
        }
    }
}
