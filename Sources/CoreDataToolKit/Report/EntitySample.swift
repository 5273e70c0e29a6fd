import CoreData

/// The first objects of an entity, in the order of their keys.
struct EntitySample {
    let name: String
    /// The number of the entity in the report, from 1 on.
    let number: Int
    /// The number of all objects of the entity.
    let total: Int64
    /// The keys of the objects of the sample.
    let keys: Set<Int64>
    let reader: ObjectReader
    /// The reason why not all keys are known; nil if they are.
    private let problem: String?

    init(_ place: EntityPlace, number: Int, limit: Int, in store: ReadableStore) throws {
        name = place.name
        self.number = number
        total = place.count
        reader = try ObjectReader(place.entity, in: store)
        do {
            let (rows, failure) = try store.reader.readableRows(
                "SELECT t.Z_PK FROM \(place.rows) ORDER BY t.Z_PK LIMIT \(limit)")
            keys = Set(rows.compactMap(\.[0].integer))
            problem = failure?.message
        } catch let failure as SQLiteReader.Failure where !failure.isLocked {
            keys = []
            problem = failure.message
        }
    }

    /// Passes each object of the sample to a function.
    ///
    /// - Returns: the reason why not all objects can be read; nil if they were.
    func forEach(_ body: (ObjectReader.Object) throws -> Void) throws -> String? {
        do {
            let objects = try reader.objects()
            var count = 0
            while count < keys.count, let object = try objects.next() {
                try body(object)
                count += 1
            }
            return problem
        } catch let failure as SQLiteReader.Failure where !failure.isLocked {
            return failure.message
        }
    }
}

/// The places of objects in a report, by their identities.
struct SampleLinks {
    private let samples: [String: EntitySample]

    init(_ samples: [EntitySample]) {
        self.samples = Dictionary(samples.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Returns the element of an object; nil if it is not in a sample.
    ///
    /// - Parameter identity: `Maker/p12`.
    func anchor(of identity: String) -> String? {
        guard let separator = identity.range(of: "/p", options: .backwards),
            let sample = samples[String(identity[..<separator.lowerBound])],
            let key = Int64(identity[separator.upperBound...]), sample.keys.contains(key)
        else { return nil }
        return Self.anchor(sample, key)
    }

    static func anchor(_ sample: EntitySample) -> String { "e\(sample.number)" }

    static func anchor(_ sample: EntitySample, _ key: Int64) -> String { "e\(sample.number)-p\(key)" }
}
