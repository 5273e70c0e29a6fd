import Foundation
import TestSupport

/// Damage to a store's files that is the same in each run with the same seed.
struct StoreMutation {
    private enum Place: CaseIterable {
        case header, bytes, page, pages, end, metadata, model, journal
    }

    private var generator: SeededGenerator
    private let place: Place

    init(seed: Int) {
        generator = SeededGenerator(seed: UInt64(seed) &* 7919 &+ 17)
        place = Place.allCases[seed % Place.allCases.count]
    }

    /// Changes the file at a path, or the journal beside it.
    mutating func apply(to path: String) throws {
        switch place {
        case .metadata: try change("Z_PLIST", of: "Z_METADATA", in: path)
        case .model: try change("Z_CONTENT", of: "Z_MODELCACHE", in: path)
        case .journal where FileManager.default.fileExists(atPath: path + "-wal"):
            try change(fileAt: path + "-wal") { generator, data in Self.scatter(&data, 0..<data.count, &generator) }
        case .header:
            try change(fileAt: path) { generator, data in Self.scatter(&data, 16..<min(108, data.count), &generator) }
        case .bytes, .journal:
            try change(fileAt: path) { generator, data in Self.scatter(&data, 100..<data.count, &generator) }
        case .page: try change(fileAt: path, Self.overwritePage)
        case .pages: try change(fileAt: path, Self.exchangePages)
        case .end:
            try change(fileAt: path) { generator, data in
                data = data.prefix(Int.random(in: 100..<data.count, using: &generator))
            }
        }
    }

    private mutating func change(
        fileAt path: String, _ body: (inout SeededGenerator, inout Data) -> Void
    ) throws {
        let url = URL(fileURLWithPath: path)
        var data = try Data(contentsOf: url)
        if data.count < 200 { return }
        body(&generator, &data)
        try data.write(to: url)
    }

    private static func scatter(_ data: inout Data, _ range: Range<Int>, _ generator: inout SeededGenerator) {
        for _ in 0..<Int.random(in: 1...12, using: &generator) {
            let place = Int.random(in: range, using: &generator)
            data[data.startIndex + place] =
                [0, 1, 0x7f, 0x80, 0xff, UInt8.random(in: 0...255, using: &generator)]
                .randomElement(using: &generator) ?? 0
        }
    }

    /// Fills a page, or the part of one, with one value or with noise.
    private static func overwritePage(_ generator: inout SeededGenerator, _ data: inout Data) {
        let page = 4096 * Int.random(in: 0..<max(1, data.count / 4096), using: &generator)
        let start = page + (page == 0 ? 100 : Bool.random(using: &generator) ? 0 : 2000)
        let filling: UInt8? = [0, 0xff, 0x7f, nil].randomElement(using: &generator) ?? nil
        for place in start..<min(page + 4096, data.count) {
            data[place] = filling ?? UInt8.random(in: 0...255, using: &generator)
        }
    }

    private static func exchangePages(_ generator: inout SeededGenerator, _ data: inout Data) {
        let count = data.count / 4096
        guard count > 2 else { return }
        let (first, second) = (
            Int.random(in: 1..<count, using: &generator), Int.random(in: 1..<count, using: &generator)
        )
        let page = data.subdata(in: first * 4096..<(first + 1) * 4096)
        data.replaceSubrange(
            first * 4096..<(first + 1) * 4096, with: data.subdata(in: second * 4096..<(second + 1) * 4096))
        data.replaceSubrange(second * 4096..<(second + 1) * 4096, with: page)
    }

    /// Changes bytes within a value, so that the database itself stays sound.
    private mutating func change(_ column: String, of table: String, in path: String) throws {
        let file = SQLiteFile(URL(fileURLWithPath: path))
        guard var value = try? file.cells("SELECT \(column) FROM \(table)").first?.first?.blob, !value.isEmpty else {
            return
        }
        Self.scatter(&value, 0..<value.count, &generator)
        if Int.random(in: 0..<4, using: &generator) == 0 {
            value = value.prefix(Int.random(in: 0..<value.count, using: &generator))
        }
        try file.run("UPDATE \(table) SET \(column) = ?", bytes: value)
        file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    }
}
