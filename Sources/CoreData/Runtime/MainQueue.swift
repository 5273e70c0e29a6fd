import Foundation

/// The main queue, which a program whose entry point is asynchronous runs on other threads than the main one.
enum MainQueue {
    private static let mark: DispatchSpecificKey<Bool> = {
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        return key
    }()

    /// Whether the calling thread works on another queue of the library's while the main queue waits for that.
    private static let isWaitingKey: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        return key
    }()

    /// Whether the calling thread is the main one, runs a block of the main queue, or does what that waits for.
    static var isCurrent: Bool {
        Thread.isMainThread || DispatchQueue.getSpecific(key: mark) == true || pthread_getspecific(isWaitingKey) != nil
    }

    /// Runs work that waits for a block on another queue, which runs on this thread.
    static func whileWaiting<Failure>(_ work: () throws(Failure) -> Void) throws(Failure) {
        let former = pthread_getspecific(isWaitingKey)
        pthread_setspecific(isWaitingKey, isCurrent ? UnsafeRawPointer(bitPattern: 1) : nil)
        defer { pthread_setspecific(isWaitingKey, former) }
        try work()
    }
}
