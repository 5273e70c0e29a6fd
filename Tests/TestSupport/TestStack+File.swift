import CoreData

extension TestStack {
    /// The stack's store file as the sqlite3 library sees it.
    public var file: SQLiteFile { SQLiteFile(url) }
}
