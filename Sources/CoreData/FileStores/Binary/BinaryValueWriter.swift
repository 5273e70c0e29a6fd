import Foundation

/// Writes the objects of a binary file into its archive.
struct BinaryValueWriter {
    private let writer: ObjectArchiveWriter
    private let null: PropertyListValue

    init(_ writer: ObjectArchiveWriter) {
        self.writer = writer
        null = writer.object(["NSNull"]) { [:] }
    }

    func number(_ value: Int64) -> PropertyListValue { writer.value(.integer(value)) }

    func node(_ object: FileObject, _ entity: FileEntity) -> PropertyListValue {
        writer.object(["NSDictionaryMapNode", "NSStoreMapNode"]) {
            var entries: ObjectArchiveWriter.Entries = [
                "NSEntityName": writer.text(entity.layout.name),
                "NSPrimaryKey64": .integer(object.key),
                "NSAttributeValues": writer.array(entity.attributes.map { value(object.values, $0) }),
            ]
            if !object.related.isEmpty {
                let lists = object.related.map { slot, keys in
                    let property = entity.layout.slots[slot]
                    return (
                        property.name,
                        writer.array(
                            keys.map(number), className: property.kind.isToMany ? "NSMutableArray" : "NSArray")
                    )
                }
                entries["NSRelatedNodes"] = writer.dictionary(lists, isMutable: true)
            }
            return entries
        }
    }

    private func value(_ values: RowValues, _ slot: PropertySlot) -> PropertyListValue {
        guard values.hasValue(slot.index) else { return null }
        switch values[slot.index] {
        case .null, .reference: return null
        case .integer(let value): return slot.kind == .boolean ? writer.value(.boolean(value != 0)) : number(value)
        case .double(let seconds) where slot.kind == .date:
            return writer.object(["NSDate"]) { ["NS.time": .real(seconds)] }
        case .double(let value): return writer.value(.real(value))
        case .decimal(let value): return writer.plainValue(NSDecimalNumber(decimal: value)) ?? null
        case .string(let text) where slot.kind == .uri:
            let relative = writer.text(text)
            return writer.object(["NSURL"]) { ["NS.base": ObjectArchiveWriter.null, "NS.relative": relative] }
        case .string(let text): return writer.text(text)
        case .uuid(let value): return writer.plainValue(value) ?? null
        case .data(let data): return slot.kind == .transformable ? transformable(data) : writer.value(.data(data))
        }
    }

    /// An archived object is written as the object itself, unless it is data: these stand for the
    /// bytes of another transformer.
    private func transformable(_ data: Data) -> PropertyListValue {
        guard let archive = try? ObjectArchive(data), archive.hasOnlyRoot,
            let root = try? archive.value(archive.root), !isData(root, archive),
            let copy = writer.root(of: archive)
        else { return writer.value(.data(data)) }
        return copy
    }

    private func isData(_ root: PropertyListValue, _ archive: ObjectArchive) -> Bool {
        switch root {
        case .data: true
        case .dictionary:
            ["NSData", "NSMutableData", "NSNull"].contains((try? archive.object(archive.root))?.className)
        default: false
        }
    }
}
