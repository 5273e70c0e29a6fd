import Foundation

/// The main queue. A program with an asynchronous entry point runs it on threads other than the
/// main one.
enum MainQueue {
    private static let mark: DispatchSpecificKey<Bool> = {
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        return key
    }()

    /// Whether the thread runs work of a queue for which the main queue waits.
    private static let isWaitingKey: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        return key
    }()

    /// Whether the thread runs, or is waited for by, the main queue, or is the main one.
    static var isCurrent: Bool {
        Thread.isMainThread || DispatchQueue.getSpecific(key: mark) == true || pthread_getspecific(isWaitingKey) != nil
    }

    /// Runs work that waits for a block on another queue; the block runs on this thread.
    static func whileWaiting<Failure>(_ work: () throws(Failure) -> Void) throws(Failure) {
        let former = pthread_getspecific(isWaitingKey)
        pthread_setspecific(isWaitingKey, isCurrent ? UnsafeRawPointer(bitPattern: 1) : nil)
        defer { pthread_setspecific(isWaitingKey, former) }
        try work()
    }
}
