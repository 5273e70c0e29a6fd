import Foundation
import Predicates

/// Builds a keyed archive as Apple's archiver would. Objects are queued, so that the object graph
/// may be of any depth.
package final class ObjectArchiveWriter {
    package typealias Entries = [String: PropertyListValue]

    private var objects: [PropertyListValue] = [.string("$null")]
    private var textNumbers: [LiteralText: Int] = [:]
    private var classNumbers: [String: Int] = [:]
    private var objectNumbers: [ObjectIdentifier: Int] = [:]
    private var kept: [AnyObject] = []
    private var waiting: [(number: Int, classNames: [String], entries: () throws -> Entries)] = []

    package static let null = PropertyListValue.uid(0)

    /// Writes an archive; its root is the reference that `root` returns.
    ///
    /// - Parameter key: The key of the root object.
    package static func data(
        key: String = "root", root: (ObjectArchiveWriter) throws -> PropertyListValue
    ) throws -> Data {
        let writer = ObjectArchiveWriter()
        let root = try root(writer)
        var next = 0
        while next < writer.waiting.count {
            let (number, classNames, entries) = writer.waiting[next]
            next += 1
            var written = try entries()
            written["$class"] = writer.classReference(classNames)
            writer.objects[number] = .dictionary(written)
        }
        return data(key: key, root: root, objects: writer.objects)
    }

    /// Writes an archive of a whole table of objects.
    static func data(key: String, root: PropertyListValue, objects: [PropertyListValue]) -> Data {
        BinaryPropertyListWriter.data(
            of: .dictionary([
                "$archiver": .string("NSKeyedArchiver"), "$version": .integer(100_000),
                "$top": .dictionary([key: root]), "$objects": .array(objects),
            ]))
    }

    /// Returns a reference to a text; equal texts are one object.
    package func text(_ text: String?) -> PropertyListValue {
        guard let text else { return Self.null }
        if let number = textNumbers[LiteralText(text)] { return .uid(number) }
        let number = add(.string(text))
        textNumbers[LiteralText(text)] = number
        return .uid(number)
    }

    /// Returns a reference to an object that is written once, however often it is referred to.
    /// - Parameter classNames: The object's class and its superclasses, without `NSObject`.
    func shared(
        _ object: AnyObject, _ classNames: [String], _ entries: @escaping () throws -> Entries
    ) -> PropertyListValue {
        if let number = objectNumbers[ObjectIdentifier(object)] { return .uid(number) }
        let reference = self.object(classNames, entries)
        if case .uid(let number) = reference { objectNumbers[ObjectIdentifier(object)] = number }
        kept.append(object)
        return reference
    }

    /// Returns a reference to an object that is not shared.
    package func object(_ classNames: [String], _ entries: @escaping () throws -> Entries) -> PropertyListValue {
        let number = add(.null)
        waiting.append((number, classNames, entries))
        return .uid(number)
    }

    package func array(_ elements: [PropertyListValue], className: String = "NSArray") -> PropertyListValue {
        let classNames = className == "NSMutableArray" ? ["NSMutableArray", "NSArray"] : [className]
        return object(classNames) { ["NS.objects": .array(elements)] }
    }

    /// Returns a reference to a dictionary with text keys, in order of the keys.
    package func dictionary(_ entries: [(String, PropertyListValue)], isMutable: Bool) -> PropertyListValue {
        let sorted = entries.sorted { $0.0 < $1.0 }
        let keys = sorted.map { text($0.0) }
        return object(isMutable ? ["NSMutableDictionary", "NSDictionary"] : ["NSDictionary"]) {
            ["NS.keys": .array(keys), "NS.objects": .array(sorted.map(\.1))]
        }
    }

    /// Returns a reference to a plain value of a property list.
    package func value(_ value: PropertyListValue) -> PropertyListValue { .uid(add(value)) }

    /// Returns a reference to a value of Foundation's plain kinds; nil for a value of another kind.
    package func plainValue(_ value: Any) -> PropertyListValue? {
        switch value {
        case let value as String: return text(value)
        case let value as NSDecimalNumber:
            return object(["NSDecimalNumber", "NSNumber", "NSValue"]) {
                ArchivedDecimal.entries(of: value)
            }
        case let value as NSNumber: return number(value)
        case let value as Date: return object(["NSDate"]) { ["NS.time": .real(value.timeIntervalSinceReferenceDate)] }
        case let value as Data: return .uid(add(.data(value)))
        case let value as UUID:
            let bytes = withUnsafeBytes(of: value.uuid) { Data($0) }
            return object(["NSUUID"]) { ["NS.uuidbytes": .data(bytes)] }
        case let value as URL:
            let relative = text(value.absoluteString)
            return object(["NSURL"]) { ["NS.base": Self.null, "NS.relative": relative] }
        case let values as [Any]: return array(values.compactMap { plainValue($0) })
        case let values as [AnyHashable: Any]:
            let entries = values.compactMap { key, value -> (String, PropertyListValue)? in
                guard let key = key.base as? String, let value = plainValue(value) else { return nil }
                return (key, value)
            }
            return dictionary(entries, isMutable: false)
        default:
            if let number = AttributeValue.normalized(value, for: .undefinedAttributeType) as? NSNumber {
                return self.number(number)
            }
            return nil
        }
    }

    private func number(_ number: NSNumber) -> PropertyListValue {
        switch number.kind {
        case .boolean: return .uid(add(.boolean(number.boolValue)))
        case .real: return .uid(add(.real(number.doubleValue)))
        case .integer where number.objCType.pointee == 0x51 && number.uint64Value > UInt64(Int64.max):
            return .uid(add(.unsignedInteger(number.uint64Value)))
        case .integer: return .uid(add(.integer(number.int64Value)))
        }
    }

    private func classReference(_ classNames: [String]) -> PropertyListValue {
        let name = classNames.first ?? "NSObject"
        if let number = classNumbers[name] { return .uid(number) }
        let number = add(
            .dictionary([
                "$classname": .string(name),
                "$classes": .array((classNames + ["NSObject"]).map { .string($0) }),
            ]))
        classNumbers[name] = number
        return .uid(number)
    }

    /// The number of the object that is added next.
    var nextNumber: Int { objects.count }

    func add(_ value: PropertyListValue) -> Int {
        objects.append(value)
        return objects.count - 1
    }
}

extension NSNumber {
    /// The kind of value that a number was created from.
    package enum Kind {
        case boolean, integer, real
    }

    package var kind: Kind {
        switch objCType.pointee {
        case 0x42: .boolean
        case 0x63 where self === NSNumber(value: true) || self === NSNumber(value: false): .boolean
        case 0x66, 0x64: .real
        default: .integer
        }
    }
}
