import Foundation

enum ModelMerge {
    /// Merges the entities whose hashes a store's metadata contains; nil when one is missing.
    static func merged(
        _ models: [NSManagedObjectModel], forStoreMetadata metadata: [String: Any]
    ) -> NSManagedObjectModel? {
        guard let hashes = StoreMetadataHashes.hashes(in: metadata) else { return nil }
        guard let model = merged(models, including: { hashes[$0.name ?? ""] == $0.versionHash }),
            model.entityVersionHashesByName == hashes
        else { return nil }
        return model
    }

    /// Copies the models' wanted entities into one model, nil when two of one name have different
    /// version hashes. Links are resolved by name.
    static func merged(
        _ models: [NSManagedObjectModel], including isWanted: (NSEntityDescription) -> Bool = { _ in true }
    ) -> NSManagedObjectModel? {
        var chosen: [String: NSEntityDescription] = [:]
        var order: [NSEntityDescription] = []
        for entity in models.flatMap(\.entities) where isWanted(entity) {
            guard let name = entity.name else { continue }
            if let previous = chosen[name] {
                guard previous.versionHash == entity.versionHash else { return nil }
                continue
            }
            chosen[name] = entity
            order.append(entity)
        }
        let result = NSManagedObjectModel()
        let copier = ModelCopier(order, findingByName: chosen)
        result.entities = copier.entities
        for model in models where model.entities.isEmpty || model.entities.contains(where: isWanted) {
            for configuration in model.configurations {
                let members = model.entities(forConfigurationName: configuration) ?? []
                let previous = result.entities(forConfigurationName: configuration) ?? []
                let added = members.compactMap { $0.name.flatMap { result.entitiesByName[$0] } }
                    .filter { entity in !previous.contains { $0 === entity } }
                result.setEntities(previous + added, forConfigurationName: configuration)
            }
            for (name, template) in model.fetchRequestTemplates where result.fetchRequestTemplates[name] == nil {
                // An entity that was not taken cannot be fetched. A template for an entity that its
                // own model lacks is that model's mistake, and is kept so that the mistake stays
                // visible.
                let isTaken =
                    result.entitiesByName[template.entityName] != nil
                    || model.entitiesByName[template.entityName] == nil
                guard isTaken else { continue }
                result.fetchRequestTemplates[name] = template
            }
            result.versionIdentifiers.formUnion(model.versionIdentifiers)
            if let texts = model.localizationDictionary {
                result.localizationDictionary = (result.localizationDictionary ?? [:]).merging(texts) { old, _ in old }
            }
        }
        // The model's other versions are stored beside the same file.
        if models.count == 1 { result.fileURL = models[0].fileURL }
        return result
    }
}
