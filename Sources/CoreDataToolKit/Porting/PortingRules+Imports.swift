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

    /// What takes the place of a module.
    private static let substitutes = [
        "os": " Synchronization has Mutex.",
        "Combine": " Sequences take the place of publishers: notifications(of:) of a context, changes(of:).",
    ]

    /// What Foundation on Linux lacks.
    private static let ownNames = [
        "NSHashTable", "NSMapTable", "NSSecureUnarchiveFromDataTransformer", "NSValueTransformerName", "UndoManager", "ValueTransformer",
        "autoreleasepool",
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
            leave(entry.tokens.lowerBound, "The module \(entry.module) does not exist here.\(Self.substitutes[entry.module] ?? "")")
        }
        for entry in found where entry.module == "Foundation" && !entry.isWhole {
            let name = entry.tokens.upperBound - 1
            guard (Self.doubleNames + Self.ownNames).contains(source.word(name)), source.matches("Foundation", ".", at: name - 2) else {
                continue
            }
            replace((name - 2)..<(name - 1), by: "CoreData")
        }
        guard let own = found.first(where: { $0.module == "CoreData" && $0.isWhole }) else { return portImportsWithoutCoreData(found) }
        for entry in found where entry.module == "Foundation" && entry.isWhole {
            if entry.isMarked {
                leave(entry.tokens.lowerBound, "Foundation declares NSPredicate and other names of CoreData too: remove its import.")
            } else {
                remove(entry.tokens)
            }
        }
        guard found.contains(where: { $0.module == "XCTest" }) else { return }
        importClasses(used(Self.doubleNames, found), after: own)
    }

    /// A file that imports Foundation alone has Foundation's classes of these names.
    private mutating func portImportsWithoutCoreData(_ found: [Import]) {
        let names = used(Self.doubleNames + Self.ownNames, found)
        guard !names.isEmpty else { return }
        if let tests = found.first(where: { $0.module == "XCTest" && $0.isWhole }) {
            return importClasses(names.filter { $0 != "NSValueTransformerName" }, after: tests)
        }
        var isImported = false
        for entry in found where entry.module == "Foundation" && entry.isWhole {
            if entry.isMarked {
                leave(entry.tokens.lowerBound, "\(names[0]) is meant to be Core Data's: import CoreData, which brings Foundation.")
            } else if isImported {
                remove(entry.tokens)
            } else {
                replace((entry.tokens.upperBound - 1)..<entry.tokens.upperBound, by: "CoreData")
                isImported = true
            }
        }
    }

    /// Which of the names the file uses and does not import one by one.
    private func used(_ names: [String], _ found: [Import]) -> [String] {
        let imported = found.filter { $0.module == "CoreData" || !$0.isWhole }.flatMap(\.tokens)
        let importedNames = Set(imported.map { source.word($0) })
        let places = source.tokens.indices.filter { index in
            guard source.tokens[index].kind == .word, !source.isInactive[index], !isFoundationPredicate(index) else { return false }
            return !(source.matches("Foundation", ".", at: index - 2) && isExpectedPredicate(index - 2))
        }
        let used = Set(places.map { source.word($0) })
        return names.filter { used.contains($0) && !importedNames.contains($0) }
    }

    private mutating func importClasses(_ wanted: [String], after own: Import) {
        guard !wanted.isEmpty else { return }
        let end = source.tokens[own.tokens.upperBound - 1].range.upperBound
        let newline = source.bytes.count > end && source.bytes[end] == UInt8(ascii: "\r") ? "\r\n" : "\n"
        insert(wanted.map { newline + "import class CoreData.\($0)" }.joined(), at: end)
    }
}
