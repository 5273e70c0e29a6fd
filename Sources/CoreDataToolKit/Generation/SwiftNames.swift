/// Converts names of entities and properties to Swift names.
enum SwiftNames {
    /// Whether a text can be a Swift name, in backticks where it is a keyword.
    static func isIdentifier(_ name: String) -> Bool {
        guard let first = name.unicodeScalars.first, first == "_" || first.properties.isXIDStart, name != "_" else {
            return false
        }
        return name.unicodeScalars.allSatisfy(\.properties.isXIDContinue)
    }

    /// Whether every managed object has a property with this name.
    static func isTaken(_ name: String) -> Bool { impossible.contains(name) || taken.contains(name) }

    /// Returns the name of a property as it is declared.
    static func declared(_ name: String) -> String { keywords.contains(name) ? "`\(name)`" : name }

    /// Returns the reason why a property of an `@Entity` class cannot have this name; nil if it
    /// can. `context` is an argument of every initializer.
    static func problem(ofProperty name: String, in place: Place) -> String? {
        if !isIdentifier(name) { return "its name is no Swift name" }
        if isTaken(name) || name == "context" || (place.isSubclass && name == "inherited")
            || (place.isOpen && name == "object")
        {
            return "its name means something else in every managed object"
        }
        if place.types.contains(name) || (typesInUse.contains(name) && !valueTypes.contains(name)) {
            return "the class uses a type of its name"
        }
        if name.hasPrefix("_"), place.properties.contains(String(name.dropFirst())) {
            return "its name is that of another property's storage"
        }
        return nil
    }

    /// The properties of a class that decide which names generated code uses itself.
    struct Place {
        let isSubclass: Bool
        let isOpen: Bool
        let types: Set<String>
        let properties: Set<String>
    }

    /// Returns a name for a type that nothing else in the generated code has.
    static func typeName(from name: String) -> String {
        var text = String(
            String.UnicodeScalarView(
                name.unicodeScalars.map { $0 == "_" || $0.properties.isXIDContinue ? $0 : "_" }))
        if !isIdentifier(text) { text = "_" + text }
        return keywords.contains(text) || typesInUse.contains(text) ? text + "Entity" : text
    }

    // MARK: Lists

    private static let keywords: Set<String> = [
        "Any", "Protocol", "Self", "Type", "actor", "as", "associatedtype", "async", "await", "break", "case", "catch",
        "class",
        "continue", "default", "defer", "deinit", "do", "else", "enum", "extension", "fallthrough", "false",
        "fileprivate",
        "for", "func", "guard", "if", "import", "in", "init", "inout", "internal", "is", "let", "nil", "operator",
        "precedencegroup", "private", "protocol", "public", "repeat", "rethrows", "return", "self", "static", "struct",
        "subscript", "super", "switch", "throw", "throws", "true", "try", "typealias", "var", "where", "while",
    ]

    /// Names that no key path can contain.
    private static let impossible: Set<String> = ["Protocol", "Self", "Type", "init", "self", "super"]

    /// Properties of managed objects.
    private static let taken: Set<String> = [
        "classForCoder", "debugDescription", "description", "entity", "faultingState", "hasChanges",
        "hasPersistentChangedValues", "hash", "hashValue", "isDeleted", "isFault", "isInserted", "isUpdated",
        "managedObjectContext", "objectID", "objectSpecifier", "snapshot", "snapshotGraph", "superclass",
    ]

    /// The types of attributes, which only classes with such attributes mention.
    private static let valueTypes: Set<String> = [
        "Bool", "Data", "Date", "Decimal", "Double", "Float", "Int", "Int16", "Int32", "Int64", "NSArray",
        "NSDictionary", "NSNumber",
        "NSObject", "NSOrderedSet", "NSSet", "NSString", "Set", "String", "URL", "UUID",
    ]

    /// Types and macros that generated classes and the macro's code mention.
    private static let typesInUse: Set<String> = [
        "AnyHashable", "AnyObject", "Array", "Attribute", "Bool", "CoreData", "Data", "Date", "Decimal", "Derived",
        "Double", "Entity",
        "_EntityDeclaration", "EntityObject", "_EntityProperties", "EntitySnapshot", "Float", "Foundation",
        "InitialValues",
        "Int", "Int16", "Int32", "Int64", "NSArray", "NSDictionary", "NSEntityDescription", "NSManagedObject",
        "NSManagedObjectContext",
        "NSNumber", "NSObject", "NSOrderedSet", "NSSet", "NSString", "Object",
        "ObjectReference", "Optional", "PartialKeyPath", "Relationship", "SafeCoreData", "Set", "Snapshot",
        "SnapshotProperty", "_SnapshotReader", "_SnapshotVisitor", "String", "Swift", "Transient", "URL", "UUID",
        "Value",
        "Visitor", "WritableKeyPath",
    ]
}
