import CoreData
import TestSupport

/// The objects of a store as texts, one for each: `Book b1 pages=12 shelf=A tags=x,y`.
///
/// An object is known by its attribute `name`. Other properties follow in the order of their names,
/// elements of composite attributes with their paths; those without a value are left out. The
/// objects of ordered relationships have `>` between them.
enum StoreLines {
    // MARK: Writing

    /// Inserts the objects of some lines.
    static func insert(_ lines: [String], _ context: NSManagedObjectContext) throws {
        var objects: [String: NSManagedObject] = [:]
        let parsed = lines.map { line in
            let words = line.split(separator: " ").map(String.init)
            let object = context.insert(words[0], ["name": words[1]])
            objects[words[1]] = object
            let values = words.dropFirst(2).map { word in
                let end = word.firstIndex(of: "=") ?? word.startIndex
                return (String(word[..<end]), String(word[word.index(after: end)...]))
            }
            return (object, values)
        }
        // Keys are given in the order of the lines.
        let ids = parsed.map(\.0)
        for (object, values) in parsed {
            // What a line does not name has no value, whatever the default.
            for (name, attribute) in object.entity.attributesByName where attribute.isOptional {
                if name != "name", !(attribute is NSDerivedAttributeDescription) { object.setValue(nil, forKey: name) }
            }
            for (path, text) in values { set(path, text, of: object, among: objects) }
        }
        try context.obtainPermanentIDs(for: ids)
    }

    private static func set(
        _ path: String, _ text: String, of object: NSManagedObject, among objects: [String: NSManagedObject]
    ) {
        let names = path.split(separator: ".").map(String.init)
        switch object.entity.propertiesByName[names[0]] {
        case let composite as NSCompositeAttributeDescription:
            var values = object.value(forKey: names[0]) as? [String: Any] ?? [:]
            let element = composite.elements.first { $0.name == names[1] }
            values[names[1]] = element.flatMap { value(text, $0.attributeType) }
            object.setValue(values, forKey: names[0])
        case is NSDerivedAttributeDescription: break
        case let attribute as NSAttributeDescription:
            object.setValue(value(text, attribute.attributeType), forKey: path)
        case let relationship as NSRelationshipDescription:
            let others = text.split { ",>".contains($0) }.compactMap { objects[String($0)] }
            if !relationship.isToMany {
                object.setValue(others.first, forKey: path)
            } else if relationship.isOrdered {
                object.setValue(NSOrderedSet(array: others), forKey: path)
            } else {
                object.setValue(NSSet(array: others), forKey: path)
            }
        default: break
        }
    }

    private static func value(_ text: String, _ type: NSAttributeType) -> Any? {
        switch type {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType:
            Int64(text).map { NSNumber(value: $0) }
        case .booleanAttributeType: NSNumber(value: text == "1")
        case .doubleAttributeType, .floatAttributeType: Double(text).map { NSNumber(value: $0) }
        case .decimalAttributeType: NSDecimalNumber(string: text)
        case .dateAttributeType: Double(text).map { Date(timeIntervalSinceReferenceDate: $0) }
        case .UUIDAttributeType: UUID(uuidString: text)
        case .URIAttributeType: URL(string: text)
        case .binaryDataAttributeType: Data(base64Encoded: text)
        default: text
        }
    }

    // MARK: Reading

    /// A number's text, which is the same in all types.
    static func text(ofNumber text: String) -> String { text.hasSuffix(".0") ? String(text.dropLast(2)) : text }

    /// The lines of all objects, sorted.
    static func read(_ context: NSManagedObjectContext) throws -> [String] {
        let model = context.persistentStoreCoordinator?.managedObjectModel
        let roots = (model?.entities ?? []).filter { $0.superentity == nil }
        return try roots.flatMap { try context.objects($0.name ?? "") }.map(line).sorted()
    }

    private static func name(_ object: NSManagedObject) -> String { object.value(forKey: "name") as? String ?? "?" }

    private static func line(_ object: NSManagedObject) -> String {
        var words: [String] = []
        for (name, property) in object.entity.propertiesByName.sorted(by: { $0.key < $1.key }) where name != "name" {
            let value = object.value(forKey: name)
            if let composite = property as? NSCompositeAttributeDescription {
                for element in composite.elements.map(\.name).sorted() {
                    let path = "\(name).\(element)"
                    if let text = text(object.value(forKeyPath: path)) { words.append("\(path)=\(text)") }
                }
            } else if let text = text(value) {
                words.append("\(name)=\(text)")
            }
        }
        return ([object.entity.name ?? "", Self.name(object)] + words).joined(separator: " ")
    }

    private static func text(_ value: Any?) -> String? {
        let texts: (separator: String, names: [String])
        switch value {
        case let object as NSManagedObject: return name(object)
        case let set as NSOrderedSet: texts = (">", set.compactMap { ($0 as? NSManagedObject).map(name) })
        case let set as Set<NSManagedObject>: texts = (",", set.map(name).sorted())
        case let url as URL: return url.absoluteString
        case let number as NSNumber: return text(ofNumber: number.stringValue)
        default: return ModelVersion.text(value)
        }
        return texts.names.isEmpty ? nil : texts.names.joined(separator: texts.separator)
    }
}
