import SafeCoreData
import TestSupport

// A stock of articles and those who supply them: what most tests of @Entity are about.

enum Quality: Int16, CaseIterable { case poor, fair, good }
enum SaleUnit: String, CaseIterable { case piece, kilogram }
struct Dimensions: Codable, Hashable {
    var width: Double
    var height: Double
}

/// Counts how often initial values are evaluated. Tests run at once: each looks at differences of
/// its own objects only.
enum SerialNumbers {
    private static let last = Counter()
    static func next() -> Int64 { Int64(last.increase()) }
}

@Entity(indexes: [["stockCount"], ["name", "unitPrice"]])
final class Article: NSManagedObject {
    private(set) var articleId: String = UUID().uuidString
    private(set) var serial: Int64 = SerialNumbers.next()
    @Attribute(.unique, .length(1...40)) var name: String
    var unitPrice: Decimal
    @Attribute(.range(0...)) var stockCount: Int = 0
    var note: String?
    var quality: Quality = .fair
    var unit: SaleUnit?
    var dimensions: Dimensions?
    var tags: [String] = []
    @Relationship(inverse: \Vendor.articles) var vendor: Vendor?
    @Relationship(inverse: \Shelf.articles) var shelf: Shelf?

    /// Computed: no part of the model.
    var total: Decimal { unitPrice * Decimal(stockCount) }
}

@Entity("Supplier")
final class Vendor: NSManagedObject {
    var name: String
    @Relationship(deleteRule: .cascade) var articles: Set<Article>
    @Derived("articles.@count") var articleCount: Int
    @Transient var isSelected: Bool = false
    @Transient var cache: [Int: String] = [:]
}

@Entity
final class Shelf: NSManagedObject {
    var label: String
    var articles: [Article]
}
