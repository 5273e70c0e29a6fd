import CoreData

extension StoreReport {
    var text: String {
        var facts: [(String, String?)] = [
            ("Store", path),
            ("Type", "Core Data, " + (text(NSStoreTypeKey) ?? NSSQLiteStoreType)),
            ("UUID", text(NSStoreUUIDKey)),
            ("Framework version", text(Self.frameworkKey)),
            ("Format version", formatVersion.map(String.init)),
            ("Model", origin.text),
            ("Model versions", identifiers.isEmpty ? nil : identifiers.joined(separator: ", ")),
            ("Model checksum", text(NSPersistentStoreModelVersionChecksumKey)),
            ("Hash digest", text(Self.digestKey)),
            ("Size", Self.bytes(size)),
            ("WAL", walSize.map { $0 == 0 ? "empty" : Self.bytes($0) } ?? "none"),
        ]
        facts.append(("History", history.text))
        if !externalFiles.files.isEmpty || missingFiles > 0 { facts.append(("External data", externalText)) }
        if !otherTables.isEmpty { facts.append(("Other tables", otherTables.joined(separator: ", "))) }
        if !ownKeys.isEmpty { facts.append(("Other metadata", ownKeys.joined(separator: ", "))) }
        for warning in warnings { facts.append(("Warning", warning)) }
        var result = ""
        for case (let name, let value?) in facts {
            result += name + String(repeating: " ", count: 19 - name.count) + DisplayWidth.printable(value) + "\n"
        }
        let note = isComplete ? "" : "\n\(Self.incompleteNote)\n"
        return result + "\n" + entityTable + sizeTable + note
    }

    private static let incompleteNote =
        "In large tables the first and last \(RowSample.size) rows were looked at; "
        + "'coredata check' looks at all values."

    private var externalText: String {
        let count = externalFiles.files.count
        var text = "\(count) \(count == 1 ? "file" : "files"), \(Self.bytes(externalFiles.size))"
        if missingFiles > 0 { text += ", \(missingFiles) missing" }
        if let orphanedFiles, orphanedFiles > 0 { text += ", \(orphanedFiles) orphaned" }
        return text
    }

    /// The tables with their sizes and those of their indexes.
    private var sizeTable: String {
        if sizes.isEmpty { return "" }
        let names = sizes.map { DisplayWidth.printable($0.table) }
        let width = max(names.map(DisplayWidth.of).max() ?? 0, 5) + 2
        var lines = ["", Self.line("Table", width, "Size", "Indexes", widths: (14, 20))]
        for (size, name) in zip(sizes, names) {
            let about = size.isEstimate ? "about " : ""
            let indexes =
                size.indexCount == 0 ? "none" : "\(about)\(Self.shortBytes(size.indexes)) (\(size.indexCount))"
            let rows = about + Self.shortBytes(size.rows)
            lines.append(Self.line(name, width, rows, indexes, widths: (14, 20)))
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private var entityTable: String {
        if entities.isEmpty { return "The store has no entities.\n" }
        let names = entities.map {
            String(repeating: "  ", count: $0.depth) + DisplayWidth.printable($0.name)
                + ($0.isAbstract ? " (abstract)" : "")
        }
        let nameWidth = max(names.map(DisplayWidth.of).max() ?? 0, 6) + 2
        var lines = [Self.line("Entity", nameWidth, "Own rows", "With subentities")]
        for (entity, name) in zip(entities, names) {
            lines.append(Self.line(name, nameWidth, String(entity.own), String(entity.withSubentities)))
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// - Parameter widths: the least columns of the two numbers.
    private static func line(
        _ name: String, _ width: Int, _ first: String, _ second: String, widths: (Int, Int) = (10, 16)
    ) -> String {
        func right(_ text: String, _ width: Int) -> String {
            String(repeating: " ", count: max(0, width - text.count)) + text
        }
        return name + String(repeating: " ", count: width - DisplayWidth.of(name)) + right(first, widths.0) + "  "
            + right(second, widths.1)
    }

    static func bytes(_ count: Int64) -> String {
        let short = shortBytes(count)
        return count < 1000 ? short : "\(short) (\(count) bytes)"
    }

    private static func shortBytes(_ count: Int64) -> String {
        let units = ["KB", "MB", "GB", "TB"]
        var value = Double(count)
        var unit = -1
        while value >= 1000, unit < units.count - 1 {
            value /= 1000
            unit += 1
        }
        return unit < 0 ? "\(count) bytes" : "\((value * 10).rounded() / 10) \(units[unit])"
    }
}
