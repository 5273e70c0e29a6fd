import Foundation
import Testing

/// The long tests, which `make test-deep` runs: `OPENCOREDATA_DEEP_TESTS=1` in the environment.
public enum LongTests {
    public static let areEnabled = ProcessInfo.processInfo.environment["OPENCOREDATA_DEEP_TESTS"] == "1"
}

extension Trait where Self == ConditionTrait {
    /// For tests that `make test-deep` runs only.
    public static var long: Self { .enabled(if: LongTests.areEnabled, "a long test, which make test-deep runs") }
}
