import Foundation

/// Properties of Foundation's value types that Objective-C would find by name.
enum KnownProperties {
    static func value(_ key: String, of value: Any) -> Any? {
        switch ComparableValue(value) {
        case .string(let text): return string(key, text)
        case .date(let seconds): return date(key, Date(timeIntervalSinceReferenceDate: seconds))
        case .integer, .double, .decimal: return number(key, ComparableValue(value))
        case .object(let url as URL): return self.url(key, url)
        case .object(let data as Data): return key == "length" ? data.count : nil
        case .object(let id as UUID): return key == "UUIDString" ? id.uuidString : nil
        case .object(let object as NSObject): return key == "description" ? object.description : nil
        default: return nil
        }
    }

    private static func string(_ key: String, _ text: String) -> Any? {
        switch key {
        case "length": text.utf16.count
        case "uppercaseString": text.uppercased()
        case "lowercaseString": text.lowercased()
        case "capitalizedString": text.capitalized
        case "integerValue", "intValue", "longLongValue": Int(text) ?? 0
        case "doubleValue", "floatValue": Double(text) ?? 0
        case "boolValue": Bool(text.lowercased()) ?? ((Int(text) ?? 0) != 0)
        case "description": text
        default: nil
        }
    }

    private static func date(_ key: String, _ date: Date) -> Any? {
        switch key {
        case "timeIntervalSinceReferenceDate": date.timeIntervalSinceReferenceDate
        case "timeIntervalSince1970": date.timeIntervalSince1970
        case "timeIntervalSinceNow": date.timeIntervalSinceNow
        case "description": date.description
        default: nil
        }
    }

    private static func number(_ key: String, _ value: ComparableValue) -> Any? {
        switch key {
        case "doubleValue", "floatValue": value.doubleValue
        case "integerValue", "intValue", "longLongValue", "shortValue": Number(value)?.integer.map { Int($0) }
        case "boolValue": value.doubleValue.map { $0 != 0 }
        case "decimalValue": value.decimalValue
        case "stringValue", "description": value.stringValue
        default: nil
        }
    }

    private static func url(_ key: String, _ url: URL) -> Any? {
        switch key {
        case "absoluteString", "description": url.absoluteString
        case "path": url.path
        case "host": url.host
        case "scheme": url.scheme
        case "lastPathComponent": url.lastPathComponent
        case "pathExtension": url.pathExtension
        default: nil
        }
    }
}
