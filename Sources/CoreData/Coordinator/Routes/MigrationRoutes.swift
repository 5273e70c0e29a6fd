import Foundation

/// Finds the steps from the version of a store to another one.
struct MigrationRoutes {
    let configuration: String?
    /// The hashes of the store. They say which entities of its version it holds.
    let storedHashes: [String: Data]
    let infers: Bool
    let mappingModels: [NSMappingModel]
    /// Whether inferred steps are made as mapping models are.
    let mapsInferred: Bool

    /// Why there is no step between two versions.
    struct Obstacle {
        let source: ModelVersion
        let destination: ModelVersion
        let inference: MappingInference
    }

    /// The obstacles of the last search, the direct way's first.
    private(set) var obstacles: [Obstacle] = []

    init(
        configuration: String?, storedHashes: [String: Data], infers: Bool, mappingModels: [NSMappingModel],
        mapsInferred: Bool
    ) {
        self.configuration = configuration
        self.storedHashes = storedHashes
        self.infers = infers
        self.mappingModels = mappingModels
        self.mapsInferred = mapsInferred
    }

    /// Returns the fewest steps to a version; nil if there are none.
    ///
    /// - Parameter between: The versions that may be passed, in their order. A step leads only to a
    ///   later one, as older versions may lack what the newer ones have in common.
    mutating func route(
        from source: ModelVersion, to destination: ModelVersion, over between: [ModelVersion], isStored: Bool = true
    ) -> [MigrationStep]? {
        obstacles = []
        var waiting = Array(between.indices)
        var routes: [(steps: [MigrationStep], place: Int)] = [([], -1)]
        while !routes.isEmpty {
            for route in routes {
                let here = route.steps.last?.destination ?? source
                if let last = step(from: here, to: destination, isStored: isStored && route.steps.isEmpty) {
                    return route.steps + [last]
                }
            }
            var longer: [(steps: [MigrationStep], place: Int)] = []
            for route in routes {
                let here = route.steps.last?.destination ?? source
                for place in waiting where place > route.place {
                    guard let next = step(from: here, to: between[place], isStored: isStored && route.steps.isEmpty)
                    else { continue }
                    longer.append((route.steps + [next], place))
                    waiting.removeAll { $0 == place }
                }
            }
            routes = longer
        }
        return nil
    }

    /// Returns the steps to a version of which one is made by a given mapping model; nil if there
    /// are none.
    mutating func route(
        from source: ModelVersion, to destination: ModelVersion, over between: [ModelVersion],
        through mapping: NSMappingModel
    ) -> [MigrationStep]? {
        let versions = [source] + between + [destination]
        for first in versions.indices.dropLast() {
            for second in versions.indices.dropFirst(first + 1)
            where [mapping].best(from: versions[first].hashes, to: versions[second].hashes) != nil {
                var before: [MigrationStep]? = []
                if first > 0 { before = route(from: source, to: versions[first], over: Array(versions[1..<first])) }
                let made = step(from: versions[first], to: versions[second], isStored: first == 0)
                var after: [MigrationStep]? = []
                if second < versions.count - 1 {
                    after = route(
                        from: versions[second], to: destination, over: Array(versions[second + 1..<versions.count - 1]),
                        isStored: false)
                }
                if let before, let made, let after { return before + [made] + after }
            }
        }
        return nil
    }

    /// Returns the step between two versions; nil if there is no mapping.
    ///
    /// - Parameter isStored: Whether the source is the version of the store.
    private mutating func step(
        from source: ModelVersion, to destination: ModelVersion, isStored: Bool
    ) -> MigrationStep? {
        guard let formerEntities = entities(of: source, isStored: isStored),
            let entities = entities(of: destination, isStored: false)
        else { return nil }
        let inference = MappingInference(from: formerEntities, to: entities)
        let mapping = mappingModels.best(from: source.hashes, to: destination.hashes)
        if mapping == nil, !infers || !inference.problems.isEmpty {
            obstacles.append(Obstacle(source: source, destination: destination, inference: inference))
            return nil
        }
        return MigrationStep(
            source: source, destination: destination, inference: inference,
            mappingModel: mapping ?? (mapsInferred ? inference.mappingModel() : nil))
    }

    private func entities(of version: ModelVersion, isStored: Bool) -> [NSEntityDescription]? {
        if isStored {
            // The tables also contain the subentities of the entities that the store names.
            return HeldEntities(listed: version.model.entities.filter { storedHashes[$0.name ?? ""] != nil }).entities
        }
        return version.model.heldEntities(forConfigurationName: configuration)?.entities
    }

    /// Returns the versions between two others, from the first to the second.
    static func between(
        _ source: ModelVersion, _ destination: ModelVersion, in versions: [ModelVersion]
    ) -> [ModelVersion] {
        guard let end = versions.firstIndex(where: { $0.hashes == destination.hashes }) else { return [] }
        guard let start = versions.firstIndex(where: { $0.hashes == source.hashes }) else {
            return Array(versions[..<end])
        }
        return start < end ? Array(versions[(start + 1)..<end]) : versions[(end + 1)..<max(start, end + 1)].reversed()
    }

    /// Why there is no direct step, as sentences.
    var detourReasons: [String] { obstacles.first.map(Self.reasons) ?? [] }

    private static func reasons(_ obstacle: Obstacle) -> [String] {
        let problems = obstacle.inference.problems.map(\.text)
        return problems.isEmpty ? ["There is no mapping model, and none may be inferred."] : problems
    }

    /// A sentence for each step that was tried besides the direct one; nil if there was no other.
    var obstacleText: String? {
        let others = obstacles.dropFirst().map { obstacle in
            "\n- from '\(obstacle.source.name)' to '\(obstacle.destination.name)': "
                + Self.reasons(obstacle).joined(separator: " ")
        }
        guard !others.isEmpty else { return nil }
        return "Nor is there a way over other versions of the model:" + others.joined()
    }
}
