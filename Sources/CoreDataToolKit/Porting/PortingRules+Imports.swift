/// Rules for imports: Foundation's classes with the same names, and modules that Linux does not
/// have.
extension PortingRules {
    private struct Import {
        let tokens: Range<Int>
        let module: String
        let isWhole: Bool
        /// Whether attributes or modifiers precede the import.
        let isMarked: Bool
        /// Whether a part of a module is imported, such as `CoreData.NSFetchRequest`.
        let isPart: Bool

        /// Whether it is of a part of Core Data, which here can only be imported as a whole.
        var isPartOfCoreData: Bool { module == "CoreData" && isPart }
    }

    private static let missingModules: Set<String> = [
        "UIKit", "AppKit", "Cocoa", "SwiftUI", "Combine", "CloudKit", "WatchKit", "CoreSpotlight", "SwiftData",
        "ObjectiveC", "Darwin",
        "os",
        "OSLog", "MapKit", "CoreLocation", "WidgetKit", "Security", "CryptoKit",
    ]

    /// The advice on a replacement for a module.
    private static let substitutes = [
        "os": " Synchronization has Mutex.",
        "Combine": " Sequences take the place of publishers: notifications(of:) of a context, changes(of:).",
    ]

    /// Names that Foundation on Linux lacks.
    private static let ownNames = [
        "NSHashTable", "NSMapTable", "NSSecureUnarchiveFromDataTransformer", "NSValueTransformerName", "UndoManager",
        "ValueTransformer",
        "autoreleasepool",
    ]

    /// Names that Foundation declares too.
    private static let doubleNames = [
        "NSComparisonPredicate", "NSCompoundPredicate", "NSExpression", "NSPredicate", "NSSortDescriptor",
    ]

    private var imports: [Import] {
        source.tokens.indices.compactMap { index in
            guard source.word(index) == "import", source.tokens[index].kind == .word, !source.isInactive[index] else {
                return nil
            }
            let start = source.start(ofDeclaration: index)
            guard startsLine(start) || source.word(start - 1) == ";" else { return nil }
            var end = index + 1
            while end < source.tokens.count, !startsLine(end), source.word(end) != ";" { end += 1 }
            let names = ((index + 1)..<end).map { source.word($0) }.filter { $0 != "." }
            guard let first = names.first else { return nil }
            let isKind =
                ["class", "struct", "enum", "protocol", "func", "var", "let", "typealias"].contains(first)
                && names.count > 1
            return Import(
                tokens: start..<end, module: isKind ? names[1] : first, isWhole: !isKind && names.count == 1,
                isMarked: start < index,
                isPart: !isKind && names.count == 2 && end - index == 4 && source.word(index + 2) == ".")
        }
    }

    mutating func portImports() {
        let found = imports
        if let manifest = found.first(where: { $0.module == "PackageDescription" }),
            !source.tokens.contains(where: { $0.kind == .literal && source.text($0.range).contains("OpenCoreData") })
        {
            leave(
                manifest.tokens.lowerBound,
                "Targets that import CoreData need this package, .package(url: \"…/OpenCoreData.git\", from: "
                    + "\"0.1.0\"), and "
                    + ".product(name: \"CoreData\", package: \"OpenCoreData\").")
        }
        for entry in found where Self.missingModules.contains(entry.module) {
            leave(
                entry.tokens.lowerBound,
                "The module \(entry.module) does not exist here.\(Self.substitutes[entry.module] ?? "")")
        }
        for entry in found where entry.module == "Foundation" && !entry.isWhole {
            let name = entry.tokens.upperBound - 1
            guard (Self.doubleNames + Self.ownNames).contains(source.word(name)),
                source.matches("Foundation", ".", at: name - 2)
            else {
                continue
            }
            replace((name - 2)..<(name - 1), by: "CoreData")
        }
        portParts(found)
        importNetworking(found)
        guard let own = found.first(where: { $0.module == "CoreData" && ($0.isWhole || $0.isPartOfCoreData) }) else {
            return portImportsWithoutCoreData(found)
        }
        for entry in found where entry.module == "Foundation" && entry.isWhole {
            if entry.isMarked {
                leave(
                    entry.tokens.lowerBound,
                    "Foundation declares NSPredicate and other names of CoreData too: remove its import.")
            } else {
                remove(entry.tokens)
            }
        }
        guard found.contains(where: { $0.module == "XCTest" }) else { return }
        importClasses(used(Self.doubleNames, found), after: own)
    }

