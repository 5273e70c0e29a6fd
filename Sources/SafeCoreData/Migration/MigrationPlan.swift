/// All versions of a store's classes, oldest first, and the steps between neighbours.
///
/// A stack with a plan opens stores of every listed version: it carries out the steps from the
/// store's version to the newest one.
///
/// ```swift
/// let plan = MigrationPlan(from: ShopV1.self)
///     .inferred(to: ShopV2.self)
///     .step(to: ShopV3.self) { step in
///         step.map(ShopV2.Person.self, to: ShopV3.Person.self) { old, new in
///             new.fullName = old.first + " " + old.last
///         }
///     }
/// let stack = DataStack(migration: plan, store: .file(url))
/// ```
///
/// Each step begins at the version where the one before ends, so a plan has no gaps.
public struct MigrationPlan<Newest: VersionedSchema>: Sendable {
    let chain: MigrationChain

    private init(chain: MigrationChain) { self.chain = chain }

    /// Creates a plan with one version: the oldest whose stores are opened.
    public init(from oldest: Newest.Type) {
        chain = MigrationChain(versions: [SchemaVersion(oldest)], steps: [])
    }

    /// Adds a version that follows from the one before by changes that Core Data infers: added,
    /// removed and renamed entities and properties.
    ///
    /// Objects get the initial value of a new property: one evaluation for all of them.
    public func inferred<Next: VersionedSchema>(to next: Next.Type) -> MigrationPlan<Next> {
        adding(next, nil)
    }

    /// Adds a version whose objects are made from those of the version before by closures.
    ///
    /// Entities that the step neither maps nor drops are copied: each keeps the properties that
    /// both versions have, by name or original name.
    ///
    /// - Parameters:
    ///   - next: the version to migrate to.
    ///   - body: says which classes are mapped; called at once.
    public func step<Next: VersionedSchema>(
        to next: Next.Type, _ body: (inout MigrationStep) -> Void
    ) -> MigrationPlan<Next> {
        var step = MigrationStep()
        body(&step)
        return adding(next, step)
    }

    private func adding<Next>(_ next: Next.Type, _ step: MigrationStep?) -> MigrationPlan<Next> {
        MigrationPlan<Next>(
            chain: MigrationChain(versions: chain.versions + [SchemaVersion(next)], steps: chain.steps + [step]))
    }
}
