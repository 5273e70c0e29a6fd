import Foundation

// Classes of objects: `$0 is Novel`, `$0 as? Novel`, `$0 as! Novel`.

/// A class whose objects a store can distinguish from those of other classes.
package protocol PredicateObjectType {
    /// Returns a predicate that is true where an expression gives an object of the class.
    static func typeCheck(of object: NSExpression) -> NSPredicate
}

protocol CastExpression {
    associatedtype Input
    associatedtype Desired
    var input: Input { get }
}

extension CastExpression {
    func typeCheck(with translation: inout PredicateTranslation) throws -> NSPredicate {
        guard let type = Desired.self as? any PredicateObjectType.Type else {
            throw translation.untranslatable(
                self, "only objects can be asked for their class, and \(Desired.self) is none that a store has")
        }
        return type.typeCheck(of: try translation.expression(input))
    }
}

extension PredicateExpressions.TypeCheck: TranslatableExpression, CastExpression {
    func translate(with translation: inout PredicateTranslation) throws -> Part {
        .predicate(try typeCheck(with: &translation))
    }

    func text(with text: inout ExpressionText) -> String { "\(text.operand(input)) is \(Desired.self)" }
}

extension PredicateExpressions.ConditionalCast: TranslatableExpression, CastExpression {
    func translate(with translation: inout PredicateTranslation) throws -> Part {
        .expression(try translation.expression(input).where(try typeCheck(with: &translation)))
    }

    func text(with text: inout ExpressionText) -> String { "(\(text.operand(input)) as? \(Desired.self))" }
}

extension PredicateExpressions.ForceCast: TranslatableExpression, CastExpression {
    func translate(with translation: inout PredicateTranslation) throws -> Part {
        .expression(try translation.expression(input))
    }

    func text(with text: inout ExpressionText) -> String { "(\(text.operand(input)) as! \(Desired.self))" }
}
