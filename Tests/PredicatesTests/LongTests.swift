import Predicates

/// The long tests, as `LongTests` of TestSupport has them. That knows the whole engine; these tests
/// need no more than `Predicates`.
enum LongTests {
    static let areEnabled = ProcessInfo.processInfo.environment["OPENCOREDATA_DEEP_TESTS"] == "1"
}
