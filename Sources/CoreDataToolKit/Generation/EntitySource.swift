import CoreData

/// The source of an entity's Swift class, as a person would write it with `@Entity`.
struct EntitySource {
    let entity: NSEntityDescription
    let names: ClassNames
    /// The access modifier: `public ` or empty.
    let access: String
    /// Parts of the entity that the class cannot express, in sentences.
    private(set) var warnings: [String] = []
    /// The reasons why the class would have another version hash than the entity, by property.
    private(set) var refusals: [String] = []

    init(_ entity: NSEntityDescription, names: ClassNames, isPublic: Bool) {
        self.entity = entity
        self.names = names
        access = isPublic ? "public " : ""
    }

    var entityName: String { entity.name ?? "" }
    var className: String { names.name(of: entity) }

    mutating func warn(_ property: String, _ problem: String) {
        warnings.append("\(entityName).\(property): \(problem).")
    }

    mutating func refuse(_ property: String, _ problem: String) {
        refusals.append("\(entityName).\(property): \(problem)")
    }

    /// Returns the source of the class. Also records the warnings, and the reasons why there can be
    /// no class.
    mutating func text() -> String {
        let own = entity.properties.filter { $0.entity === entity }.sorted { $0.name < $1.name }
        var members: [String] = []
        var left: Set<String> = []
        for property in own {
            if let problem = problem(of: property) {
                members.append("    // " + DisplayWidth.printable("\(property.name) is not declared: \(problem)."))
                if Self.countsInVersionHash(property) {
                    refuse(property.name, problem)
                } else {
                    warn(property.name, "\(problem); the class does not declare it")
                }
                left.insert(property.name)
            }
        }
        for case let attribute as NSAttributeDescription in own where !left.contains(attribute.name) {
            members.append(declaration(of: attribute))
        }
        for case let relationship as NSRelationshipDescription in own where !left.contains(relationship.name) {
            members.append(declaration(of: relationship))
        }
        for property in own where Self.leavesUserInfo(of: property) && !Self.isMarkOfEnumeration(property) {
            warn(property.name, "its user information is not in the class")
        }
        let header = header(leaving: left)
        let superclass = entity.superentity.map { names.name(of: $0) } ?? "NSManagedObject"
        let kind = entity.subentities.isEmpty ? "final class" : "class"
        let start = "\(header)\n\(access)\(kind) \(className): \(superclass) {"
        let composites = own.compactMap { $0 as? NSCompositeAttributeDescription }.filter { !left.contains($0.name) }
        for composite in composites where CompositeSource.leavesRules(of: composite) {
            warn(composite.name, "the class does not say the validation of its elements")
        }
        let text = members.isEmpty ? start + "}\n" : start + "\n" + members.joined(separator: "\n") + "\n}\n"
        return text + types(of: composites)
    }

    /// Whether the user information only marks an attribute as an enumeration, with its cases.
    static func isMarkOfEnumeration(_ property: NSPropertyDescription) -> Bool {
        let known: Set<AnyHashable> = [
            NSCompositeAttributeDescription.enumerationMark, NSCompositeAttributeDescription.casesKey,
        ]
        return property is NSCompositeAttributeDescription && Set((property.userInfo ?? [:]).keys).isSubset(of: known)
    }

    /// Whether the entity would have another version hash without the property.
    private static func countsInVersionHash(_ property: NSPropertyDescription) -> Bool {
        !property.isTransient && !(property is NSFetchedPropertyDescription)
    }

