import Foundation

/// The former form of composite attributes in stores: an archived dictionary in one column.
///
/// Earlier versions of this project made such stores, before elements had columns. An ordinary
/// migration converts them to the present form.
enum ArchivedComposite {
    /// Whether version hashes are those of a model in this form.
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

    /// Returns the value at a path of names in the form that SQL uses; `.null` if there is none.
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
        // Any other value is that of a transformable element.
        case let other?: return TransformableArchive.data(from: other).map(StoredValue.data) ?? .null
        case nil: return .null
        }
    }
}
