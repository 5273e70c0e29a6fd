import Foundation

extension MigrationRoutes {
    /// The entry of a store's metadata that names the version whose stage has not ended.
    ///
    /// It is in a store on a server after a program ended between a step and the stage's handler.
    static let unfinishedStageKey = "OpenCoreDataUnfinishedStage"

    /// Returns the steps of a staged migration, in the order of the stages.
    ///
    /// - Parameters:
    ///   - known: The versions by whose checksums lightweight stages find models.
    ///   - unfinished: The checksum of the version whose stage has not ended.
    /// - Throws: 134504 if the stages do not name a version, or its model is not known; 134506 if
    ///   the destination comes before the source; 134190 or 134140 if a step is not possible.
    mutating func route(
        from source: ModelVersion, to destination: ModelVersion, by versions: [StagedVersion], known: [ModelVersion],
        unfinished: String?, store: String, userInfo: [String: Any]
    ) throws -> [MigrationStep] {
        func failure(_ code: Int, _ problem: String, _ recovery: String) -> NSError {
            CoreDataErrors.make(
                CocoaError.Code(rawValue: code), "The store \(store) cannot be migrated in stages: \(problem)",
                recovery: recovery, userInfo: userInfo)
        }
        func unknown(_ whose: String, _ version: ModelVersion) -> NSError {
            failure(
                NSManagedObjectModelReferenceNotFoundError,
                "no stage names the version '\(version.name)' of \(whose), which has the checksum "
                    + "\(version.checksum).",
                "Add a stage for it; a lightweight stage takes the checksum alone.")
        }
        guard let start = versions.firstIndex(where: { $0.checksum == source.checksum }) else {
            throw unknown("the store", source)
        }
        guard let end = versions.lastIndex(where: { $0.checksum == destination.checksum }) else {
            throw unknown("the coordinator's model", destination)
        }
        guard start <= end else {
            throw failure(
                NSStagedMigrationBackwardMigrationError,
                "the stages lead from the coordinator's model '\(destination.name)' to the store's version "
                    + "'\(source.name)', and none leads back.",
                "Open the store with the version of the model that it was made with, or a later one.")
        }
        func version(_ index: Int) -> ModelVersion? {
            let staged = versions[index]
            if staged.checksum == source.checksum { return source }
            if staged.checksum == destination.checksum { return destination }
            return staged.model.map(ModelVersion.init) ?? known.first { $0.checksum == staged.checksum }
        }
        var steps: [MigrationStep] = []
        if let handlers = versions[start].handlers, unfinished == source.checksum {
            var step = MigrationStep(
                source: source, destination: source, inference: MappingInference(from: [], to: []), mappingModel: nil)
            (step.handlers, step.isEndOnly) = (handlers, true)
            steps.append(step)
        }
        var place = start
        while place < end {
            var next = place + 1
            // Lightweight steps that follow each other are one way, whose versions may be skipped.
            if versions[next].handlers == nil {
                while next < end, versions[next + 1].handlers == nil { next += 1 }
            }
            guard let here = version(place), let target = version(next) else {
                let checksum = versions[version(place) == nil ? place : next].checksum
                throw failure(
                    NSManagedObjectModelReferenceNotFoundError,
                    "no model with the checksum \(checksum), which a lightweight stage names, was found.",
                    "Keep all versions of the model in the bundle, or name it by an NSManagedObjectModelReference.")
            }
            let between = (place + 1..<next).compactMap(version)
            guard var way = route(from: here, to: target, over: between, isStored: place == start) else {
                throw noRoute("The store \(store) cannot be migrated in stages", userInfo: userInfo)
            }
            if let handlers = versions[next].handlers { way[0].handlers = handlers }
            steps += way
            place = next
        }
        return steps
    }

    /// The error of a way that does not exist: 134190, or 134140 if nothing may be inferred.
    ///
    /// - Parameter subject: The failed operation, as the beginning of a sentence.
    func noRoute(_ subject: String, userInfo: [String: Any]) -> NSError {
        let direct = obstacles.first
        let way = direct.map { " from '\($0.source.name)' to '\($0.destination.name)'" } ?? ""
        let error =
            infers
            ? InferenceProblem.error(for: direct?.inference.problems ?? [], subject + way, userInfo: userInfo)
            : CoreDataErrors.make(
                .migrationMissingMappingModel, "\(subject)\(way): there is no mapping model, and none may be inferred.",
                recovery: "Add the store with NSInferMappingModelAutomaticallyOption, or add a mapping model.",
                userInfo: userInfo)
        return error.withSentence(obstacleText)
    }
}

extension NSError {
    /// The same error with another sentence at the end of its description.
    func withSentence(_ text: String?) -> NSError {
        guard let text else { return self }
        var userInfo = userInfo
        userInfo[NSLocalizedDescriptionKey] = "\(localizedDescription)\n\(text)"
        return CoreDataError(domain: domain, code: code, userInfo: userInfo)
    }
}
