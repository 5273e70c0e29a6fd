import SwiftSyntax
import SwiftSyntaxBuilder

/// Generates the initializers of an `@Entity` class.
struct InitializerCode {
    let entity: EntityClass

    var members: [DeclSyntax] {
        var members: [DeclSyntax] = []
        if !entity.declaresInitializer(["entity", "insertInto"]) { members.append(frameworkInitializer) }
        if !entity.hasOwnInitializer, !(entity.isAbstract && isMemberwiseEmpty) {
            members.append(memberwiseInitializer)
        }
        if !entity.declaresInitializer([]) { members.append(refused("convenience init()")) }
        if !entity.declaresInitializer(["context"]), entity.isAbstract || !isMemberwiseEmpty {
            members.append(refused("required convenience init(context: NSManagedObjectContext)"))
        }
        if entity.properties.contains(where: { $0.initialValue != nil && !$0.isTransient }) {
            members.append(initialValuesMethod)
        }
        if !entity.earlyInitialValues.isEmpty { members.append(earlyInitialValuesMethod) }
        if !entity.isFinal { members.append(initialValuesStructure) }
        if entity.isFinal, entity.hasOwnInitializer { return members }
        return members + entity.arguments.filter(hasInitialValueFunction).compactMap(initialValueFunction)
    }

    /// Whether the memberwise initializer takes only the context.
    private var isMemberwiseEmpty: Bool {
        !entity.hasOwnInitializer && entity.arguments.isEmpty && !entity.inheritsEntity
    }

    private var frameworkInitializer: DeclSyntax {
        """
        /// For the framework: makes an object of the entity, and inserts it into the context if there is one.
        \(raw: entity.access.prefix)required init(entity: NSEntityDescription, insertInto context: \
        NSManagedObjectContext?) {
            super.init(entity: entity, insertInto: context)
        }
        """
    }

    private var memberwiseInitializer: DeclSyntax {
        let parameters = ["context: NSManagedObjectContext"] + inheritedParameter + entity.arguments.map(parameter)
        // A call with all arguments should also report the mistake.
        if entity.isAbstract {
            return refused("convenience init(\(parameters.joined(separator: ", ")))", entity.initializerPrefix)
        }
        let inherited = entity.inheritsEntity ? ["inherited._assign(to: self)"] : []
        // `init(context:)` without further parameters overrides the inherited one, which is
        // required.
        let required = isMemberwiseEmpty ? "required " : ""
        let statements = inherited + entity.arguments.map { assignment(of: $0, to: "self") }
        return """
            /// Makes an object with these values and inserts it into the context.
            \(raw: entity.initializerPrefix)\(raw: required)init(\(raw: parameters.joined(separator: ", "))) {
                super.init(entity: Self._entity(in: context), insertInto: nil)
                _insert(into: context)
                \(raw: statements.joined(separator: "\n    "))
            }
            """
    }

    private var inheritedParameter: [String] {
        guard entity.inheritsEntity, let superclass = entity.superclass else { return [] }
        return ["inheriting inherited: \(superclass.description).InitialValues"]
    }

    private func refused(_ initializer: String, _ prefix: String? = nil) -> DeclSyntax {
        """
        @available(*, unavailable, message: \(StringLiteralExprSyntax(content: refusal)))
        \(raw: prefix ?? entity.access.prefix)\(raw: initializer) {
            fatalError()
        }
        """
    }

    private var refusal: String {
        if entity.isAbstract { return "\(entity.name) is abstract: make an object of one of its subclasses" }
        if entity.hasOwnInitializer { return "call one of the initializers that \(entity.name) declares" }
        let inherited = entity.inheritsEntity ? ["inheriting:"] : []
        let required = entity.arguments.filter(\.isRequired).map { "\($0.name):" }
        return "call \(entity.name)(\((["context:"] + inherited + required).joined()))"
    }

    private var initialValuesMethod: DeclSyntax {
        method("_setInitialValues", of: entity.properties.filter { !$0.isTransient })
    }

    /// The method that sets the initial values that the memberwise initializers of the class and
    /// its subclasses set before `awakeFromInsert()`.
    private var earlyInitialValuesMethod: DeclSyntax {
        method("_setHiddenInitialValues", of: entity.earlyInitialValues)
    }

