import CoreData

/// The Swift type of a composite attribute: a structure, or the kind of enumeration that
/// SwiftData's mark states.
struct CompositeSource {
    private enum Form {
        case structure
        /// A type with raw values that are not listed in the model.
        case rawValue(NSAttributeDescription)
        /// An enumeration whose cases are the elements.
        case cases
    }

    let attribute: NSCompositeAttributeDescription
    let typeName: String
    private let form: Form
    private let access: String

    /// - Parameter isTaken: whether a name is already in use in the scope of the type.
    init(_ attribute: NSCompositeAttributeDescription, access: String, isTaken: (String) -> Bool) {
        self.attribute = attribute
        self.access = access
        form = Self.form(of: attribute)
        var name: String = attribute.name.prefix(1).uppercased() + attribute.name.dropFirst()
        while SwiftNames.typeName(from: name) != name || isTaken(name) { name += "Value" }
        typeName = name
    }

    private static func form(of attribute: NSCompositeAttributeDescription) -> Form {
        guard attribute.isEnumeration else { return .structure }
        let elements = attribute.elements
        let arePlain = elements.allSatisfy {
            $0.isOptional && !$0.preservesValueInHistoryOnDeletion && $0.versionHashModifier == nil
                && !($0 is NSCompositeAttributeDescription)
        }
        guard arePlain else { return .structure }
        // Model files cannot hold the list of cases.
        if attribute.enumerationCases == nil, elements.count == 1, elements[0].name == attribute.name {
            return .rawValue(elements[0])
        }
        return elements.allSatisfy { $0.attributeType == .stringAttributeType } ? .cases : .structure
    }

    /// Returns the reason why there can be no such type; nil if there can.
    static func problem(of attribute: NSCompositeAttributeDescription) -> String? {
        for element in attribute.elements {
            let place = "its element '\(element.name)'"
            if let inner = element as? NSCompositeAttributeDescription {
                if let problem = problem(of: inner) { return problem }
            } else if element is NSDerivedAttributeDescription {
                return "\(place) is derived"
            } else if element.attributeType == .transformableAttributeType {
                return "\(place) is transformable"
            }
            if !SwiftNames.isIdentifier(element.name) || Self.impossible.contains(element.name) {
                return "\(place) cannot have its name in Swift"
            }
        }
        return nil
    }

    private static let impossible: Set<String> = [
        "Protocol", "Self", "Type", "allCases", "compositeElements", "encode", "hash", "hashValue", "init",
        "isCompositeEnumeration", "self", "write",
    ]

    static func leavesRules(of attribute: NSCompositeAttributeDescription) -> Bool {
        attribute.elements.contains { element in
            !element.validationPredicates.isEmpty
                || (element as? NSCompositeAttributeDescription).map(leavesRules) ?? false
        }
    }

    /// The initial value of a new object, if the type must state one.
    var initialValue: String? {
        switch form {
        case .structure: return nil
        case .rawValue(let element):
            return SwiftLiteral.defaultValue(of: element).map { "\(typeName)(rawValue: \($0))" }
        case .cases:
            return attribute.elements.first { $0.defaultValue != nil }.map { ".\(SwiftNames.declared($0.name))" }
        }
    }

    // MARK: Text

    func text(indent: String, _ valueType: (NSAttributeDescription) -> String) -> String {
        let lines: [String]
        switch form {
        case .structure: return structure(indent, valueType)
        case .rawValue(let element):
            let type = valueType(element)
            lines = [
                "/// The raw values of `\(attribute.name)`, which the model does not list.",
                "\(access)struct \(typeName): CompositeEnumeration, Hashable, Sendable {",
                "    \(access)let rawValue: \(type)",
                "    \(access)init(rawValue: \(type)) { self.rawValue = rawValue }",
                "}",
            ]
        case .cases:
            lines =
                [
                    "/// The cases of `\(attribute.name)`.",
                    "\(access)enum \(typeName): CompositeCases, Hashable, Sendable {",
                ] + attribute.elements.map { "    case \(SwiftNames.declared($0.name))" } + ["}"]
        }
        return lines.map { indent + $0 }.joined(separator: "\n") + "\n"
    }

