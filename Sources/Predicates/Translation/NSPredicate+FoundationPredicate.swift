import Foundation

/// Says which part of a `#Predicate` has no counterpart in an ``NSPredicate``.
public struct PredicateTranslationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is missing, as a sentence without its full stop.
    public let message: String

    public var description: String { message }
}

extension NSPredicate {
    /// Translates a predicate that the compiler has checked, so that it can run in a store.
    ///
    ///     let few = try NSPredicate.translating(#Predicate<Item> { $0.stock < 5 && $0.name.contains("x") })
    ///
    /// Key paths are named by ``KeyPathNaming``. `contains` and `starts(with:)` compare literally.
    /// Foundation has no `localizedStandardContains` for `#Predicate` on platforms without Objective-C.
    ///
    /// - Throws: ``PredicateTranslationError`` for an operation or a key path without a counterpart.
    public static func translating<Input>(_ predicate: Predicate<Input>) throws -> NSPredicate {
        var translation = PredicateTranslation(input: predicate.variable.key)
        return try translation.predicate(predicate.expression)
    }
}

extension PredicateFormatInitializable {
    /// Translates a predicate that the compiler has checked. One that cannot be translated ends the program; see
    /// ``NSPredicate/translating(_:)``.
    public init<Input: NSObject>(_ predicate: Predicate<Input>) {
        let translated: NSPredicate
        do {
            translated = try NSPredicate.translating(predicate)
        } catch {
            preconditionFailure("The predicate cannot be translated: \(error)")
        }
        guard let translated = translated as? Self else {
            preconditionFailure("The predicate is a \(type(of: translated)), not a \(Self.self).")
        }
        self = translated
    }
}
