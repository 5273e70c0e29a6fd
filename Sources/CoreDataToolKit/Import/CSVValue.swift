import CoreData

/// Makes of the text in a CSV field the value that JSON would have for a property.
enum CSVValue {
    /// - Parameter field: the text; nil for null.
    static func json(
        _ field: String?, of property: ImportSchema.Property, _ name: String
    ) throws(RowMistake) -> JSONValue {
        guard let field else { return .null }
        switch property {
        case .computed: return .null
        case .relationship(let relationship):
            return relationship.isToMany ? try parsed(field, name) : .string(field)
        case .attribute(let attribute):
            // Neither base64 nor a number begins like this.
            let isObject = field.hasPrefix("{")
            switch attribute.attributeType {
            case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .doubleAttributeType,
                .floatAttributeType, .decimalAttributeType:
                return number(field)
            case .booleanAttributeType:
                return ["true", "1"].contains(field)
                    ? .bool(true) : ["false", "0"].contains(field) ? .bool(false) : .string(field)
            case .compositeAttributeType: return try parsed(field, name)
            case .binaryDataAttributeType where isObject: return try parsed(field, name)
            default: return .string(field)
            }
        }
    }

    private static func number(_ field: String) -> JSONValue {
        if case .number(let number)? = try? JSONReader.value(Array(field.utf8)) { return .number(number) }
        return .string(field)
    }

    private static func parsed(_ field: String, _ name: String) throws(RowMistake) -> JSONValue {
        do {
            return try JSONReader.value(Array(field.utf8))
        } catch {
            throw RowMistake(property: name, reason: "this is no JSON: \(error.reason)")
        }
    }
}
