import Foundation

/// The long tests, which `make test-deep` runs: `OPENCOREDATA_DEEP_TESTS=1` in the environment.
public enum LongTests {
    public static let areEnabled = ProcessInfo.processInfo.environment["OPENCOREDATA_DEEP_TESTS"] == "1"
}
