import Foundation

/// Elements of composite attributes, whose dictionaries are archived in one column.
enum CompositeElement {
    /// The kind of an element's values in SQL. Decimals are numbers there: no column gives them its affinity.
    static func kind(of element: NSAttributeDescription) -> ValueKind? {
        let kind = ModelLayout.kind(of: element)
        return kind == .decimal ? .double : kind
    }

    /// The value that the names of a path lead to, as SQL sees it; `.null` for none.
    static func value(at path: String, inArchive data: Data) -> PropertyValue {
        var value = TransformableArchive.value(from: data)
        for name in path.split(separator: ".") {
            guard let dictionary = value as? [String: Any] else { return .null }
            value = dictionary[String(name)]
        }
        switch PropertyConversion.unwrapped(value) {
        case let string as String: return .string(string)
        case let date as Date: return .double(date.timeIntervalSinceReferenceDate)
        case let data as Data: return .data(data)
        case let uuid as UUID: return .uuid(uuid)
        case let url as URL: return .string(url.absoluteString)
        case let decimal as NSDecimalNumber: return .double(decimal.doubleValue)
        case let number as NSNumber:
            let isFraction = ["d", "f"].contains(String(cString: number.objCType))
            return isFraction ? .double(number.doubleValue) : .integer(number.int64Value)
        default: return .null
        }
    }
}
