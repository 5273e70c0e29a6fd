import CSwiftRuntime

/// Releases what objects hold of each other one after the other, so that the depth of the stack does not grow with a chain of objects.
///
/// The release of the last reference to an object releases its relationships, and with them the next object: 14,000 of them would fill the
/// stack of a dispatch thread. The first release on a thread runs a loop instead, and those within it wait in its list.
enum ReleaseQueue {
    private typealias List = ContiguousArray<Unmanaged<AnyObject>>

    static func release<Owned: AnyObject>(_ owned: Unmanaged<Owned>) {
        if let waiting = opencoredata_getWaitingReleases() {
            waiting.assumingMemoryBound(to: List.self).pointee.append(.fromOpaque(owned.toOpaque()))
            return
        }
        // Only this thread uses the list, and only until the end of the loop. It allocates nothing while it is empty.
        var list = List()
        withUnsafeMutablePointer(to: &list) { waiting in
            opencoredata_setWaitingReleases(waiting)
            owned.release()
            while let next = waiting.pointee.popLast() { next.release() }
            opencoredata_setWaitingReleases(nil)
        }
    }
}
