import CoreData

/// The Swift classes of a model's entities: those that the model names, as far as Swift and each other allow.
struct ClassNames {
    private var names: [ObjectIdentifier: String] = [:]
    /// Where a class has another name than the model says.
    private(set) var warnings: [String] = []

    /// - Parameter entities: all entities of the model, in order of name.
    init(_ entities: [NSEntityDescription]) {
        // File systems may not tell upper from lower case.
        var taken: Set<String> = []
        for entity in entities {
            let entityName = entity.name ?? ""
            var given = entity.managedObjectClassName.split(separator: ".").last.map(String.init) ?? ""
            if given.isEmpty || given == "NSManagedObject" { given = entityName }
            var name = SwiftNames.typeName(from: given)
            if taken.contains(name.lowercased()) { name = SwiftNames.typeName(from: entityName) }
            let base = name
            var number = 2
            while !taken.insert(name.lowercased()).inserted {
                name = base + "\(number)"
                number += 1
            }
            names[ObjectIdentifier(entity)] = name
            if name != given { warnings.append("\(entityName): its class is named \(name), because \(given) is no free name.") }
        }
    }

    /// Whether a class has this name.
    func isClass(_ name: String) -> Bool { names.values.contains(name) }

    /// The class of an entity of the model.
    func name(of entity: NSEntityDescription) -> String {
        names[ObjectIdentifier(entity)] ?? SwiftNames.typeName(from: entity.name ?? "")
    }
}
