import Foundation

/// What a value that is to be archived consists of, found without Foundation's own accessors of collections.
///
/// On Linux these make Swift collections of the collections within, and of those within them, at each access. They never come
/// back from a collection that holds itself, and an archive is made by them: such values have to be found before.
struct ArchivableValue {
    enum Problem: Error {
        /// Something in the value that the archiver would end the program at; the type's name.
        case notArchivable(String)
        /// It holds itself, or is nested deeper than the archiver gets through.
        case tooDeep
        /// The same collections again and again: the archiver unfolds them.
        case tooManyShared

        /// The reason as the end of a sentence.
        var reason: String {
            switch self {
            case .notArchivable(let type): "it holds a \(type), which no archive can keep"
            case .tooDeep: "it holds itself, or is nested more than \(ArchivableValue.depthLimit) levels deep"
            case .tooManyShared: "it holds the same collections again and again, which makes an archive of millions of values"
            }
        }
    }

    /// Whether a decimal number is in the value.
    private(set) var holdsDecimal = false
    /// Of each collection the levels in it, and its values when it is unfolded.
    private var collections: [ObjectIdentifier: Size] = [:]
    private var count = 0

    private struct Size {
        var levels = 1
        var values = 1

        mutating func add(_ part: Size) {
            levels = max(levels, part.levels + 1)
            let (sum, overflow) = values.addingReportingOverflow(part.values)
            values = overflow ? .max : sum
        }
    }

    /// Foundation's archiver takes sixteen times as long for twice the levels: half a second for 32, minutes for 128.
    static let depthLimit = 32

    /// How many values shared collections may unfold to.
    private static let unfoldingLimit = 1 << 22

    /// Looks at each object of a value once.
    init(_ value: NSObject) throws(Problem) {
        let size = try visit(value, depth: 0)
        if size.values > max(Self.unfoldingLimit, count) { throw .tooManyShared }
    }

    private mutating func visit(_ object: AnyObject, depth: Int) throws(Problem) -> Size {
        guard depth < Self.depthLimit else { throw .tooDeep }
        guard object is NSArray || object is NSDictionary || object is NSSet || object is NSOrderedSet else {
            count += 1
            if object is NSDecimalNumber { holdsDecimal = true }
            // Classes in other types have no name that the archiver can write.
            guard object is any NSCoding, ClassLookup.name(of: type(of: object)).split(separator: ".").count <= 2 else {
                throw .notArchivable("\(type(of: object))")
            }
            return Size()
        }
        if let known = collections[ObjectIdentifier(object)] {
            guard depth + known.levels <= Self.depthLimit else { throw .tooDeep }
            return known
        }
        count += 1
        var size = Size()
        // Foundation shows what its collections store as it is.
        for child in Mirror(reflecting: object).children {
            if let entry = child.value as? (key: NSObject, value: AnyObject) {
                size.add(try visit(entry.key, depth: depth + 1))
                size.add(try visit(entry.value, depth: depth + 1))
            } else {
                size.add(try visit(child.value as AnyObject, depth: depth + 1))
            }
        }
        collections[ObjectIdentifier(object)] = size
        return size
    }
}
