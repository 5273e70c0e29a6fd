extension ModelSchema {
    /// Returns the schema for people: printable lines.
    func lines(_ style: TextStyle) -> [String] {
        var lines = Self.table(facts.map { [$0.0, $0.1] })
        for entity in entities { lines += [""] + entity.lines(style) }
        if entities.isEmpty { lines += ["", "The model has no entities."] }
        return lines
    }

    private var facts: [(String, String)] {
        var facts = [("Model", origin.map { "\($0.text) in \(name)" } ?? name)]
        if !versionIdentifiers.isEmpty { facts.append(("Versions", versionIdentifiers.joined(separator: ", "))) }
        facts.append(("Checksum", checksum))
        for (name, entities) in configurations {
            facts.append(("Configuration", "\(name): \(entities.joined(separator: ", "))"))
        }
        for request in fetchRequests {
            let condition = request.predicate.map { " where \($0)" } ?? ""
            facts.append(("Fetch request", "\(request.name): \(request.entity)\(condition)"))
        }
        return facts
    }

    /// Returns lines with aligned columns, after an indentation. The last column is not padded.
    static func table(_ rows: [[String]], indentation: Int = 0) -> [String] {
        let rows = rows.map { $0.map(DisplayWidth.printable) }
        let count = rows.map(\.count).max() ?? 0
        // One long name does not push the columns of all others away.
        let widths = (0..<count).map { column in
            min(40, rows.compactMap { $0.indices.contains(column) ? DisplayWidth.of($0[column]) : nil }.max() ?? 0)
        }
        return rows.map { row in
            var line = String(repeating: " ", count: indentation)
            for (column, cell) in row.enumerated() where !row[column...].allSatisfy(\.isEmpty) {
                let rest = row[(column + 1)...].allSatisfy(\.isEmpty)
                line += cell
                if !rest { line += String(repeating: " ", count: max(0, widths[column] - DisplayWidth.of(cell)) + 2) }
            }
            return line
        }
    }
}

extension EntitySchema {
    fileprivate func lines(_ style: TextStyle) -> [String] {
        let phrases = facts.map(\.phrase).joined(separator: ", ")
        var lines = [
            style.heading(DisplayWidth.printable(name))
                + (phrases.isEmpty ? "" : " " + style.faint(DisplayWidth.printable("(\(phrases))")))
        ]
        func add(_ title: String, _ rows: [[String]]) {
            if rows.isEmpty { return }
            lines.append("  " + style.faint(title))
            lines += ModelSchema.table(rows, indentation: 4)
        }
        add("Attributes", attributes.flatMap { $0.rows() })
        add("Relationships", relationships.flatMap { $0.rows() })
        add("Fetched properties", fetchedProperties.flatMap { $0.rows() })
        add("Indexes", indexes.map { [$0.name, $0.text] })
        add("Unique", uniquenessConstraints.map { [$0.joined(separator: ", ")] })
        return lines
    }
}

extension PropertySchema {
    /// The row of the property, followed by those of its elements.
    fileprivate func rows(depth: Int = 0) -> [[String]] {
        let phrases = facts.map(\.phrase).filter { !$0.isEmpty } + (hidesElements ? ["further elements"] : [])
        let name = String(repeating: "  ", count: depth) + name
        return [[name, type.text, phrases.joined(separator: ", ")]] + elements.flatMap { $0.rows(depth: depth + 1) }
    }
}
