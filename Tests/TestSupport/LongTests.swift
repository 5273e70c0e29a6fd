import Foundation
import Testing

/// The long tests, which `make test-deep` runs: `OPENCOREDATA_DEEP_TESTS=1` in the environment.
public enum LongTests {
    public static let areEnabled = ProcessInfo.processInfo.environment["OPENCOREDATA_DEEP_TESTS"] == "1"

    /// Some of the cases of a test, with which the short run is content; all of them if the long
    /// tests run.
    ///
    /// - Parameter count: how many; they are spread evenly over the list, the first and, of more
    ///   than one, the last among them.
    public static func some<Element>(_ count: Int, of cases: [Element]) -> [Element] {
        if areEnabled || count >= cases.count { return cases }
        return (0..<count).map { cases[$0 * (cases.count - 1) / max(count - 1, 1)] }
    }
}

extension Trait where Self == ConditionTrait {
    /// For tests that `make test-deep` runs only.
    public static var long: Self { .enabled(if: LongTests.areEnabled, "a long test, which make test-deep runs") }
}