    /// Changes `import CoreData.NSFetchRequest`.
    private mutating func portParts(_ found: [Import]) {
        var isImported = found.contains { $0.module == "CoreData" && $0.isWhole }
        for entry in found
        where entry.isPartOfCoreData && source.word(entry.tokens.upperBound - 1) != "CoreDataDefines" {
            if isImported {
                remove(entry.tokens)
            } else {
                let start = entry.tokens.first { source.word($0) == "CoreData" } ?? entry.tokens.lowerBound
                replace(start..<entry.tokens.upperBound, by: "CoreData")
                isImported = true
            }
        }
    }

    /// Names that Foundation on Linux declares in a separate module.
    private static let networkingNames: Set<String> = [
        "HTTPCookie", "HTTPCookieStorage", "HTTPURLResponse", "URLAuthenticationChallenge", "URLCache", "URLCredential",
        "URLProtocol",
        "URLProtocolClient", "URLRequest", "URLResponse", "URLSession", "URLSessionConfiguration",
        "URLSessionDataDelegate",
        "URLSessionDataTask", "URLSessionDelegate", "URLSessionDownloadTask", "URLSessionTask",
        "URLSessionTaskDelegate",
        "URLSessionUploadTask",
    ]

    private mutating func importNetworking(_ found: [Import]) {
        guard !found.contains(where: { $0.module == "FoundationNetworking" }),
            let last = found.last(where: { $0.isWhole && !$0.isMarked }),
            source.tokens.indices.contains(where: {
                source.tokens[$0].kind == .word && !source.isInactive[$0] && isNetworking($0)
            })
        else { return }
        insertLines(["import FoundationNetworking"], after: last)
    }

    private func isNetworking(_ index: Int) -> Bool {
        Self.networkingNames.contains(source.word(index)) && source.word(index - 1) != "."
    }

    /// Types that only Core Data has. A file that uses one needs its import, which on a Mac UIKit
    /// and AppKit provide.
    private static let certainNames = PortingRules.frameworkClasses.subtracting(doubleNames).subtracting(ownNames)
        .union([
            "NSFetchRequestResult", "NSFetchedResultsControllerDelegate", "NSManagedObject",
        ])

    private mutating func insertLines(_ lines: [String], after entry: Import) {
        if lines.isEmpty { return }
        let end = source.tokens[entry.tokens.upperBound - 1].range.upperBound
        let newline = source.bytes.count > end && source.bytes[end] == UInt8(ascii: "\r") ? "\r\n" : "\n"
        insert(lines.map { newline + $0 }.joined(), at: end)
    }

    /// Changes a file that imports only Foundation and therefore uses Foundation's classes of these
    /// names.
    private mutating func portImportsWithoutCoreData(_ found: [Import]) {
        let needsImport = source.tokens.indices.contains { index in
            source.tokens[index].kind == .word && !source.isInactive[index]
                && Self.certainNames.contains(source.word(index))
        }
        let hasFoundation = found.contains { $0.module == "Foundation" && $0.isWhole && !$0.isMarked }
        if needsImport, !found.contains(where: { $0.module == "CoreData" }),
            let last = found.last(where: { $0.isWhole && !$0.isMarked }),
            !hasFoundation || found.contains(where: { $0.module == "XCTest" })
        {
            insertLines(["import CoreData"], after: last)
        }
        let names = used(Self.doubleNames + Self.ownNames, found)
        guard !names.isEmpty || needsImport && hasFoundation else { return }
        if let tests = found.first(where: { $0.module == "XCTest" && $0.isWhole }) {
            return importClasses(names.filter { $0 != "NSValueTransformerName" }, after: tests)
        }
        var isImported = false
        for entry in found where entry.module == "Foundation" && entry.isWhole {
            if entry.isMarked {
                leave(
                    entry.tokens.lowerBound,
                    "\(names.first ?? "A class") is meant to be Core Data's: import CoreData, which brings Foundation.")
            } else if isImported {
                remove(entry.tokens)
            } else {
                replace((entry.tokens.upperBound - 1)..<entry.tokens.upperBound, by: "CoreData")
                isImported = true
            }
        }
    }

    /// Returns those of the names that the file uses and does not import individually.
    private func used(_ names: [String], _ found: [Import]) -> [String] {
        let imported = found.filter { $0.module == "CoreData" || !$0.isWhole }.flatMap(\.tokens)
        let importedNames = Set(imported.map { source.word($0) })
        let places = source.tokens.indices.filter { index in
            guard source.tokens[index].kind == .word, !source.isInactive[index], !isFoundationPredicate(index) else {
                return false
            }
            return !(source.matches("Foundation", ".", at: index - 2) && isExpectedPredicate(index - 2))
        }
        let used = Set(places.map { source.word($0) })
        return names.filter { used.contains($0) && !importedNames.contains($0) }
    }

    private mutating func importClasses(_ wanted: [String], after own: Import) {
        insertLines(wanted.map { "import \($0 == "autoreleasepool" ? "func" : "class") CoreData.\($0)" }, after: own)
    }
}
