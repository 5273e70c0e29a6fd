import CoreData
import TestSupport

/// A named reader of a library's history, which may be killed at any time.
enum HistoryReading {
    /// Prints the number of each transaction that the reader has not read, and keeps its place
    /// after each one, until it kills itself because its input has ended.
    static func run(_ place: StorePlace, reader: String) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        try coordinator.addPersistentStore(
            ofType: place.type, configurationName: nil, at: place.url, options: [NSPersistentHistoryTrackingKey: true])
        let context = coordinator.newContext()
        guard var token = try coordinator.historyToken(beginning: reader) else { return }
        Thread {
            while readLine() != nil {}
            kill(getpid(), SIGKILL)
        }.start()
        FileHandle.standardOutput.write(Data("ready\n".utf8))
        while true {
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
            let result = try context.execute(request) as? NSPersistentHistoryResult
            for transaction in result?.result as? [NSPersistentHistoryTransaction] ?? [] {
                FileHandle.standardOutput.write(Data("\(transaction.transactionNumber)\n".utf8))
                token = transaction.token
                try coordinator.setHistoryToken(token, forReader: reader)
            }
        }
    }
}
