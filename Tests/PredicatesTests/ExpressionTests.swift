import Predicates
import Testing

struct ExpressionTests {
    @Test func numbersLeaveExpressionsAsWhatCanBeCastToAnyNumber() throws {
        let value = NSExpression(format: "4 + 5 - 2**3").expressionValue(with: nil, context: nil)
        #expect(value as? Int == 1)
        #expect(value as? Double == 1)
        let yes = try #require(NSPredicate(format: "available = true") as? NSComparisonPredicate).rightExpression
        #expect(yes.constantValue as? Bool == true)
        #expect(yes.constantValue as? Int == 1)
        #expect(NSExpression(forConstantValue: Int16(7)).constantValue as? Int == 7)
        #expect(NSExpression(forConstantValue: "7").constantValue as? String == "7")
    }

    @Test func theEvaluatedObjectHasOneExpression() {
        #expect(NSExpression.expressionForEvaluatedObject() === NSExpression.expressionForEvaluatedObject())
    }

    @Test func everyFactoryGivesItsTypeAndParts() {
        let a = NSExpression(forKeyPath: "a")
        let one = NSExpression(forConstantValue: 1)
        #expect(one.expressionType == .constantValue)
        #expect(one.constantValue as? Int == 1)
        #expect(one.constantValue as? NSNumber == 1)
        #expect(NSExpression(forConstantValue: nil).constantValue == nil)
        #expect(a.expressionType == .keyPath)
        #expect(a.operand.expressionType == .evaluatedObject)
        #expect(NSExpression.expressionForEvaluatedObject().description == "SELF")
        #expect(NSExpression.expressionForAnyKey().expressionType == .anyKey)

        let sum = NSExpression(forFunction: "sum:", arguments: [a])
        #expect(sum.expressionType == .function)
        #expect(sum.function == "sum:")
        #expect(sum.arguments == [a])

        let method = NSExpression(forFunction: a, selectorName: "valueForKeyPath:", arguments: ["b"])
        #expect(method.operand == a)
        #expect(method.function == "valueForKeyPath:")

        #expect(NSExpression(forVariable: "x").variable == "x")
        let aggregate = NSExpression(forAggregate: [a, 1])
        #expect(aggregate.collection as? [NSExpression] == [a, one])
        #expect(aggregate.aggregateElements == [a, one])

        let test = NSPredicate(format: "$x.b > 1")
        let subquery = NSExpression(forSubquery: a, usingIteratorVariable: "x", predicate: test)
        #expect(subquery.expressionType == .subquery)
        #expect(subquery.variable == "x")
        #expect(subquery.predicate == test)
        #expect(subquery.collection as? NSExpression == a)

        let sets: [(NSExpression, NSExpression.ExpressionType)] = [
            (NSExpression(forUnionSet: a, with: aggregate), .unionSet),
            (NSExpression(forIntersectSet: a, with: aggregate), .intersectSet),
            (NSExpression(forMinusSet: a, with: aggregate), .minusSet),
        ]
        for (set, type) in sets {
            #expect(set.expressionType == type)
            #expect(set.left == a)
            #expect(set.right == aggregate)
        }

        let conditional = NSExpression(forConditional: test, trueExpression: a, falseExpression: one)
        #expect(conditional.predicate == test)
        #expect(conditional.true == a)
        #expect(conditional.false == one)

        let block = NSExpression(block: { object, arguments, _ in "\(object ?? "") \(arguments)" }, arguments: [one])
        #expect(block.expressionType == .block)
        #expect(block.expressionValue(with: "x", context: nil) as? String == "x [1]")
    }

    @Test func theOperandOfAKeyPathIsWhatItStartsFrom() throws {
        let count = try NSExpression.parse("SUBQUERY(a, $x, $x.b == 1).@count")
        #expect(count.expressionType == .keyPath)
        #expect(count.keyPath == "@count")
        #expect(count.operand.expressionType == .subquery)
    }

    @Test func rawValuesAreApples() {
        #expect(NSExpression.ExpressionType.subquery.rawValue == 13)
        #expect(NSExpression.ExpressionType.conditional.rawValue == 20)
        #expect(NSComparisonPredicate.Operator.contains.rawValue == 99)
        #expect(NSComparisonPredicate.Operator.between.rawValue == 100)
        #expect(NSComparisonPredicate.Operator.customSelector.rawValue == 11)
        #expect(NSCompoundPredicate.LogicalType.or.rawValue == 2)
    }

    @Test func aVariableReadsTheContext() {
        let expression = NSExpression(format: "$x * price")
        #expect(expression.expressionValue(with: ["price": 3], context: ["x": 2]) as? Int == 6)
    }

    /// Foundation's product of two such decimals ends the program.
    @Test(arguments: [("1e-120", "1e-20"), ("1e-128", "1e-128"), ("1e127", "1e127"), ("-3e-100", "7e-100")])
    func productsThatNoDecimalCanHoldAreFloatingPoint(_ first: String, _ second: String) throws {
        let factors = try [first, second].map { try #require(Decimal(string: $0)) }
        let product = NSExpression(format: "%@ * %@", factors[0], factors[1]).expressionValue(with: nil, context: nil)
        let expected = try #require(Double(first)) * #require(Double(second))
        #expect(product as? Double == expected)
    }

    @Test func decimalsAreComparedWithWhatNoDecimalCanHold() {
        #expect(NSPredicate(format: "%@ > %@", Decimal(5), -1e300).evaluate(with: nil))
        #expect(NSPredicate(format: "%@ < %@", Decimal(5), 1e300).evaluate(with: nil))
        #expect(!NSPredicate(format: "%@ > %@", Decimal(5), Double.infinity).evaluate(with: nil))
    }

    @Test func arithmeticOnDatesGivesDatesAndSeconds() {
        let date = Date(timeIntervalSinceReferenceDate: 100)
        #expect(NSExpression(format: "%@ + 60", date).expressionValue(with: nil, context: nil) as? Date == date + 60)
        #expect(
            NSExpression(format: "%@ - %@", date + 5, date).expressionValue(with: nil, context: nil) as? Double == 5)
    }

    @Test func sumsKeepTheTypeOfTheirNumbers() {
        let whole = NSExpression(format: "SELF.@sum.self").expressionValue(with: [1, 2], context: nil)
        #expect(whole as? Int == 3)
        let decimal = NSExpression(format: "@sum.self").expressionValue(
            with: [Decimal(string: "0.1")!, Decimal(string: "0.2")!], context: nil)
        #expect(decimal as? Decimal == Decimal(string: "0.3"))
    }

    @Test func aConstantCollectionMayHoldExpressions() {
        let bounds = [NSExpression(forKeyPath: "low"), NSExpression(forConstantValue: 9)]
        let predicate = NSComparisonPredicate(
            leftExpression: NSExpression(forKeyPath: "a"), rightExpression: NSExpression(forConstantValue: bounds),
            modifier: .direct, type: .between)
        #expect(predicate.evaluate(with: ["a": 5, "low": 1]))
        #expect(!predicate.evaluate(with: ["a": 5, "low": 6]))
    }
}
