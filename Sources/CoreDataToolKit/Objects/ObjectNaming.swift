import CoreData

/// The way objects are named: by their keys in the store, or by the values of an attribute.
struct ObjectNaming {
    private let attributes: [String]

    /// Objects have the names `Maker/p12`.
    static let byKey = ObjectNaming(attributes: [])

    /// - Parameter attributes: names of attributes, or of those of one entity: `sku`, `Item.sku`.
    init(attributes: [String]) { self.attributes = attributes }

    /// Returns the attribute that names the objects of an entity; nil if their keys do.
    func attribute(of entity: NSEntityDescription) -> NSAttributeDescription? {
        for name in attributes {
            let parts = name.split(separator: ".", maxSplits: 1).map(String.init)
            if parts.count == 2, !Self.isNamed(parts[0], entity) { continue }
            if let attribute = KeyPathResolver.property(parts.last ?? name, of: entity) as? NSAttributeDescription,
                !attribute.isTransient, !(attribute is NSCompositeAttributeDescription)
            {
                return attribute
            }
        }
        return nil
    }

    /// Returns the names of attributes that no entity of the model has.
    func unknown(in entities: [NSEntityDescription]) -> [String] {
        attributes.filter { name in !entities.contains { ObjectNaming(attributes: [name]).attribute(of: $0) != nil } }
    }

    private static func isNamed(_ name: String, _ entity: NSEntityDescription) -> Bool {
        entity.lineage.contains { $0.lowercased() == name.lowercased() }
    }
}

extension SQLiteReader.Value {
    /// Compares values in SQLite's order: null, numbers, texts, bytes; texts by their bytes.
    func order(to other: SQLiteReader.Value) -> ComparisonResult {
        switch (self, other) {
        case (.integer(let left), .integer(let right)): return Self.order(left, right)
        case (.text(let left), .text(let right)): return Self.order(left.utf8, right.utf8)
        case (.blob(let left), .blob(let right)): return Self.order(left, right)
        default:
            let (left, right) = (rank, other.rank)
            if left != right { return Self.order(left, right) }
            return Self.order(number ?? 0, other.number ?? 0)
        }
    }

    private var rank: Int {
        switch self {
        case .null: 0
        case .integer, .real: 1
        case .text: 2
        case .blob: 3
        }
    }

    private var number: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .real(let value): value
        case .null, .text, .blob: nil
        }
    }

    private static func order<Value: Comparable>(_ left: Value, _ right: Value) -> ComparisonResult {
        left < right ? .orderedAscending : left == right ? .orderedSame : .orderedDescending
    }

    private static func order(_ left: some Collection<UInt8>, _ right: some Collection<UInt8>) -> ComparisonResult {
        if left.elementsEqual(right) { return .orderedSame }
        return left.lexicographicallyPrecedes(right) ? .orderedAscending : .orderedDescending
    }
}
