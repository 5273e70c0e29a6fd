#if canImport(Runtime)
    import Runtime
#endif

/// The line of the program that has called the framework.
enum ProgramPlace {
    /// The folder of the framework's own modules.
    private static let ownFolder: String = {
        let path = #filePath
        return path.range(of: "/CoreData/StoreInterface/").map { String(path[...$0.lowerBound]) } ?? path
    }()

    /// Parts of the paths of code that the compiler made.
    private static let generated = ["<compiler-generated>", "@__swiftmacro"]

    /// `path:line`; nil where the program has no debug information. It takes seconds in a large
    /// program.
    static var current: String? {
        #if canImport(Runtime)
            for frame in (try? Backtrace.capture())?.symbolicated()?.frames ?? [] {
                guard let place = frame.symbol?.sourceLocation, place.line > 0, place.path.hasPrefix("/"),
                    !place.path.hasPrefix(ownFolder), !generated.contains(where: place.path.contains)
                else { continue }
                return "\(place.path):\(place.line)"
            }
        #endif
        return nil
    }
}
