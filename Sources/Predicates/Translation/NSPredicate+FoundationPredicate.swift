import Foundation

/// An error that names the part of a `#Predicate` without a counterpart in an ``NSPredicate``.
///
/// ```swift
/// do {
///     request.predicate = try NSPredicate.translating(predicate)
/// } catch let error as PredicateTranslationError {
///     print(error.message, error.expression)
/// }
/// ```
public struct PredicateTranslationError: Error, Hashable, Sendable, CustomStringConvertible, LocalizedError {
    /// The reason, as a sentence without its full stop.
    public let message: String
    /// The part that cannot be translated, as Swift source; `$0` is the object.
    public let expression: String
    /// The whole predicate, as Swift source.
    public let predicate: String

    public var description: String { "\(message): \(expression) in #Predicate { \(predicate) }" }

    public var errorDescription: String? { description }
}

extension NSPredicate {
    /// Translates a predicate that the compiler has checked, so that it can run in a store.
    ///
    ///     let few = try NSPredicate.translating(
    ///         #Predicate<Item> { $0.stock < 5 && $0.name.contains("x") })
    ///
    /// Key paths are named by ``KeyPathNaming``. Parts that do not depend on the object are
    /// computed now, with their current values. Text is compared literally. `count` of a text
    /// becomes `length:`, which differs where a character has several code units.
    ///
    /// - Throws: ``PredicateTranslationError`` for an operation or a key path without a
    ///   counterpart.
    public static func translating<Input>(_ predicate: Predicate<Input>) throws -> NSPredicate {
        var translation = PredicateTranslation(input: predicate.variable.key)
        do {
            return try translation.predicate(predicate.expression)
        } catch let untranslatable as PredicateTranslation.Untranslatable {
            var text = ExpressionText(input: predicate.variable.key)
            let whole = text.of(predicate.expression)
            let part = translation.untranslatablePart.map { text.of($0) } ?? whole
            throw PredicateTranslationError(message: untranslatable.message, expression: part, predicate: whole)
        }
    }
}

extension PredicateFormatInitializable {
    /// Translates a predicate that the compiler has checked; nil for one that cannot be translated.
    ///
    /// The reason is printed to the standard error. ``NSPredicate/translating(_:)`` throws it
    /// instead.
    ///
    /// ```swift
    /// request.predicate = NSPredicate(#Predicate<Item> { $0.stockCount < 5 })
    /// ```
    public init?<Input: NSObject>(_ predicate: Predicate<Input>) {
        let translated: NSPredicate
        do {
            translated = try NSPredicate.translating(predicate)
        } catch {
            FileHandle.standardError.write(Data("CoreData: The predicate cannot be translated: \(error)\n".utf8))
            return nil
        }
        guard let translated = translated as? Self else { return nil }
        self = translated
    }
}
