// The short names that `@Relationship(deleteRule:)` reads well with.
extension NSDeleteRule {
    /// The objects at the other end let go of the deleted one.
    public static var nullify: NSDeleteRule { .nullifyDeleteRule }

    /// The objects at the other end are deleted as well.
    public static var cascade: NSDeleteRule { .cascadeDeleteRule }

    /// The object cannot be deleted while there are objects at the other end.
    public static var deny: NSDeleteRule { .denyDeleteRule }

    /// Nothing happens: the program itself keeps both ends in step.
    public static var noAction: NSDeleteRule { .noActionDeleteRule }
}
