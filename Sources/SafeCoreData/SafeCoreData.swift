@_exported import CoreData

#if THREAD_SANITIZER
    typealias Mutex = CoreData.Mutex
#endif
