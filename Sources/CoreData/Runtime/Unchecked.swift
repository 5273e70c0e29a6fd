/// Carries a value across a boundary that the compiler cannot check. The surrounding code proves
/// its safety.
struct Unchecked<Value>: @unchecked Sendable {
    // Sendable: each use states why its value may cross the boundary.
    let value: Value
    init(_ value: Value) { self.value = value }
}
