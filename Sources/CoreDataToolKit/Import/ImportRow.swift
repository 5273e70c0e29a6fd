/// An object of a file, with the values as they are written.
struct ImportRow {
    /// The place among the rows of all files, from 0 on.
    let number: Int
    /// The place of the file among all files.
    let file: Int
    let line: Int
    let content: Result<Content, RowMistake>

    struct Content {
        let entity: ImportSchema.Entity
        /// The key in the file's objectID; nil without one.
        let key: Int64?
        /// The properties, without the objectID.
        let members: [JSONValue.Member]
    }
}
