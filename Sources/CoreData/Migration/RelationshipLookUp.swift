/// An expression of a mapping model that looks up what was made of the objects of a relationship.
struct RelationshipLookUp: Equatable {
    /// The relationship of the source entity.
    let relationship: String
    /// The mapping that made the objects; nil for all that apply to the relationship's destination.
    let mapping: String?

    static let byMapping = "destinationInstancesForEntityMappingNamed:sourceInstances:"
    static let byRelationship = "destinationInstancesForSourceRelationshipNamed:sourceInstances:"

    /// Reads an expression; nil if it is another one.
    init?(_ expression: NSExpression) {
        guard let target = expression.methodTarget, target.isVariable(NSMigrationManagerKey),
            let arguments = expression.arguments, arguments.count == 2,
            arguments[0].expressionType == .constantValue, let name = arguments[0].constantValue as? String,
            let relationship = arguments[1].sourceProperty
        else { return nil }
        switch expression.function {
        case Self.byMapping: mapping = name
        case Self.byRelationship where name == relationship: mapping = nil
        default: return nil
        }
        self.relationship = relationship
    }
}

extension NSExpression {
    fileprivate func isVariable(_ name: String) -> Bool { expressionType == .variable && variable == name }

    /// The property of the source object whose value the expression is; nil for other expressions.
    var sourceProperty: String? {
        guard expressionType == .keyPath, operand.isVariable(NSMigrationSourceObjectKey), !keyPath.contains(".")
        else { return nil }
        return keyPath
    }
}
