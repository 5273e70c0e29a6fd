import Foundation
import SafeCoreData
import TestSupport

extension StoreKind {
    /// The location of a stack's store; the file is that of a SQLite store.
    func location(_ file: URL) -> StoreLocation {
        switch (self, url(file)) {
        case (.sqlite, let url?): .file(url)
        case (.postgreSQL, let url?): .postgreSQL(url)
        default: .inMemory
        }
    }
}