    private func method(_ name: String, of properties: [EntityProperty]) -> DeclSyntax {
        let assignments = properties.compactMap { property in
            property.initialValue.map { "self.\(property.identifier) = \($0.description)" }
        }
        return """
            \(raw: entity.overrideAccess.prefix)override func \(raw: name)() {
                super.\(raw: name)()
                \(raw: assignments.joined(separator: "\n    "))
            }
            """
    }

    /// The structure with which a subclass's initializer takes the values of inherited properties,
    /// which the subclass's macro cannot see.
    ///
    /// The type has the class's access level, because initializers of subclasses name it. Only its
    /// members are as hidden as the arguments.
    private var initialValuesStructure: DeclSyntax {
        let access = entity.initializerPrefix
        let inherited =
            inheritedParameter.isEmpty
            ? [] : ["\(access)var inherited: \(entity.superclass?.description ?? "").InitialValues"]
        let fields = inherited + entity.arguments.map { "\(access)var \($0.identifier): \(argumentType(of: $0))" }
        let parameters = inheritedParameter + entity.arguments.map(parameter)
        let stores =
            (inheritedParameter.isEmpty ? [] : ["self.inherited = inherited"])
            + entity.arguments.map { "self.\($0.identifier) = \($0.identifier)" }
        let assignments =
            (inheritedParameter.isEmpty ? [] : ["inherited._assign(to: object)"])
            + entity.arguments.map { assignment(of: $0, to: "object") }
        return """
            /// The values that a new object of a subclass takes for the properties of `\(raw: entity.name)`.
            \(raw: entity.access.prefix)nonisolated struct InitialValues {
                \(raw: fields.joined(separator: "\n    "))

                \(raw: access)init(\(raw: parameters.joined(separator: ", "))) {
                    \(raw: stores.joined(separator: "\n        "))
                }

                \(raw: entity.access.prefix)func _assign(to object: \(raw: entity.name)) {
                    \(raw: assignments.joined(separator: "\n        "))
                }
            }
            """
    }

    // MARK: Arguments

    /// Whether a function returns the initial value. A default argument of a public initializer may
    /// only refer to public declarations; the initial value may refer to others.
    private func hasInitialValueFunction(_ property: EntityProperty) -> Bool {
        guard let value = property.initialValue, entity.initializerAccess >= .public else { return false }
        return property.literalValue == nil && !value.is(NilLiteralExprSyntax.self) && !entity.yieldsToAwaking(property)
    }

    private func initialValueFunction(of property: EntityProperty) -> DeclSyntax? {
        property.initialValue.map { value in
            """
            /// The value of an argument that the initializer is not given.
            public static func _initialValue(\(raw: property.identifier) _: Void) -> \(property.type) {
                \(value)
            }
            """
        }
    }

    private func argumentType(of property: EntityProperty) -> String {
        entity.yieldsToAwaking(property) ? "\(property.type.description)?" : property.type.description
    }

    /// Returns the initializer's parameter, by the rules of memberwise initializers.
    private func parameter(for property: EntityProperty) -> String {
        let declaration = "\(property.identifier): \(argumentType(of: property))"
        if entity.yieldsToAwaking(property) { return "\(declaration) = nil" }
        if hasInitialValueFunction(property) {
            return "\(declaration) = \(entity.name)._initialValue(\(property.identifier): ())"
        }
        if let initialValue = property.initialValue { return "\(declaration) = \(initialValue.description)" }
        if property.isOptional { return "\(declaration) = nil" }
        if property.isToMany { return "\(declaration) = \(property.type.isOrderedSet ? "NSOrderedSet()" : "[]")" }
        return declaration
    }

    /// Returns the statement that assigns the argument to an object. An assignment without effect
    /// is omitted.
    private func assignment(of property: EntityProperty, to object: String) -> String {
        let identifier = property.identifier
        let assignment = "\(object).\(identifier) = \(identifier)"
        if entity.yieldsToAwaking(property) { return "if let \(identifier) { \(assignment) }" }
        if let initialValue = property.initialValue, !initialValue.is(NilLiteralExprSyntax.self) { return assignment }
        if property.isOptional { return "if let \(identifier) { \(assignment) }" }
        if property.isToMany { return "if \(identifier).count > 0 { \(assignment) }" }
        return assignment
    }
}

extension EntityProperty {
    fileprivate var isRequired: Bool { initialValue == nil && !isOptional && !isToMany }
}
