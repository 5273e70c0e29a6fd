import Foundation

/// Checks the contents of a value that is to be archived, without Foundation's own accessors of
/// collections.
///
/// On Linux these accessors make Swift collections of all nested collections at each access. They
/// never return from a collection that contains itself, and the archiver uses them: such values
/// must be found before.
struct ArchivableValue {
    enum Problem: Error {
        /// An object in the value for which the archiver would end the program; the type's name.
        case notArchivable(String)
        /// A value that contains itself, or is nested too deeply for the archiver.
        case tooDeep
        /// A value in which the same collections occur again and again: the archiver writes each
        /// occurrence out.
        case tooManyShared

        /// The reason, as the end of a sentence.
        var reason: String {
            switch self {
            case .notArchivable(let type): "it holds a \(type), which no archive can keep"
            case .tooDeep: "it holds itself, or is nested more than \(ArchivableValue.depthLimit) levels deep"
            case .tooManyShared:
                "it holds the same collections again and again, which makes an archive of millions of values"
            }
        }
    }

    private(set) var holdsDecimal = false
    /// For each collection: the levels in it, and the number of its values when it is unfolded.
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

    /// The maximum nesting depth. Foundation's archiver takes sixteen times as long for twice the
    /// levels: half a second for 32, minutes for 128.
    static let depthLimit = 32

    /// The maximum number of values to which shared collections may unfold.
    private static let unfoldingLimit = 1 << 22

    /// Checks each object of a value once.
    init(_ value: NSObject) throws(Problem) {
        let size = try visit(value, depth: 0)
        if size.values > max(Self.unfoldingLimit, count) { throw .tooManyShared }
    }

    private mutating func visit(_ object: AnyObject, depth: Int) throws(Problem) -> Size {
        guard depth < Self.depthLimit else { throw .tooDeep }
        guard object is NSArray || object is NSDictionary || object is NSSet || object is NSOrderedSet else {
            count += 1
            if object is NSDecimalNumber { holdsDecimal = true }
            // Classes nested in other types have no name that the archiver can write.
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
        // A mirror shows the stored contents of Foundation's collections without conversion.
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