    /// Returns the reason why the class cannot have a property; nil if it can.
    func problem(of property: NSPropertyDescription) -> String? {
        switch property {
        case let attribute as NSAttributeDescription:
            switch attribute.attributeType {
            case .objectIDAttributeType: return "an object ID is not stored"
            case .undefinedAttributeType where !attribute.isTransient: return "the attribute has no type"
            default: break
            }
            if let composite = attribute as? NSCompositeAttributeDescription {
                if composite.isTransient { return "a transient composite attribute is not declared" }
                if let problem = CompositeSource.problem(of: composite) { return problem }
            }
            if let derived = attribute as? NSDerivedAttributeDescription, derived.derivationText == nil {
                return "the attribute's derivation cannot be written"
            }
        case let relationship as NSRelationshipDescription:
            if relationship.destinationEntity == nil { return "the relationship has no destination" }
            if relationship.isTransient { return "a transient relationship, which classes do not have" }
        case let fetched as NSFetchedPropertyDescription:
            let request = fetched.fetchRequest
            let condition = request?.predicate.map { " where \($0.predicateFormat)" } ?? ""
            let lines = "a fetched property, \(request?.entityName ?? "")\(condition)"
            return lines.split(whereSeparator: \.isNewline).joined(separator: " ")
        default: return "a property of the kind \(type(of: property))"
        }
        return nameProblem(of: property)
    }

    /// Returns the reason why no class can have a property with this name, in this entity or
    /// another one of the model; nil if it can.
    func nameProblem(of property: NSPropertyDescription) -> String? {
        let entity = property.entity
        let place = SwiftNames.Place(
            isSubclass: entity.superentity != nil, isOpen: !entity.subentities.isEmpty,
            types: types(mentionedBy: entity),
            properties: Set(entity.properties.filter { $0.entity === entity }.map(\.name)))
        return SwiftNames.problem(ofProperty: property.name, in: place)
    }

    private func types(mentionedBy entity: NSEntityDescription) -> Set<String> {
        var types: Set<String> = entity.superentity.map { [names.name(of: $0)] } ?? []
        var waiting = [entity]
        while let next = waiting.popLast() {
            types.insert(names.name(of: next))
            for property in next.properties where property.entity === next {
                switch property {
                case let attribute as NSAttributeDescription: types.insert(valueType(of: attribute))
                case let relationship as NSRelationshipDescription:
                    if relationship.isToMany, !relationship.isOrdered { types.insert("Set") }
                    types.formUnion(relationship.destinationEntity.map { [names.name(of: $0)] } ?? [])
                default: break
                }
            }
            waiting += next.subentities
        }
        return types
    }

    // MARK: User information

    /// Returns user information that classes can have: nil if there is none, or if it is not all
    /// text.
    static func texts(of userInfo: [AnyHashable: Any]?) -> [String: String]? {
        guard let userInfo, !userInfo.isEmpty else { return nil }
        let texts = userInfo as? [String: String]
        return texts?.count == userInfo.count ? texts : nil
    }

    /// Whether the class cannot express the user information of a property.
    private static func leavesUserInfo(of property: NSPropertyDescription) -> Bool {
        if property.userInfo?.isEmpty != false { return false }
        return texts(of: property.userInfo) == nil || property.isTransient || property is NSDerivedAttributeDescription
            || property is NSFetchedPropertyDescription
    }

    // MARK: The entity's own marks

    private mutating func header(leaving left: Set<String>) -> String {
        var arguments: [String] = []
        if className != entityName { arguments.append(SwiftLiteral.text(entityName)) }
        if entity.isAbstract { arguments.append("isAbstract: true") }
        let constraints = constraintNames.filter { !isUniqueMark($0) }
        if !constraints.isEmpty { arguments.append("uniquenessConstraints: \(SwiftLiteral.lists(constraints))") }
        let indexes = indexes(leaving: left)
        if !indexes.isEmpty { arguments.append("indexes: \(SwiftLiteral.lists(indexes))") }
        if let identifier = entity.renamingIdentifier, identifier != entityName {
            arguments.append("renamingIdentifier: \(SwiftLiteral.text(identifier))")
        }
        if let modifier = entity.versionHashModifier {
            arguments.append("versionHashModifier: \(SwiftLiteral.text(modifier))")
        }
        if let userInfo = Self.texts(of: entity.userInfo) {
            arguments.append("userInfo: \(SwiftLiteral.dictionary(userInfo))")
        } else if entity.userInfo?.isEmpty == false {
            warnings.append("\(entityName): its user information is not in the class.")
        }
        if !entity.compoundIndexes.isEmpty {
            warnings.append(
                "\(entityName): its compound indexes are not in the class, and no store makes them; give it fetch "
                    + "indexes."
            )
        }
        if arguments.isEmpty { return "@Entity" }
        let line = "@Entity(\(arguments.joined(separator: ", ")))"
        return line.count <= 100 ? line : "@Entity(\n    \(arguments.joined(separator: ",\n    ")))"
    }