    private func structure(_ indent: String, _ valueType: (NSAttributeDescription) -> String) -> String {
        let elementNames = Set(attribute.elements.map(\.name))
        var inner: [String] = []
        var names: Set<String> = [typeName]
        let members = attribute.elements.map { element -> (name: String, type: String, element: String) in
            guard let composite = element as? NSCompositeAttributeDescription else {
                let type = valueType(element) + (element.isOptional ? "?" : "")
                return (element.name, type, "CompositeElement(\(arguments(of: element, type)))")
            }
            let source = CompositeSource(composite, access: access) { names.contains($0) || elementNames.contains($0) }
            names.insert(source.typeName)
            inner.append(source.text(indent: indent + "    ", valueType))
            let type = source.typeName + (element.isOptional ? "?" : "")
            return (element.name, type, "CompositeElement(\(SwiftLiteral.text(element.name)), \(type).self)")
        }
        func declared(_ name: String) -> String { SwiftNames.declared(name) }
        var lines = [
            "/// The elements of `\(attribute.name)`.",
            "\(access)struct \(typeName): CompositeValue, Hashable, Sendable {",
        ]
        lines += members.map { "    \(access)var \(declared($0.name)): \($0.type)" }
        lines += ["", "    \(access)static let compositeElements: [CompositeElement] = ["]
        lines += members.map { "        \($0.element)," } + ["    ]", ""]
        let parameters = members.map { "\(declared($0.name)): \($0.type)" + ($0.type.hasSuffix("?") ? " = nil" : "") }
        lines.append("    \(access)init(\(parameters.joined(separator: ", "))) {")
        lines += members.map { "        self.\(declared($0.name)) = \(declared($0.name))" } + ["    }", ""]
        lines.append("    \(access)init(_ elements: CompositeElements) throws {")
        lines += members.map { member in
            let function = member.type.hasSuffix("?") ? "optional" : "required"
            return "        self.\(declared(member.name)) = try elements.\(function)(\(SwiftLiteral.text(member.name)))"
        }
        lines += ["    }", "", "    \(access)func write(to elements: inout CompositeElements) {"]
        lines +=
            members.map { "        elements.set(\(SwiftLiteral.text($0.name)), self.\(declared($0.name)))" } + ["    }"]
        let text = lines.map { $0.isEmpty ? "" : indent + $0 }.joined(separator: "\n") + "\n"
        return text + inner.map { "\n" + $0 }.joined() + indent + "}\n"
    }

    private func arguments(of element: NSAttributeDescription, _ type: String) -> String {
        var arguments = [SwiftLiteral.text(element.name), "\(type).self"]
        if let value = SwiftLiteral.defaultValue(of: element) { arguments.append("default: \(value)") }
        if let original = element.renamingIdentifier, original != element.name {
            arguments.append("originalName: \(SwiftLiteral.text(original))")
        }
        if let modifier = element.versionHashModifier {
            arguments.append("versionHashModifier: \(SwiftLiteral.text(modifier))")
        }
        if element.preservesValueInHistoryOnDeletion { arguments.append("isPreservedOnDeletion: true") }
        return arguments.joined(separator: ", ")
    }
}

extension EntitySource {
    /// Returns the type of a composite attribute that the class declares, nested in the class.
    func source(of composite: NSCompositeAttributeDescription) -> CompositeSource {
        let names = self.names
        let others = composite.entity.properties.compactMap { $0 as? NSCompositeAttributeDescription }.map(\.name)
            .sorted()
        // Of two attributes that differ only in the case of their first letter, the second one gets
        // another type name.
        let earlier = Set(others.prefix { $0 != composite.name }.map { $0.prefix(1).uppercased() + $0.dropFirst() })
        return CompositeSource(composite, access: access) { names.isClass($0) || earlier.contains($0) }
    }

    /// Returns the types of composite attributes as an extension of the class; empty if there are
    /// none.
    func types(of composites: [NSCompositeAttributeDescription]) -> String {
        if composites.isEmpty { return "" }
        let types = composites.map { source(of: $0).text(indent: "    ") { valueType(of: $0) } }
        return "\nextension \(className) {\n" + types.joined(separator: "\n") + "}\n"
    }
}
