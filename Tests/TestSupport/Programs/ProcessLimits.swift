import Foundation

/// Limits of this process.
public enum ProcessLimits {
    #if canImport(Glibc)
        private static let (size, descriptors) = (Int32(RLIMIT_FSIZE.rawValue), Int32(RLIMIT_NOFILE.rawValue))
    #else
        private static let (size, descriptors) = (RLIMIT_FSIZE, RLIMIT_NOFILE)
    #endif

    private static func set(_ resource: Int32, to value: rlim_t?) {
        var limits = rlimit()
        getrlimit(resource, &limits)
        limits.rlim_cur = value ?? limits.rlim_max
        setrlimit(resource, &limits)
    }

    /// Limits the size of files; nil for no limit.
    public static func limitFiles(toBytes bytes: Int?) {
        // Without a handler the signal ends the process.
        signal(SIGXFSZ, SIG_IGN)
        set(size, to: bytes.map { rlim_t($0) })
    }

    /// Limits the files that are opened besides those that are open; nil for no limit.
    public static func limitNewDescriptors(to count: Int?) {
        guard let count else { return set(descriptors, to: nil) }
        let free = open("/dev/null", O_RDONLY)
        close(free)
        set(descriptors, to: rlim_t(Int(free) + count))
    }
}
