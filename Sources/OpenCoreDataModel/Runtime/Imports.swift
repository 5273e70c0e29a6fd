@_exported import Foundation
@_exported import Predicates

// A module's own names shadow those of the modules it re-exports. These aliases choose the classes
// of this package where Foundation has classes of the same names.

// Documented where users find them, in CoreData.

/// A logical condition; see `Predicates.NSPredicate`.
@_documentation(visibility: internal)
public typealias NSPredicate = Predicates.NSPredicate
/// A comparison of two expressions; see `Predicates.NSComparisonPredicate`.
@_documentation(visibility: internal)
public typealias NSComparisonPredicate = Predicates.NSComparisonPredicate
/// A combination of conditions; see `Predicates.NSCompoundPredicate`.
@_documentation(visibility: internal)
public typealias NSCompoundPredicate = Predicates.NSCompoundPredicate
/// A value computed from other values; see `Predicates.NSExpression`.
@_documentation(visibility: internal)
public typealias NSExpression = Predicates.NSExpression
/// An order of objects; see `Predicates.NSSortDescriptor`.
@_documentation(visibility: internal)
public typealias NSSortDescriptor = Predicates.NSSortDescriptor
