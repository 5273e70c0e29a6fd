import Foundation
import SafeCoreData
import TestSupport

extension StoreKind {
    /// Where a stack keeps its store that would lie in a file if it were one of SQLite.
    func location(_ file: URL) -> StoreLocation {
        switch (self, url(file)) {
        case (.sqlite, let url?): .file(url)
        case (.postgreSQL, let url?): .postgreSQL(url)
        default: .inMemory
        }
    }
}
