import SafeCoreData

/// Generates values that an attribute accepts.
struct AttributeSamples {
    private let attribute: NSAttributeDescription
    private let object: NSManagedObject

    init(_ attribute: NSAttributeDescription, of object: NSManagedObject) {
        self.attribute = attribute
        self.object = object
    }

    /// Returns an accepted value that differs from the object's present one if possible; nil if
    /// none was found.
    ///
    /// - Parameter serial: a number; values for different numbers differ as far as the attribute's
    ///   type and rules allow.
    func value(_ serial: Int) -> Any? {
        let current = RoundTripValue(object.value(forKey: attribute.name))
        // If no value can be generated, the object's initial value is used.
        let given = object.value(forKey: attribute.name).map { [$0] } ?? []
        let accepted = (candidates(serial) + given).filter(isAccepted)
        return accepted.first { RoundTripValue($0) != current } ?? accepted.first
    }

    private func isAccepted(_ value: Any) -> Bool {
        if attribute.attributeType == .transformableAttributeType { return canTransform(value) }
        var given: AnyObject? = value as AnyObject
        do {
            try object.validateValue(&given, forKey: attribute.name)
            return true
        } catch {
            return false
        }
    }

    private func canTransform(_ value: Any) -> Bool {
        object.setValue(value, forKey: attribute.name)
        return (try? object.transformedData(forKey: attribute.name)).flatMap { $0 } != nil
    }

    private func candidates(_ serial: Int) -> [Any] {
        if let own = (type(of: object) as? any EntityObject.Type)?._samples(of: attribute.name) {
            return own
        }
        let number = serial
        switch attribute.attributeType {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType:
            return ([Decimal(number)] + limits(around: 1)).map {
                NSNumber(value: NSDecimalNumber(decimal: $0).int64Value)
            }
        case .decimalAttributeType:
            return ([Decimal(number) + Decimal(sign: .plus, exponent: -2, significand: 25)] + limits(around: 1)).map {
                NSDecimalNumber(decimal: $0)
            }
        case .doubleAttributeType, .floatAttributeType:
            return ([Decimal(number) + Decimal(sign: .plus, exponent: -2, significand: 25)] + limits(around: 0)).map {
                NSNumber(value: NSDecimalNumber(decimal: $0).doubleValue)
            }
        case .booleanAttributeType: return [NSNumber(value: true), NSNumber(value: false)]
        case .stringAttributeType: return texts(number)
        case .dateAttributeType:
            return [Date(timeIntervalSinceReferenceDate: Double(number) * 86400)] + dateLimits
        case .binaryDataAttributeType: return [Data([UInt8(truncatingIfNeeded: number), 2, 3])]
        case .UUIDAttributeType: return [UUID()]
        case .URIAttributeType: return ["https://example.com/\(number)"].compactMap { URL(string: $0) }
        case .transformableAttributeType:
            return [["text \(number)"] as NSArray, "text \(number)", NSNumber(value: number)]
        case .compositeAttributeType:
            let elements = (attribute as? NSCompositeAttributeDescription)?.elements ?? []
            var values: [String: Any] = [:]
            for element in elements {
                values[element.name] = AttributeSamples(element, of: object).candidates(serial).first
            }
            return [values]
        case .undefinedAttributeType, .objectIDAttributeType: return []
        }
    }

    /// Returns texts that match the patterns of the rules, texts of several common forms, and texts
    /// of the lengths that the rules name.
    private func texts(_ number: Int) -> [Any] {
        let base = "text \(number)"
        let lengths = limits(around: 0).map { NSDecimalNumber(decimal: $0).intValue }.filter {
            (1...10_000).contains($0)
        }
        let padded = lengths.map { length in
            String(String(repeating: "\(number)abcdefghij", count: length / 10 + 1).prefix(length))
        }
        let letters = Self.letters(of: number)
        let forms = [
            letters, letters.uppercased(), letters.capitalized, "\(number)", "\(letters)@example.com",
            "+49 30 \(number)",
        ]
        let matching = patterns.flatMap { pattern in
            (0..<4).compactMap { PatternSamples.text(matching: pattern, number + $0) }
        }
        return matching + [base] + padded + forms
    }

    private static func letters(of number: Int) -> String {
        let alphabet = Array("abcdefghijklmnopqrstuvwxyz")
        var text = ""
        var rest = number
        repeat {
            text = String(alphabet[rest % alphabet.count]) + text
            rest /= alphabet.count
        } while rest > 0
        return text
    }

    /// Returns the numbers that the attribute's rules compare with, and their neighbours at a
    /// distance.
    private func limits(around distance: Int) -> [Decimal] {
        constants.compactMap { ($0 as? NSNumber)?.decimalValue }.flatMap { limit in
            distance == 0 ? [limit] : [limit, limit + Decimal(distance), limit - Decimal(distance)]
        }
    }

    private var dateLimits: [Date] { comparisons.compactMap(\.limitingDate) }

    private var patterns: [String] {
        comparisons.filter { $0.predicateOperatorType == .matches }.compactMap {
            $0.rightExpression.constantValue as? String
        }
    }

    private var constants: [Any] { comparisons.compactMap(\.rightExpression.constantValue) }

    /// The rules that compare with a constant.
    private var comparisons: [NSComparisonPredicate] {
        attribute.validationPredicates.compactMap { $0 as? NSComparisonPredicate }.filter {
            $0.rightExpression.expressionType == .constantValue
        }
    }
}
