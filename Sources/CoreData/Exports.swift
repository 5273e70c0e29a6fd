@_exported import Foundation
@_exported import OpenCoreDataModel
@_exported import Predicates

// A module's own names shadow those of the modules it re-exports: these settle, here and for every
// client, which of the classes that Foundation has too is meant, also in files that import
// Foundation by themselves.

/// A logical condition; see `Predicates.NSPredicate`.
public typealias NSPredicate = Predicates.NSPredicate
/// A comparison of two expressions; see `Predicates.NSComparisonPredicate`.
public typealias NSComparisonPredicate = Predicates.NSComparisonPredicate
/// A combination of conditions; see `Predicates.NSCompoundPredicate`.
public typealias NSCompoundPredicate = Predicates.NSCompoundPredicate
/// A value computed from others; see `Predicates.NSExpression`.
public typealias NSExpression = Predicates.NSExpression
/// An order of objects; see `Predicates.NSSortDescriptor`.
public typealias NSSortDescriptor = Predicates.NSSortDescriptor

#if THREAD_SANITIZER
    package typealias Mutex = OpenCoreDataModel.Mutex
#endif