    private var constraintNames: [[String]] {
        entity.uniquenessConstraints.map { $0.compactMap { $0 as? String ?? ($0 as? NSPropertyDescription)?.name } }
    }

    /// Whether a constraint is expressed by `.unique` on its only attribute.
    private func isUniqueMark(_ constraint: [String]) -> Bool {
        guard constraint.count == 1, let attribute = entity.attributesByName[constraint[0]] else { return false }
        return isMarkedUnique(attribute)
    }

    func isMarkedUnique(_ attribute: NSAttributeDescription) -> Bool {
        attribute.entity === entity && !attribute.isTransient && !(attribute is NSDerivedAttributeDescription)
            && constraintNames.contains([attribute.name]) && problem(of: attribute) == nil
    }

    /// Returns the indexes that the class can declare: ascending ones of declared properties.
    private mutating func indexes(leaving left: Set<String>) -> [[String]] {
        var lists: [[String]] = []
        var renamed: [String] = []
        for index in entity.indexes {
            let names = index.elements.compactMap(\.propertyName)
            // The index of an attribute's mark, which models list in addition to another index of
            // the same attribute.
            let isOfMark =
                names == [index.name]
                && entity.indexes.contains { $0 !== index && $0.elements.map(\.propertyName) == names }
            if isOfMark { continue }
            let isPlain =
                index.partialIndexPredicate == nil
                && index.elements.allSatisfy {
                    $0.isAscending && $0.collationType == .binary && !($0.property is NSExpressionDescription)
                }
            guard isPlain, !names.isEmpty, names.count == index.elements.count, left.isDisjoint(with: names) else {
                warnings.append(
                    "\(entityName): the index '\(index.name)' is more than a list of the class's properties.")
                continue
            }
            if lists.contains(names) { continue }
            lists.append(names)
            let name =
                "by" + names.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined(separator: "And") + "Index"
            if name != index.name { renamed.append("\(index.name) (\(name))") }
        }
        // Old editors marked every relationship as indexed. Stores index to-one relationships
        // anyway, and others have no column.
        for case let property as NSAttributeDescription in entity.properties
        where property.entity === entity && property.isIndexed && !left.contains(property.name)
            && !lists.contains([property.name])
        {
            let isIndexedBelow = entity.indexes.contains { $0.elements.map(\.propertyName) == [property.name] }
            if !isIndexedBelow, !hasIndexInSubentity(property) { lists.append([property.name]) }
        }
        if !renamed.isEmpty {
            warnings.append(
                "\(entityName): the class's indexes have names of their own: \(renamed.joined(separator: ", ")).")
        }
        return lists
    }

    private func hasIndexInSubentity(_ property: NSPropertyDescription) -> Bool {
        var waiting = entity.subentities
        while let next = waiting.popLast() {
            if next.indexes.contains(where: { $0.elements.map(\.propertyName) == [property.name] }) { return true }
            waiting += next.subentities
        }
        return false
    }

    // MARK: Layout

    /// Returns a property with its marks, on one line if that is short enough.
    func declaration(marks: [String], _ declaration: String) -> String {
        let line = (marks + [access + declaration]).joined(separator: " ")
        if line.count <= 116 || marks.isEmpty { return "    " + line }
        return (marks + [access + declaration]).map { "    " + $0 }.joined(separator: "\n")
    }
}
