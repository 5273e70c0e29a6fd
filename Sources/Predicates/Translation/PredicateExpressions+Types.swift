import Foundation

// Classes of objects: `$0 is Novel`, `$0 as? Novel`, `$0 as! Novel`.

/// A class whose objects a store can distinguish from those of other classes.
package protocol PredicateObjectType {
    /// Returns a predicate that is true where an expression gives an object of the class.
    static func typeCheck(of object: NSExpression) -> NSPredicate
}

/// An expression that treats a value as one of another type.
protocol CastExpression {
    var value: Any { get }
    var wantedType: Any.Type { get }
}

extension CastExpression {
    /// Returns a predicate that is true where the value is of the type.
    func typeCheck(with translation: inout PredicateTranslation) throws -> NSPredicate {
        guard let type = wantedType as? any PredicateObjectType.Type else {
            throw PredicateTranslation.Untranslatable(
                message: "only objects can be asked for their class, and \(wantedType) is none that a store has", expression: self)
        }
        return type.typeCheck(of: try translation.expression(value))
    }
}

extension PredicateExpressions.TypeCheck: TranslatableExpression, CastExpression {
    var value: Any { input }
    var wantedType: Any.Type { Desired.self }

    func translate(with translation: inout PredicateTranslation) throws -> PredicateTranslation.Part {
        .predicate(try typeCheck(with: &translation))
    }

    func text(with text: inout ExpressionText) -> String { "\(text.operand(input)) is \(Desired.self)" }
}

extension PredicateExpressions.ConditionalCast: TranslatableExpression, CastExpression {
    var value: Any { input }
    var wantedType: Any.Type { Desired.self }

    func translate(with translation: inout PredicateTranslation) throws -> PredicateTranslation.Part {
        .expression(try translation.expression(input).where(try typeCheck(with: &translation)))
    }

    func text(with text: inout ExpressionText) -> String { "(\(text.operand(input)) as? \(Desired.self))" }
}

extension PredicateExpressions.ForceCast: TranslatableExpression, CastExpression {
    var value: Any { input }
    var wantedType: Any.Type { Desired.self }

    func translate(with translation: inout PredicateTranslation) throws -> PredicateTranslation.Part {
        .expression(try translation.expression(input))
    }

    func text(with text: inout ExpressionText) -> String { "(\(text.operand(input)) as! \(Desired.self))" }
}
