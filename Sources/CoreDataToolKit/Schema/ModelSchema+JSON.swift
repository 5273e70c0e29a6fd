extension ModelSchema {
    var json: JSONValue {
        .object([
            .init("model", .string(name)),
            .init("modelOrigin", .string(origin?.name ?? "model")),
            .init("versionIdentifiers", .array(versionIdentifiers.map { .string($0) })),
            .init("checksum", .string(checksum)),
            .init("configurations", .object(configurations.map { .init($0.name, Self.array($0.entities)) })),
            .init("fetchRequests", .array(fetchRequests.map(Self.json))),
            .init("entities", .array(entities.map(\.json))),
        ])
    }

    private static func json(_ request: FetchRequest) -> JSONValue {
        .object([
            .init("name", .string(request.name)), .init("entity", .string(request.entity)),
            .init("predicate", .optional(request.predicate)),
        ])
    }

    fileprivate static func array(_ texts: [String]) -> JSONValue { .array(texts.map { .string($0) }) }
}

extension EntitySchema {
    fileprivate var json: JSONValue {
        .object(
            [.init("name", .string(name))] + facts.map { .init($0.key, $0.value) } + [
                .init("versionHash", .string(versionHash.base64EncodedString())),
                .init("attributes", .array(attributes.map(\.json))),
                .init("relationships", .array(relationships.map(\.json))),
                .init("fetchedProperties", .array(fetchedProperties.map(\.json))),
                .init("indexes", .array(indexes.map(\.json))),
                .init("uniquenessConstraints", .array(uniquenessConstraints.map(ModelSchema.array))),
            ])
    }
}

extension PropertySchema {
    var json: JSONValue {
        var members: [JSONValue.Member] = [.init("name", .string(name))]
        members += ([type] + facts).map { .init($0.key, $0.value) }
        if !elements.isEmpty { members.append(.init("elements", .array(elements.map(\.json)))) }
        return .object(members)
    }
}

extension IndexSchema {
    fileprivate var json: JSONValue {
        .object([
            .init("name", .string(name)), .init("predicate", .optional(predicate)),
            .init(
                "elements",
                .array(
                    elements.map {
                        .object([
                            .init("property", .string($0.property)), .init("isAscending", .bool($0.isAscending)),
                            .init("isRTree", .bool($0.isRTree)),
                        ])
                    })),
        ])
    }
}
