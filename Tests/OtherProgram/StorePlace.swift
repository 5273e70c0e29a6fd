import CoreData
import CoreDataPostgreSQL

/// A store in a file, or on a server.
struct StorePlace {
    let url: URL
    let type: String

    init(_ text: String) {
        if text.contains("://"), let url = URL(string: text) {
            (self.url, type) = (url, NSPostgreSQLStoreType)
        } else {
            (url, type) = (URL(fileURLWithPath: text), NSSQLiteStoreType)
        }
    }
}
