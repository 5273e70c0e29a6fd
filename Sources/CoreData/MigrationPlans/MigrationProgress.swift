/// Reports the progress of a migration.
package struct MigrationProgress: Sendable {
    let handler: (@Sendable (Double) -> Void)?

    init(_ handler: (@Sendable (Double) -> Void)?) {
        self.handler = handler
    }

    /// - Parameter fraction: from 0 to 1, and never less than in an earlier report.
    package func report(_ fraction: Double) { handler?(fraction) }
}
