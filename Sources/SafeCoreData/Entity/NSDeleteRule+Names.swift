// Short names of delete rules for `@Relationship(deleteRule:)`.
extension NSDeleteRule {
    /// The references of the objects at the other end to the deleted object are removed.
    public static var nullify: NSDeleteRule { .nullifyDeleteRule }

    /// The objects at the other end are deleted as well.
    public static var cascade: NSDeleteRule { .cascadeDeleteRule }

    /// The object cannot be deleted while there are objects at the other end.
    public static var deny: NSDeleteRule { .denyDeleteRule }

    /// Nothing happens: the program itself keeps both ends consistent.
    public static var noAction: NSDeleteRule { .noActionDeleteRule }
}
