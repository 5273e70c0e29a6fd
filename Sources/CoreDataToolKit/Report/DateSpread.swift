import CoreData

/// The number of an entity's objects in each span of time, by the date attribute that has the most
/// values; of several, the one whose dates are the farthest apart.
struct DateSpread {
    struct Bin {
        let name: String
        let count: Int64
    }

    let entity: String
    let attribute: String
    let unit: Unit
    /// The spans in their order, without gaps.
    let bins: [Bin]
    /// The number of dates that are not in any of the years that are shown.
    let outside: Int64

    /// A length of spans.
    enum Unit: Equatable {
        case hour, day, month
        case years(Int)

        var name: String {
            switch self {
            case .hour: "hour"
            case .day: "day"
            case .month: "month"
            case .years(1): "year"
            case .years(let count): "\(count) years"
            }
        }
    }

    // Apple's distant past and future are dates that mean none.
    private static let shownYears = (first: 1900, end: 2200)
    private static let start = seconds(ofYear: shownYears.first)
    private static let end = seconds(ofYear: shownYears.end)
    fileprivate static let secondsFromYear1 = 63_113_904_000.0
    private static let mostAttributes = 400

    /// Dates in the years that are not shown.
    static let outsideText = "before \(shownYears.first) or after \(shownYears.end - 1)"

    private static func seconds(ofYear year: Int) -> Double {
        DateText.date(from: "\(year)-01-01")?.timeIntervalSinceReferenceDate ?? 0
    }

    /// Counts the dates of an entity's objects. Reads all its rows.
    ///
    /// - Returns: nil for less than two dates, and if they cannot be read.
    init?(_ place: EntityPlace, in store: ReadableStore) {
        let places = ObjectPlaces(place.entity, place.table, place.number, store, .byKey)
        let columns = place.entity.attributesByName.filter { $0.value.attributeType == .dateAttributeType }.keys
            .sorted()
            .compactMap { name in places.cell(name).map { (name, "t." + SQLiteReader.identifier($0.column)) } }
            .prefix(Self.mostAttributes)
        let ranges = try? Self.ranges(of: Array(columns), place, store.reader)
        guard let range = ranges?.max(by: { ($0.count, $0.length) < ($1.count, $1.length) }), range.count > 1,
            let bins = try? range.bins(place, store.reader)
        else { return nil }
        entity = place.name
        attribute = range.attribute
        unit = range.unit
        self.bins = bins
        outside = range.all - range.count
    }

    // MARK: Reading

    /// The dates of an attribute, in seconds since 2001.
    fileprivate struct Range {
        let attribute: String
        let column: String
        /// The number of dates that are shown.
        let count: Int64
        let all: Int64
        let first: Double
        let last: Double

        var length: Double { last - first }
    }

    private static func isDate(_ column: String) -> String { "typeof(\(column)) IN ('integer', 'real')" }

    fileprivate static func isShown(_ column: String) -> String {
        "\(isDate(column)) AND \(column) >= \(start) AND \(column) < \(end)"
    }

    private static func ranges(
        of columns: [(name: String, column: String)], _ place: EntityPlace, _ reader: SQLiteReader
    ) throws -> [Range] {
        if columns.isEmpty { return [] }
        let terms = columns.map { _, column in
            let shown = "CASE WHEN \(isShown(column)) THEN \(column) END"
            return "count(\(shown)), count(CASE WHEN \(isDate(column)) THEN 1 END), "
                + "CAST(min(\(shown)) AS REAL), CAST(max(\(shown)) AS REAL)"
        }
        let row = try reader.rows("SELECT \(terms.joined(separator: ", ")) FROM \(place.rows)").first ?? []
        return columns.enumerated().compactMap { index, column in
            guard case .real(let first) = row[4 * index + 2], case .real(let last) = row[4 * index + 3] else {
                return nil
            }
            return Range(
                attribute: column.name, column: column.column, count: row[4 * index].integer ?? 0,
                all: row[4 * index + 1].integer ?? 0, first: first, last: last)
        }
    }
}

extension DateSpread.Range {
    private static let day = 86_400.0

    var unit: DateSpread.Unit {
        switch length / Self.day {
        case ..<3: .hour
        case ..<62: .day
        case ..<1850: .month
        case ..<22_000: .years(1)
        default: .years(10)
        }
    }

    /// The number of the span of a date, in SQL. Spans are counted from the beginning of year 1.
    private var number: String {
        func part(_ format: String) -> String {
            "CAST(strftime('\(format)', \(column) + 978307200, 'unixepoch') AS INTEGER)"
        }
        let seconds = "\(column) + \(DateSpread.secondsFromYear1)"
        return switch unit {
        case .hour: "CAST((\(seconds)) / 3600 AS INTEGER)"
        case .day: "CAST((\(seconds)) / 86400 AS INTEGER)"
        case .month: "\(part("%Y")) * 12 + \(part("%m")) - 1"
        case .years(let count): "\(part("%Y")) / \(count)"
        }
    }

    private func name(_ number: Int64) -> String {
        func text(_ seconds: Double) -> String {
            DateText.text(of: Date(timeIntervalSinceReferenceDate: seconds - DateSpread.secondsFromYear1))
        }
        switch unit {
        case .hour: return text(Double(number) * 3600).prefix(13).replacingOccurrences(of: "T", with: " ") + " h"
        case .day: return String(text(Double(number) * Self.day).prefix(10))
        case .month: return "\(number / 12)-" + (number % 12 < 9 ? "0" : "") + "\(number % 12 + 1)"
        case .years(1): return "\(number)"
        case .years(let count): return "\(number * Int64(count))–\(number * Int64(count) + Int64(count) - 1)"
        }
    }

    func bins(_ place: EntityPlace, _ reader: SQLiteReader) throws -> [DateSpread.Bin] {
        let rows = try reader.rows(
            "SELECT \(number), count(*) FROM \(place.rows) AND \(DateSpread.isShown(column)) GROUP BY 1 ORDER BY 1")
        var bins: [DateSpread.Bin] = []
        var next: Int64?
        for row in rows {
            guard let number = row[0].integer, let count = row[1].integer else { continue }
            while let gap = next, gap < number {
                bins.append(DateSpread.Bin(name: name(gap), count: 0))
                next = gap + 1
            }
            bins.append(DateSpread.Bin(name: name(number), count: count))
            next = number + 1
        }
        return bins
    }
}
