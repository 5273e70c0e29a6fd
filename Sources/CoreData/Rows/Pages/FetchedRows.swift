/// Rows in result order and the pages that keep them alive.
package struct FetchedRows: @unchecked Sendable {
    // Sendable: rows are immutable, and their pages are retained beside them.
    package var rows: ContiguousArray<RowPointer> = []
    package var pages: [RowPage] = []
    /// Whether no two of the rows have the same key.
    package var areDistinct = false

    package init() {}

    init(rows: ContiguousArray<RowPointer>, pages: [RowPage]) {
        self.rows = rows
        self.pages = pages
    }

    /// Creates the rows of pages, page after page.
    init(pagesInOrder pages: [RowPage]) {
        self.pages = pages
        let count = pages.reduce(0) { $0 + $1.rowCount }
        // An initializer for no elements would write to the storage that all empty arrays share.
        if count == 0 {
            rows = []
            return
        }
        rows = ContiguousArray(unsafeUninitializedCapacity: count) { buffer, initialized in
            for page in pages {
                for index in 0..<page.rowCount {
                    buffer.initializeElement(at: initialized, to: page.row(at: index))
                    initialized += 1
                }
            }
        }
    }
}

/// Rows found through a relationship, each with the key of the row it belongs to.
package struct RelatedRows {
    package var rows = FetchedRows()
    /// The owner's primary key of each row; as many keys as rows.
    package var ownerKeys: ContiguousArray<Int64> = []

    package init(rows: FetchedRows = FetchedRows(), ownerKeys: ContiguousArray<Int64> = []) {
        self.rows = rows
        self.ownerKeys = ownerKeys
    }
}
