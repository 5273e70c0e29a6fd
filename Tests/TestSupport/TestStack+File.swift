import CoreData

extension TestStack {
    /// The stack's store file as the sqlite3 library sees it.
    public var file: SQLiteFile { SQLiteFile(url) }
}

extension SQLiteFile {
    /// The first value of a query as an integer.
    public func integer(_ sql: String) -> Int? { value(sql).flatMap { Int($0) } }
}
