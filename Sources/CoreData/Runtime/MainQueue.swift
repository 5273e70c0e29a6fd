import Foundation

/// The main queue, which a program whose entry point is asynchronous runs on other threads than the main one.
enum MainQueue {
    private static let mark: DispatchSpecificKey<Bool> = {
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        return key
    }()

    /// Whether the calling thread is the main one, or runs a block of the main queue.
    static var isCurrent: Bool { Thread.isMainThread || DispatchQueue.getSpecific(key: mark) == true || ThreadWork.current.waitsOnMainQueue }
}
