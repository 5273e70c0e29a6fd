/// Marks a property of an `NSManagedObject` subclass whose value Core Data stores.
///
/// It takes the place of `@NSManaged`, which needs the Objective-C runtime:
///
/// ```swift
/// public class Person: NSManagedObject {
///     @Managed public var name: String?
///     @Managed public var age: Int16
/// }
/// ```
///
/// The macro turns the property into a computed one that reads and writes the object's storage, so
/// the property needs its type written out and has no initial value: set the default in the model
/// or in `awakeFromInsert()`. Properties may be declared in the class or in an extension of it.
@attached(accessor, names: named(get), named(set))
public macro Managed() = #externalMacro(module: "CoreDataMacros", type: "ManagedMacro")

/// Marks a property of an `NSManagedObject` subclass that has another name in the model.
///
/// ```swift
/// @Managed(key: "description_") public var text: String?
/// ```
///
/// - Parameter key: The property's name in the model, a string literal.
@attached(accessor, names: named(get), named(set))
public macro Managed(key: StaticString) = #externalMacro(module: "CoreDataMacros", type: "ManagedMacro")

/// Writes the body of a method that changes a to-many relationship.
///
/// The methods are those that Xcode writes for a model's classes. A macro that writes accessors
/// cannot be attached to a method, so this macro replaces the `@NSManaged` that Xcode writes there:
///
/// ```swift
/// @ManagedAccessor public func addToChildren(_ value: Person)
/// @ManagedAccessor public func addToChildren(_ values: NSSet)
/// @ManagedAccessor public func removeFromChildren(_ value: Person)
/// @ManagedAccessor public func insertIntoChildren(_ value: Person, at index: Int)
/// @ManagedAccessor public func removeFromChildren(at index: Int)
/// @ManagedAccessor public func replaceChildren(at index: Int, with value: Person)
/// ```
///
/// The relationship's name follows the verb, with its first letter in lower case.
@attached(body)
public macro ManagedAccessor() = #externalMacro(module: "CoreDataMacros", type: "ManagedAccessorMacro")

/// Writes the body of a method that changes a to-many relationship whose name does not follow from
/// the method's.
///
/// ```swift
/// @ManagedAccessor(key: "people") public func addToChildren(_ value: Person)
/// ```
///
/// - Parameter key: The relationship's name in the model, a string literal.
@attached(body)
public macro ManagedAccessor(key: StaticString) = #externalMacro(module: "CoreDataMacros", type: "ManagedAccessorMacro")
