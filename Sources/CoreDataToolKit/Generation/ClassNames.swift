import CoreData

/// The Swift class names of a model's entities: the model's names, changed if they are not valid in
/// Swift or not unique.
struct ClassNames {
    private var names: [ObjectIdentifier: String] = [:]
    /// Warnings about classes whose name differs from the model's.
    private(set) var warnings: [String] = []

    /// - Parameter entities: all entities of the model, in order of name.
    init(_ entities: [NSEntityDescription]) {
        // File systems may be case-insensitive.
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
            if name != given {
                warnings.append("\(entityName): its class is named \(name), because \(given) is no free name.")
            }
        }
    }

    func isClass(_ name: String) -> Bool { names.values.contains(name) }

    func name(of entity: NSEntityDescription) -> String {
        names[ObjectIdentifier(entity)] ?? SwiftNames.typeName(from: entity.name ?? "")
    }
}
