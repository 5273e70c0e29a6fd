/// Tells how far a migration has come.
package struct MigrationProgress: Sendable {
    let handler: (@Sendable (Double) -> Void)?

    init(_ handler: (@Sendable (Double) -> Void)?) {
        self.handler = handler
    }

    /// - Parameter fraction: from 0 to 1, and never less than before.
    package func report(_ fraction: Double) { handler?(fraction) }
}
