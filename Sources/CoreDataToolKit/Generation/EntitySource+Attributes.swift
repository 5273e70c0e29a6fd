import CoreData

extension EntitySource {
    mutating func declaration(of attribute: NSAttributeDescription) -> String {
        let name = SwiftNames.declared(attribute.name)
        if let derived = attribute as? NSDerivedAttributeDescription {
            if derived.renamingIdentifier != derived.name || !plainOptions(of: attribute).isEmpty {
                warn(attribute.name, "a derived attribute has no options in the class")
            }
            let type = valueType(of: attribute) + (attribute.isOptional ? "?" : "")
            let mark = "@Derived(\(SwiftLiteral.text(derived.derivationText ?? "")))"
            return declaration(marks: [mark], "var \(name): \(type)")
        }
        let value = initialValue(of: attribute)
        if attribute.isTransient { return transient(attribute, value) }
        let type = valueType(of: attribute) + (attribute.isOptional ? "?" : "")
        return declaration(marks: mark(of: attribute), "var \(name): \(type)" + (value.map { " = \($0)" } ?? ""))
    }

    private mutating func transient(_ attribute: NSAttributeDescription, _ value: String?) -> String {
        let name = SwiftNames.declared(attribute.name)
        if !plainOptions(of: attribute).isEmpty || attribute.renamingIdentifier != attribute.name
            || attribute.versionHashModifier != nil || !attribute.validationPredicates.isEmpty
        {
            warn(attribute.name, "a transient attribute has no options in the class")
        }
        var isOptional = attribute.isOptional
        if !isOptional, value == nil {
            isOptional = true
            warn(attribute.name, "a transient attribute without default value is optional in the class")
        }
        let type = valueType(of: attribute) + (isOptional ? "?" : "")
        return declaration(marks: ["@Transient"], "var \(name): \(type)" + (value.map { " = \($0)" } ?? ""))
    }

    func valueType(of attribute: NSAttributeDescription) -> String {
        switch attribute.attributeType {
        case .integer16AttributeType: return "Int16"
        case .integer32AttributeType: return "Int32"
        case .integer64AttributeType: return "Int"
        case .decimalAttributeType: return "Decimal"
        case .doubleAttributeType: return "Double"
        case .floatAttributeType: return "Float"
        case .stringAttributeType: return "String"
        case .booleanAttributeType: return "Bool"
        case .dateAttributeType: return "Date"
        case .binaryDataAttributeType: return "Data"
        case .UUIDAttributeType: return "UUID"
        case .URIAttributeType: return "URL"
        case .transformableAttributeType:
            // The program's own classes may not be visible here.
            let name = attribute.attributeValueClassName ?? ""
            return ["NSArray", "NSDictionary", "NSNumber", "NSSet", "NSString"].contains(name) ? name : "NSObject"
        case .compositeAttributeType:
            return (attribute as? NSCompositeAttributeDescription).map { source(of: $0).typeName } ?? "Any"
        case .undefinedAttributeType, .objectIDAttributeType: return "Any"
        }
    }

    private mutating func initialValue(of attribute: NSAttributeDescription) -> String? {
        if let composite = attribute as? NSCompositeAttributeDescription { return source(of: composite).initialValue }
        guard let value = attribute.defaultValue, !(value is NSNull) else { return nil }
        if let literal = SwiftLiteral.defaultValue(of: attribute) { return literal }
        warn(attribute.name, "its default value cannot be written")
        return nil
    }

    // MARK: Options

    private mutating func mark(of attribute: NSAttributeDescription) -> [String] {
        var options = plainOptions(of: attribute) + validation(of: attribute)
        if isMarkedUnique(attribute) { options.insert(".unique", at: 0) }
        if let original = attribute.renamingIdentifier, original != attribute.name {
            options.append("originalName: \(SwiftLiteral.text(original))")
        }
        if let modifier = attribute.versionHashModifier {
            options.append("versionHashModifier: \(SwiftLiteral.text(modifier))")
        }
        if let userInfo = Self.texts(of: attribute.userInfo), !Self.isMarkOfEnumeration(attribute) {
            options.append("userInfo: \(SwiftLiteral.dictionary(userInfo))")
        }
        return options.isEmpty ? [] : ["@Attribute(\(options.joined(separator: ", ")))"]
    }

    private func plainOptions(of attribute: NSAttributeDescription) -> [String] {
        var options: [String] = []
        if attribute.allowsExternalBinaryDataStorage { options.append(".externalStorage") }
        if attribute.attributeType == .transformableAttributeType, !attribute.isTransient {
            // Without a transformer name the framework archives the values itself, as with an empty
            // name.
            options.append(".transformable(by: \(SwiftLiteral.text(attribute.valueTransformerName ?? "")))")
        }
        if attribute.preservesValueInHistoryOnDeletion { options.append(".preservedOnDeletion") }
        if attribute.isIndexedBySpotlight { options.append(".spotlight") }
        if attribute.allowsCloudEncryption { options.append(".cloudEncryption") }
        return options
    }

    private mutating func validation(of attribute: NSAttributeDescription) -> [String] {
        let limits = AttributeLimits(of: attribute)
        var options: [String] = []
        func literal(_ value: Any?) -> String? {
            value.flatMap { attribute.limitText($0) }.flatMap { SwiftLiteral.value($0, type: attribute.attributeType) }
        }
        let (least, greatest) = (literal(limits.least), literal(limits.greatest))
        if (least == nil) != (limits.least == nil) || (greatest == nil) != (limits.greatest == nil) {
            warn(attribute.name, "a limit is beyond the values of its type")
        }
        options += ranges(least, greatest, inOrder: inOrder(limits.least, limits.greatest)).map { ".range(\($0))" }
        let lengths = (limits.shortest.map { "\($0)" }, limits.longest.map { "\($0)" })
        let isOrdered = (limits.shortest ?? 0) <= (limits.longest ?? .max)
        options += ranges(lengths.0, lengths.1, inOrder: isOrdered).map { ".length(\($0))" }
        if let pattern = limits.pattern { options.append(".pattern(\(SwiftLiteral.pattern(pattern)))") }
        for other in limits.others { warn(attribute.name, "the class does not say the validation '\(other)'") }
        return options
    }

    /// Returns one range, or two for limits with no value between them, which one range cannot
    /// express.
    private func ranges(_ least: String?, _ greatest: String?, inOrder: Bool) -> [String] {
        if least == nil, greatest == nil { return [] }
        if inOrder || least == nil || greatest == nil { return [SwiftLiteral.range(from: least, to: greatest)] }
        return [SwiftLiteral.range(from: least, to: nil), SwiftLiteral.range(from: nil, to: greatest)]
    }

    private func inOrder(_ least: Any?, _ greatest: Any?) -> Bool {
        switch (least, greatest) {
        case (let least as Date, let greatest as Date): least <= greatest
        case (let least as NSNumber, let greatest as NSNumber): least.compare(greatest) != .orderedDescending
        default: true
        }
    }
}
