import CoreData
import TestSupport

// Comparing contexts and the file with what they should show.
extension ExhibitionWorld {
    /// Compares what each level shows.
    func check() throws {
        for (level, context) in levels.enumerated() { try check(context, reference.views[level], "level \(level)") }
    }

    /// Compares what is stored, as a context that knows nothing and as the sqlite3 library read it.
    func checkStore() throws {
        let fresh = coordinator.newContext()
        try check(fresh, reference.stored, "the store")
        try checkDerived(fresh, "the store")
        if kind == .sqlite { try checkFile() }
        guard (0..<levels.count).allSatisfy(reference.isClean) else { return }
        for (level, context) in levels.enumerated() {
            context.refreshAllObjects()
            try checkDerived(context, "level \(level)")
        }
    }

    private func check(_ context: NSManagedObjectContext, _ view: View, _ place: String) throws {
        var found: View = [:]
        for kind in Kind.allCases {
            for object in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: kind.rawValue)) {
                guard let id = object.value(forKey: "uid") as? Int else {
                    throw Difference(description: "\(place) has an object without a number: \(object)")
                }
                if found[id] != nil { throw Difference(description: "\(place) has object \(id) twice") }
                found[id] = node(of: object, kind)
                try checkInverses(of: object, id, kind, view, place)
            }
        }
        try compare(found, view, place)
    }

    private func compare(_ found: View, _ view: View, _ place: String) throws {
        for id in Set(found.keys).union(view.keys).sorted() where found[id] != view[id] {
            throw Difference(
                description: "\(place) has object \(id) as \(found[id].map { "\($0)" } ?? "missing"), and should have "
                    + (view[id].map { "\($0)" } ?? "none"))
        }
    }

    private func node(of object: NSManagedObject, _ kind: Kind) -> ExhibitionReference.Node {
        var node = ExhibitionReference.Node(kind: kind)
        func text(_ field: String) {
            node[field] = (object.value(forKeyPath: field) as? String).map(Value.text) ?? .none
        }
        func list(_ field: String) {
            let members = object.value(forKey: field) as? NSOrderedSet
            node[field] = .list(
                members?.array.map { ($0 as? NSManagedObject)?.value(forKey: "uid") as? Int ?? 0 } ?? [])
        }
        switch kind {
        case .piece:
            for field in ["name", "code", "size.unit"] { text(field) }
            node["size.width"] = (object.value(forKeyPath: "size.width") as? Int).map(Value.number) ?? .none
            node["image"] = Self.image(object.value(forKey: "image") as? Data)
            list("themes")
        case .room:
            text("label")
            list("pieces")
        case .theme, .country: text("name")
        }
        return node
    }

    private static func image(_ data: Data?) -> Value {
        guard let data, let first = data.first else { return .none }
        return .bytes(first, count: data == Data(repeating: first, count: data.count) ? data.count : -1)
    }

    /// The sides of relationships that the model does not note.
    private func checkInverses(of object: NSManagedObject, _ id: Int, _ kind: Kind, _ view: View, _ place: String)
        throws
    {
        func ids(_ value: Any?) -> Set<Int> {
            Set((value as? Set<NSManagedObject> ?? []).compactMap { $0.value(forKey: "uid") as? Int })
        }
        let (shown, expected): (Set<Int>, Set<Int>)
        switch kind {
        case .piece:
            shown = ids((object.value(forKey: "room") as? NSManagedObject).map { Set([$0]) })
            expected = Set(view.filter { $0.value["pieces"].members.contains(id) }.keys)
        case .theme:
            shown = ids(object.value(forKey: "pieces"))
            expected = Set(view.filter { $0.value["themes"].members.contains(id) }.keys)
        case .room, .country: return
        }
        if shown != expected {
            throw Difference(
                description: "\(place) has \(id) of \(shown.sorted()), and it should be of \(expected.sorted())")
        }
    }

    /// Derived values are those of the last save to the store.
    private func checkDerived(_ context: NSManagedObjectContext, _ place: String) throws {
        for (id, node) in reference.stored where node.kind == .piece || node.kind == .room {
            let object = try object(id, in: context)
            let (shown, expected): (String?, String?)
            if node.kind == .piece {
                shown = object.value(forKey: "upperName") as? String
                expected = if case .text(let name) = node["name"] { name.uppercased() } else { nil }
            } else {
                shown = (object.value(forKey: "pieceCount") as? Int).map(String.init)
                expected = "\(node["pieces"].members.count)"
            }
            if shown != expected {
                throw Difference(
                    description:
                        "\(place) has \(id) with \(shown ?? "nil") derived, and it should be \(expected ?? "nil")")
            }
        }
    }

    // MARK: - The file

    private func checkFile() throws {
        let file = SQLiteFile(url)
        if file.value("PRAGMA integrity_check") != "ok" { throw Difference(description: "the file is damaged") }
        var found: View = reference.stored.filter { $0.value.kind == .country }
        func text(_ cell: SQLiteCell) -> Value { cell.text.map(Value.text) ?? .none }
        var pieces: [Int64: Int] = [:]
        var derived: [String] = []
        for row in try file.cells("SELECT Z_PK, ZUID, ZNAME, ZCODE, ZUNIT, ZWIDTH, ZIMAGE, ZUPPERNAME FROM ZPIECE") {
            var node = ExhibitionReference.Node(kind: .piece)
            (node["name"], node["code"], node["size.unit"]) = (text(row[2]), text(row[3]), text(row[4]))
            node["size.width"] = row[5].integer.map { .number(Int($0)) } ?? .none
            node["image"] = Self.image(try row[6].blob.map(imageData))
            let id = Int(row[1].integer ?? 0)
            if row[7].text != row[2].text?.uppercased() { derived.append("\(id): \(row[7])") }
            pieces[row[0].integer ?? 0] = id
            found[id] = node
        }
        var themes: [Int64: Int] = [:]
        for row in try file.cells("SELECT Z_PK, ZUID, ZNAME FROM ZTHEME") {
            found[Int(row[1].integer ?? 0)] = .init(kind: .theme)
            found[Int(row[1].integer ?? 0)]?["name"] = text(row[2])
            themes[row[0].integer ?? 0] = Int(row[1].integer ?? 0)
        }
        for row in try file.cells("SELECT Z_PK, ZUID, ZLABEL, ZPIECECOUNT FROM ZROOM") {
            var node = ExhibitionReference.Node(kind: .room)
            node["label"] = text(row[2])
            let members = try file.cells(
                "SELECT ZUID FROM ZPIECE WHERE ZROOM = \(row[0].integer ?? 0) ORDER BY Z_FOK_ROOM")
            node["pieces"] = .list(members.map { Int($0[0].integer ?? 0) })
            if row[3].integer != Int64(members.count) { derived.append("\(row[1]): \(row[3])") }
            found[Int(row[1].integer ?? 0)] = node
        }
        // The table that joins pieces and themes, whose columns have the numbers of the entities in
        // their names.
        let table = file.value("SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'Z_[0-9]*'") ?? "?"
        let columns = try file.columns(of: table)
        guard let position = columns.first(where: { $0.hasPrefix("Z_FOK_") }),
            let theme = columns.first(where: { $0 == position.replacingOccurrences(of: "Z_FOK_", with: "Z_") }),
            let piece = columns.first(where: { $0 != position && $0 != theme })
        else { throw Difference(description: "the table \(table) has columns \(columns)") }
        for row in try file.cells("SELECT \(piece), \(theme) FROM \(table) ORDER BY \(position)") {
            let id = pieces[row[0].integer ?? 0] ?? 0
            let members = found[id]?["themes"].members ?? []
            found[id]?["themes"] = .list(members + [themes[row[1].integer ?? 0] ?? 0])
        }
        try compare(found, reference.stored, "the file")
        if !derived.isEmpty { throw Difference(description: "the file has derived values \(derived)") }
    }

    /// The data that a value of external storage refers to.
    private func imageData(_ stored: Data) throws -> Data {
        if stored.first == 1 { return stored.dropFirst() }
        let name = String(decoding: stored.dropFirst().dropLast(), as: UTF8.self)
        return try Data(contentsOf: Gallery.folder(of: url).appendingPathComponent(name))
    }
}
