/// Carries a value whose safety the surrounding code proves over a boundary that the compiler cannot see through.
struct Unchecked<Value>: @unchecked Sendable {
    // Sendable: each use says why its value may cross.
    let value: Value
    init(_ value: Value) { self.value = value }
}
