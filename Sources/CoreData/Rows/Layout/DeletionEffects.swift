import Foundation

/// The effects of an object's deletion through one of its relationships, by the delete rule.
///
/// Contexts, the batches of databases and those of the store in memory carry them out. An attribute
/// has none.
struct DeletionEffects {
    /// Whether a destination that is not deleted too forbids the deletion.
    let isDenied: Bool
    /// Whether the destinations are deleted too.
    let deletesDestinations: Bool
    /// Whether the references between the object and its destinations are cleared.
    let nullifies: Bool
    /// Whether the inverse relationship is not optional.
    let inverseIsRequired: Bool
    /// Whether the inverse relationship must keep a destination: it is required, and to-one or with
    /// a minimum count.
    let inverseHasMinimum: Bool

    init(of relationship: NSRelationshipDescription?) {
        let rule = relationship?.deleteRule
        isDenied = rule == .denyDeleteRule
        deletesDestinations = rule == .cascadeDeleteRule
        nullifies = rule == .nullifyDeleteRule
        let inverse = relationship?.inverseRelationship
        inverseIsRequired = inverse?.isOptional == false
        inverseHasMinimum = inverseIsRequired && (inverse?.isToMany == false || (inverse?.minCount ?? 0) > 0)
    }

    /// Whether the deletion changes, or deletes, the destinations.
    var reachesDestinations: Bool { nullifies || deletesDestinations }
}
