import Foundation

// Objects that pass from one archive to another as they are: no class is instantiated.
extension ObjectArchive {
    /// Returns the archive of one object of the table, with all that it refers to, in the order of
    /// the table.
    package func archive(of number: Int) throws -> Data {
        var found: Set<Int> = [0, number]
        var waiting = [number]
        while let next = waiting.popLast() {
            guard let value = try value(next) else { continue }
            try spend(0, bytes: value.byteCount)
            value.forEachReference { reference in
                if found.insert(reference).inserted { waiting.append(reference) }
            }
        }
        let numbers = found.sorted()
        let places = Dictionary(uniqueKeysWithValues: zip(numbers, numbers.indices))
        return ObjectArchiveWriter.data(
            key: "root", root: .uid(places[number] ?? 0),
            objects: numbers.map { objects[$0].replacingReferences { places[$0] ?? 0 } })
    }
}

extension ObjectArchiveWriter {
    /// Adds all objects of another archive, and returns a reference to its root.
    ///
    /// - Returns: nil if the other archive refers to objects that it does not have.
    package func root(of archive: ObjectArchive) -> PropertyListValue? {
        var isWhole = archive.objects.indices.contains(archive.root)
        for object in archive.objects {
            object.forEachReference { if !archive.objects.indices.contains($0) { isWhole = false } }
        }
        guard isWhole else { return nil }
        // The first object of either table stands for nil.
        var first: Int?
        for object in archive.objects.dropFirst() {
            let offset = (first ?? nextNumber) - 1
            let number = add(object.replacingReferences { $0 == 0 ? 0 : $0 + offset })
            first = first ?? number
        }
        guard let first, archive.root > 0 else { return Self.null }
        return .uid(archive.root + first - 1)
    }
}

extension PropertyListValue {
    /// The number of bytes of a text or data, and the number of elements of a collection.
    fileprivate var byteCount: Int {
        switch self {
        case .string(let text): text.utf8.count
        case .data(let data): data.count
        case .array(let values): values.reduce(values.count) { $0 + $1.byteCount }
        case .dictionary(let entries): entries.values.reduce(entries.count) { $0 + $1.byteCount }
        default: 0
        }
    }

    fileprivate func forEachReference(_ body: (Int) -> Void) {
        switch self {
        case .uid(let number): body(number)
        case .array(let values): for value in values { value.forEachReference(body) }
        case .dictionary(let entries): for value in entries.values { value.forEachReference(body) }
        default: break
        }
    }

    fileprivate func replacingReferences(_ body: (Int) -> Int) -> PropertyListValue {
        switch self {
        case .uid(let number): .uid(body(number))
        case .array(let values): .array(values.map { $0.replacingReferences(body) })
        case .dictionary(let entries): .dictionary(entries.mapValues { $0.replacingReferences(body) })
        default: self
        }
    }
}
