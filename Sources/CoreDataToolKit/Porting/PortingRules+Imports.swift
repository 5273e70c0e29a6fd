/// Imports: Foundation's classes of the same names, and modules that Linux does not have.
extension PortingRules {
    private struct Import {
        let tokens: Range<Int>
        let module: String
        /// Whether the whole module is imported.
        let isWhole: Bool
        /// Whether attributes or modifiers stand before it.
        let isMarked: Bool
    }

    private static let missingModules: Set<String> = [
        "UIKit", "AppKit", "Cocoa", "SwiftUI", "Combine", "CloudKit", "WatchKit", "CoreSpotlight", "SwiftData", "ObjectiveC", "Darwin",
        "os",
        "OSLog", "MapKit", "CoreLocation", "WidgetKit", "Security", "CryptoKit",
    ]

    /// What Foundation declares too.
    private static let doubleNames = ["NSComparisonPredicate", "NSCompoundPredicate", "NSExpression", "NSPredicate", "NSSortDescriptor"]

    private var imports: [Import] {
        source.tokens.indices.compactMap { index in
            guard source.word(index) == "import", source.tokens[index].kind == .word, !source.isInactive[index] else { return nil }
            let start = source.start(ofDeclaration: index)
            guard startsLine(start) || source.word(start - 1) == ";" else { return nil }
            var end = index + 1
            while end < source.tokens.count, !startsLine(end), source.word(end) != ";" { end += 1 }
            let names = ((index + 1)..<end).map { source.word($0) }.filter { $0 != "." }
            guard let first = names.first else { return nil }
            let isKind = ["class", "struct", "enum", "protocol", "func", "var", "let", "typealias"].contains(first) && names.count > 1
            return Import(
                tokens: start..<end, module: isKind ? names[1] : first, isWhole: !isKind && names.count == 1, isMarked: start < index)
        }
    }

    mutating func portImports() {
        let found = imports
        for entry in found where Self.missingModules.contains(entry.module) {
            leave(entry.tokens.lowerBound, "The module \(entry.module) does not exist here.")
        }
        guard let own = found.first(where: { $0.module == "CoreData" && $0.isWhole }) else { return }
        for entry in found where entry.module == "Foundation" && entry.isWhole {
            if entry.isMarked {
                leave(entry.tokens.lowerBound, "Foundation declares NSPredicate and other names of CoreData too: remove its import.")
            } else {
                remove(entry.tokens)
            }
        }
        guard found.contains(where: { $0.module == "XCTest" }) else { return }
        let imported = Set(found.filter { $0.module == "CoreData" }.flatMap { $0.tokens.map { source.word($0) } })
        let used = Set(
            source.tokens.indices.filter { !source.isInactive[$0] && source.tokens[$0].kind == .word }.map { source.word($0) })
        let wanted = Self.doubleNames.filter { used.contains($0) && !imported.contains($0) }
        guard !wanted.isEmpty else { return }
        let end = source.tokens[own.tokens.upperBound - 1].range.upperBound
        let newline = source.bytes.count > end && source.bytes[end] == UInt8(ascii: "\r") ? "\r\n" : "\n"
        insert(wanted.map { newline + "import class CoreData.\($0)" }.joined(), at: end)
    }
}
