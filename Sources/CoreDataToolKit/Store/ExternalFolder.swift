import CoreData

/// The folder of large values in files beside a store.
struct ExternalFolder {
    struct File {
        let name: String
        let size: Int64
    }

    let url: URL
    /// The files in it, by name.
    let files: [File]

    init(of file: StoreFile) {
        url = file.externalDataFolder
        let keys: Set<URLResourceKey> = [.isDirectoryKey, .fileSizeKey]
        let urls =
            (try? FileManager.default.contentsOfDirectory(at: url, includingPropertiesForKeys: Array(keys))) ?? []
        files = urls.compactMap { url in
            let values = try? url.resourceValues(forKeys: keys)
            if values?.isDirectory == true { return nil }
            return File(name: url.lastPathComponent, size: Int64(values?.fileSize ?? 0))
        }.sorted { $0.name < $1.name }
    }

    /// Returns the place of a file; nil for a name that would lead to another folder.
    static func place(of name: String, in folder: URL) -> URL? {
        if name.isEmpty || name == ".." || name == "." || name.contains("/") { return nil }
        return folder.appendingPathComponent(name)
    }

    var size: Int64 { files.reduce(0) { $0 + $1.size } }

    /// Returns the files that no row of these tables refers to. Reads the external values of all
    /// rows.
    func orphans(in tables: [StoreInspection.EntityTable], reader: SQLiteReader) throws -> [File] {
        if files.isEmpty { return [] }
        var used: Set<String> = []
        for table in tables {
            for cell in table.cells {
                guard case .bytes(isExternal: true) = cell.content else { continue }
                let column = "t." + SQLiteReader.identifier(cell.column)
                let rows = try reader.rows(
                    "SELECT \(column) FROM \(SQLiteReader.identifier(table.name)) t "
                        + "WHERE \(CellChecks.isFile(column))")
                used.formUnion(rows.compactMap { CellChecks.fileName($0[0]) })
            }
        }
        return files.filter { !used.contains($0.name) }
    }
}
