import CoreData

/// The source of an entity's managed object class with `@Managed` properties, as Xcode writes it.
struct ManagedClassSource {
    let entity: NSEntityDescription
    let className: String
    /// The code generation settings of the entity in the model's file; nil if it has none.
    let code: CodeGeneration.Entity?
    /// The access modifier: `public ` or empty.
    let access: String
    /// Whether the class of the superentity is one of the generated ones.
    let hasGeneratedSuperclass: Bool
    /// Parts of the entity that the class cannot have, in sentences.
    private(set) var warnings: [String] = []

    init(_ entity: NSEntityDescription, code: CodeGeneration.Entity?, isPublic: Bool, hasGeneratedSuperclass: Bool) {
        self.entity = entity
        className = Self.className(of: entity) ?? "NSManagedObject"
        self.code = code
        access = isPublic ? "public " : ""
        self.hasGeneratedSuperclass = hasGeneratedSuperclass
    }

    /// Returns the class that the model names, without its module; nil for plain managed objects.
    static func className(of entity: NSEntityDescription?) -> String? {
        let name = entity?.managedObjectClassName.split(separator: ".").last.map(String.init) ?? ""
        return name.isEmpty || name == "NSManagedObject" ? nil : name
    }

    // MARK: Texts

    var declaration: String {
        let superclass = Self.className(of: entity.superentity) ?? "NSManagedObject"
        return "\(access)class \(className): \(superclass) {}\n"
    }

    /// Returns the extension with the entity's properties, and the extensions with the methods of
    /// its relationships.
    mutating func properties() -> String {
        let own = entity.properties.filter { $0.entity === entity }.sorted { $0.name < $1.name }
        var lines: [String] = []
        var methods: [String] = []
        for property in Self.inOrder(own) {
            guard SwiftNames.isIdentifier(property.name) else {
                warnings.append(
                    "\(entity.name ?? "").\(property.name): its name is no Swift name; the class does not declare it.")
                continue
            }
            lines.append("    @Managed \(access)var \(SwiftNames.declared(property.name)): \(type(of: property))")
            if let relationship = property as? NSRelationshipDescription, relationship.isToMany {
                methods.append(self.methods(of: relationship))
            }
        }
        var text = """
            extension \(className) {
                \(access)class func fetchRequest() -> NSFetchRequest<\(className)> {
                    NSFetchRequest<\(className)>(entityName: \(SwiftLiteral.text(entity.name ?? "")))
                }

            """
        if !lines.isEmpty { text += "\n" + lines.joined(separator: "\n") + "\n" }
        text += "}\n" + methods.map { "\n" + $0 }.joined()
        if !hasGeneratedSuperclass { text += "\nextension \(className): Identifiable {}\n" }
        return text
    }

    private static func inOrder(_ properties: [NSPropertyDescription]) -> [NSPropertyDescription] {
        properties.filter { $0 is NSAttributeDescription } + properties.filter { $0 is NSRelationshipDescription }
            + properties.filter { $0 is NSFetchedPropertyDescription }
    }

    // MARK: Types

    private func type(of property: NSPropertyDescription) -> String {
        switch property {
        case let attribute as NSAttributeDescription: return type(of: attribute)
        case let relationship as NSRelationshipDescription:
            if relationship.isToMany { return relationship.isOrdered ? "NSOrderedSet?" : "NSSet?" }
            return (Self.className(of: relationship.destinationEntity) ?? "NSManagedObject") + "?"
        case let fetched as NSFetchedPropertyDescription:
            let name = fetched.fetchRequest?.entityName
            let destination = entity.managedObjectModel.entities.first { $0.name == name }
            return "[\(Self.className(of: destination) ?? "NSManagedObject")]"
        default: return "Any?"
        }
    }

    private func type(of attribute: NSAttributeDescription) -> String {
        let scalar: String?
        switch attribute.attributeType {
        case .integer16AttributeType: scalar = "Int16"
        case .integer32AttributeType: scalar = "Int32"
        case .integer64AttributeType: scalar = "Int64"
        case .doubleAttributeType: scalar = "Double"
        case .floatAttributeType: scalar = "Float"
        case .booleanAttributeType: scalar = "Bool"
        case .dateAttributeType: scalar = "TimeInterval"
        default: scalar = nil
        }
        // If the model does not state otherwise, numbers are scalars and dates objects, as in a new
        // model.
        if let scalar, code?.usesScalars[attribute.name] ?? (attribute.attributeType != .dateAttributeType) {
            return scalar
        }
        switch attribute.attributeType {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .doubleAttributeType,
            .floatAttributeType,
            .booleanAttributeType:
            return "NSNumber?"
        case .decimalAttributeType: return "NSDecimalNumber?"
        case .stringAttributeType: return "String?"
        case .dateAttributeType: return "Date?"
        case .binaryDataAttributeType: return "Data?"
        case .UUIDAttributeType: return "UUID?"
        case .URIAttributeType: return "URL?"
        case .objectIDAttributeType: return "NSManagedObjectID?"
        case .compositeAttributeType: return "[String: Any]?"
        case .transformableAttributeType, .undefinedAttributeType:
            let given = code?.valueTypes[attribute.name] ?? attribute.attributeValueClassName ?? ""
            return (given.isEmpty ? "NSObject" : given) + "?"
        }
    }

    // MARK: Methods

    private func methods(of relationship: NSRelationshipDescription) -> String {
        let name = relationship.name
        let capital = name.prefix(1).uppercased() + name.dropFirst()
        // Without the key, the macro would derive another name from the method's name.
        let hasPlainName = capital.prefix(1).lowercased() + capital.dropFirst() == name
        let mark = hasPlainName ? "@ManagedAccessor" : "@ManagedAccessor(key: \(SwiftLiteral.text(name)))"
        let member = Self.className(of: relationship.destinationEntity) ?? "NSManagedObject"
        let set = relationship.isOrdered ? "NSOrderedSet" : "NSSet"
        var methods: [String] = []
        if relationship.isOrdered {
            methods = [
                "insertInto\(capital)(_ value: \(member), at idx: Int)", "removeFrom\(capital)(at idx: Int)",
                "insertInto\(capital)(_ values: [\(member)], at indexes: NSIndexSet)",
                "removeFrom\(capital)(at indexes: NSIndexSet)",
                "replace\(capital)(at idx: Int, with value: \(member))",
                "replace\(capital)(at indexes: NSIndexSet, with values: [\(member)])",
            ]
        }
        methods += [
            "addTo\(capital)(_ value: \(member))", "removeFrom\(capital)(_ value: \(member))",
            "addTo\(capital)(_ values: \(set))",
            "removeFrom\(capital)(_ values: \(set))",
        ]
        let lines = methods.map { "    \(mark) \(access)func \($0)" }
        return "// The members of \(name).\nextension \(className) {\n" + lines.joined(separator: "\n") + "\n}\n"
    }
}
