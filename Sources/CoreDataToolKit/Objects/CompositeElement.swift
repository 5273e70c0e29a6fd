import CoreData

/// An element of a composite attribute, and the place of its value in a row.
indirect enum CompositeElement {
    case value(name: String, place: Int, NSAttributeType, isTransformable: Bool)
    case composite(name: String, [CompositeElement])

    static func elements(
        of composite: NSCompositeAttributeDescription, _ path: String, _ transformables: Set<ObjectIdentifier>,
        _ places: ObjectPlaces, _ select: inout SelectList
    ) -> [CompositeElement] {
        var result: [CompositeElement] = []
        for element in composite.elements {
            let path = "\(path).\(element.name)"
            if let inner = element as? NSCompositeAttributeDescription {
                result.append(
                    .composite(name: element.name, elements(of: inner, path, transformables, places, &select)))
            } else if let cell = places.cell(path) {
                result.append(
                    .value(
                        name: element.name, place: select.add(cell), element.attributeType,
                        isTransformable: transformables.contains(ObjectIdentifier(element))))
            }
        }
        return result
    }

    /// Returns the value of a composite attribute; null if all its elements are null.
    static func value(of elements: [CompositeElement], _ row: [SQLiteReader.Value], _ decoder: ValueDecoder)
        -> CellValue
    {
        let members = elements.compactMap { element -> JSONValue.Member? in
            let (name, value) = element.value(in: row, decoder)
            return value == .null ? nil : JSONValue.Member(name, value.json)
        }
        return members.isEmpty ? .null : .structure(.object(members))
    }

    private func value(in row: [SQLiteReader.Value], _ decoder: ValueDecoder) -> (String, CellValue) {
        switch self {
        case .value(let name, let place, let type, let isTransformable):
            (name, decoder.value(row[place], type, isTransformable: isTransformable, isExternal: false))
        case .composite(let name, let elements): (name, Self.value(of: elements, row, decoder))
        }
    }
}
