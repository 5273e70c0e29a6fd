/// The effect of deleting an object on the objects at the other end of a relationship.
///
/// ```swift
/// items.deleteRule = .denyDeleteRule
/// do {
///     try context.save()
/// } catch CocoaError.validationRelationshipDeniedDelete {    // 1600
///     context.rollback()
/// }
/// ```
public enum NSDeleteRule: UInt, Sendable, Hashable, CaseIterable {
    /// Nothing; the other objects keep a reference to an object that no longer exists.
    case noActionDeleteRule = 0
    /// The other objects' inverse relationships are cleared. The rule of a new relationship.
    case nullifyDeleteRule = 1
    /// The other objects are deleted too.
    case cascadeDeleteRule = 2
    /// The deletion fails in validation while there are other objects.
    case denyDeleteRule = 3
}
