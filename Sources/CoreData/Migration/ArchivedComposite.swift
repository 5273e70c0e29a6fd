import Foundation

/// Stores as this project made them before elements had columns: each composite attribute is an archived dictionary in one
/// column. They are brought to the present form by an ordinary migration.
enum ArchivedComposite {
    /// Whether version hashes are those of a model in that form.
    static func isForm(of model: NSManagedObjectModel, _ hashes: [String: Data]) -> Bool {
        let entities = model.entitiesByName
        func hasComposites(_ entity: NSEntityDescription) -> Bool {
            entity.propertiesByName.values.contains { $0 is NSCompositeAttributeDescription && !$0.isTransient }
        }
        guard entities.values.contains(where: hasComposites) else { return false }
        var differs = false
        for (name, hash) in hashes {
            guard let entity = entities[name] else { return false }
            if entity.versionHash == hash { continue }
            guard Data(VersionHash.entity(entity, archivesComposites: true)) == hash else { return false }
            differs = true
        }
        return differs
    }

    /// The value that the names of a path lead to, as SQL sees it; `.null` for none.
    static func value(at path: String, in archive: Data) -> StoredValue {
        var value = TransformableArchive.value(from: archive)
        for name in path.split(separator: ".") {
            guard let dictionary = value.flatMap(CompositeLayout.dictionary) else { return .null }
            value = dictionary[String(name)]
        }
        switch PropertyConversion.unwrapped(value) {
        case let string as String: return .string(string)
        case let date as Date: return .double(date.timeIntervalSinceReferenceDate)
        case let data as Data: return .data(data)
        case let uuid as UUID: return .uuid(uuid)
        case let url as URL: return .string(url.absoluteString)
        case let decimal as NSDecimalNumber: return .decimal(decimal.decimalValue)
        case let number as NSNumber:
            let isFraction = ["d", "f"].contains(String(cString: number.objCType))
            return isFraction ? .double(number.doubleValue) : .integer(number.int64Value)
        // A transformable element.
        case let other?: return TransformableArchive.data(from: other).map(StoredValue.data) ?? .null
        case nil: return .null
        }
    }
}
