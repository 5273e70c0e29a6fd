import CSwiftRuntime

/// Releases the references between objects one after the other, so that the stack depth does not
/// grow with the length of a chain.
///
/// The release of the last reference to an object releases its relationships, and with them the
/// next object: a chain of 14,000 objects would fill the stack of a dispatch thread. The first
/// release on a thread runs a loop instead; nested releases are added to its list.
enum ReleaseQueue {
    private typealias List = ContiguousArray<Retained<AnyObject>>

    static func release<Object: AnyObject>(_ owned: Retained<Object>) {
        if let waiting = opencoredata_getWaitingReleases() {
            waiting.assumingMemoryBound(to: List.self).pointee.append(Retained(pointer: owned.pointer))
            return
        }
        // Only this thread uses the list. An empty list allocates nothing.
        var list = List()
        withUnsafeMutablePointer(to: &list) { waiting in
            opencoredata_setWaitingReleases(waiting)
            owned.release()
            while let next = waiting.pointee.popLast() { next.release() }
            opencoredata_setWaitingReleases(nil)
        }
    }
}
