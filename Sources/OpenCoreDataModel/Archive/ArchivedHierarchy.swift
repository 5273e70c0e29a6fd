/// Checks of the hierarchy of entities that an archive describes.
enum ArchivedHierarchy {
    /// Checks that an entity can become a subentity of another one, whose superentities are known.
    static func check(_ subentity: NSEntityDescription, from entity: NSEntityDescription) throws {
        var ancestor: NSEntityDescription? = entity
        for _ in 0...ModelReadingError.depthLimit {
            guard let known = ancestor else { break }
            guard known !== subentity, subentity.superentity == nil else {
                throw ModelReadingError(
                    .inconsistent, "The entity has two superentities or inherits from itself.",
                    advice: "Correct the hierarchy and compile the model again.", entity: subentity.name)
            }
            ancestor = known.superentity
        }
        if ancestor != nil { throw tooDeep(subentity) }
    }

    /// Checks that no entity of a hierarchy without cycles has more superentities than the limit.
    static func checkDepth(of entities: [NSEntityDescription]) throws {
        var level = entities.filter { $0.superentity == nil }
        for _ in 0..<ModelReadingError.depthLimit where !level.isEmpty { level = level.flatMap(\.subentities) }
        if let entity = level.first { throw tooDeep(entity) }
    }

    private static func tooDeep(_ entity: NSEntityDescription) -> ModelReadingError {
        ModelReadingError(
            .inconsistent, "The entity has too many superentities.",
            advice: "Correct the hierarchy and compile the model again.", entity: entity.name)
    }
}
