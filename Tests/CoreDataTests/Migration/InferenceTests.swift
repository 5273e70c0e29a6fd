import CoreData
import TestSupport
import Testing

/// Mapping models inferred from two versions of a model, and the changes that are refused.
struct InferenceTests {
    private func mapping(_ source: NSManagedObjectModel, _ destination: NSManagedObjectModel) throws -> NSMappingModel {
        try NSMappingModel.inferredMappingModel(forSourceModel: source, destinationModel: destination)
    }

    /// The reasons of a refusal, by entity and property.
    private func reasons(_ source: NSManagedObjectModel, _ destination: NSManagedObjectModel) throws -> [String: String]
    {
        let error = try #require(errorThrown { _ = try mapping(source, destination) })
        #expect(error.code == NSInferredMappingModelError)
        #expect(error.domain == NSCocoaErrorDomain)
        var result: [String: String] = [:]
        for single in error.singleErrors {
            let names = [single.userInfo["entity"], single.userInfo["property"]].compactMap { $0 as? String }
            result[names.joined(separator: ".")] = single.userInfo["reason"] as? String
            #expect(error.localizedDescription.contains(single.localizedDescription))
            #expect(single.localizedRecoverySuggestion?.isEmpty == false)
        }
        return result
    }

    @Test func mappingsSayWhatBecomesOfEachEntity() throws {  // 284, 285
        let inferred = try mapping(
            model(entity("Same", text("a")), entity("Gone"), entity("Old", text("a"))),
            model(entity("Same", text("a")), entity("Added"), entity("New", was: "Old", text("b", was: "a"), text("c")))
        )
        let types = inferred.entityMappings.map {
            "\($0.sourceEntityName ?? "-") \($0.destinationEntityName ?? "-") \($0.mappingType.rawValue)"
        }
        #expect(types == ["Gone - 3", "- Added 2", "Same Same 4", "Old New 5"])
        #expect(inferred.entityMappingsByName.count == 4)
        let changed = try #require(inferred.entityMappings.last)
        #expect(changed.attributeMappings?.map(\.name) == ["b", "c"])
        #expect(changed.attributeMappings?[0].valueExpression?.description == "$source.a")
        #expect(changed.attributeMappings?[1].valueExpression == nil)
        #expect(changed.sourceEntityVersionHash != nil)
        #expect(changed.sourceEntityVersionHash != changed.destinationEntityVersionHash)
    }

    /// As programs for a Mac read it.
    @Test func mappingsNameThePropertiesThatAreMappedAddedAndRemoved() throws {
        let inferred = try mapping(
            model(entity("Same", text("a")), entity("Gone"), entity("Old", text("a"), text("d"), text("e"))),
            model(
                entity("Same", text("a")), entity("Added"),
                entity("New", was: "Old", text("b", was: "a"), text("c"), text("d"))))
        func names(_ key: String, _ mapping: String) -> Set<String>? {
            inferred.entityMappingsByName[mapping]?.userInfo?[key] as? Set<String>
        }
        #expect(names("mappedProperties", "IEM_Transform_New") == ["b", "d"])
        #expect(names("addedProperties", "IEM_Transform_New") == ["c"])
        #expect(names("removedProperties", "IEM_Transform_New") == ["e"])
        #expect(names("mappedProperties", "IEM_Copy_Same") == ["a"])
        #expect(names("addedProperties", "IEM_Copy_Same") == [])
        #expect(names("removedProperties", "IEM_Copy_Same") == [])
    }

    @Test func aMappingWithoutANameIsCalledAfterItsEntities() {  // 286
        let mapping = NSEntityMapping()
        mapping.sourceEntityName = "Car"
        mapping.destinationEntityName = "Automobile"
        #expect(mapping.name == "Car->Automobile")
        mapping.name = "mine"
        #expect(mapping.name == "mine")
        #expect(NSEntityMappingType.copyEntityMappingType.rawValue == 4)
    }

    @Test func everyReasonIsListed() throws {  // 283
        let source = model(
            entity("Item", text("count"), text("name"), number("size", .integer64AttributeType)),
            entity("Other", text("x")))
        let destination = model(
            entity(
                "Item", number("count"), text("name", optional: false), text("added", optional: false),
                number("size", .integer16AttributeType)), entity("Other", number("x")))
        let reasons = try reasons(source, destination)
        // Whether objects are in the way of what is required now, the migration sees.
        #expect(reasons.keys.sorted() == ["Item.count", "Item.size", "Other.x"])
        #expect(reasons["Item.count"]?.contains("String") == true)
        #expect(reasons["Item.count"]?.contains("Integer 64") == true)
    }

    /// A relationship without a predecessor of its name is that of its inverse's predecessor.
    @Test(arguments: [("collections", false), ("collection", true)])
    func aToManyRelationshipMayGiveWayToANewToOneButNotBecomeIt(name: String, isNew: Bool) throws {
        func version(_ name: String, toMany: Bool) -> NSManagedObjectModel {
            let game = entity("Game"), collection = entity("Collection")
            relate(collection, "games", toMany: true, game, inverse: name, inverseToMany: toMany)
            return model(game, collection)
        }
        let (source, destination) = (version("collections", toMany: true), version(name, toMany: false))
        if isNew {
            _ = try mapping(source, destination)
        } else {
            let reason = try #require(try reasons(source, destination)["Game.\(name)"])
            #expect(reason.contains("to-many"), "\(reason)")
        }
    }

    @Test func onlyWiderNumbersMayTakeThePlaceOfOthers() throws {  // 283
        let types = NSAttributeType.allCases.filter {
            $0 != .undefinedAttributeType && $0 != .compositeAttributeType && $0 != .objectIDAttributeType
        }
        let wider: [NSAttributeType: [NSAttributeType]] = [
            .booleanAttributeType: [
                .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .floatAttributeType,
                .doubleAttributeType,
                .decimalAttributeType,
            ],
            .integer16AttributeType: [
                .integer32AttributeType, .integer64AttributeType, .floatAttributeType, .doubleAttributeType,
                .decimalAttributeType,
            ],
            .integer32AttributeType: [.integer64AttributeType, .doubleAttributeType, .decimalAttributeType],
            .integer64AttributeType: [.doubleAttributeType, .decimalAttributeType],
            .floatAttributeType: [.doubleAttributeType],
        ]
        for old in types {
            for new in types {
                let source = model(entity("Item", NSAttributeDescription("value", old)))
                let destination = model(entity("Item", NSAttributeDescription("value", new)))
                let isInferred = errorThrown { _ = try mapping(source, destination) } == nil
                #expect(isInferred == (old == new || wider[old]?.contains(new) == true), "\(old) to \(new)")
            }
        }
    }

    @Test func hierarchiesAreNotMerged() throws {  // 282
        let parent = entity("Parent")
        parent.subentities = [entity("A"), entity("B")]
        let reasons = try reasons(
            model(entity("A"), entity("B")), model(parent, parent.subentities[0], parent.subentities[1]))
        #expect(reasons.keys.sorted() == ["B"])
        #expect(reasons["B"]?.contains("'A'") == true)
    }

    @Test func toManyRelationshipsDoNotBecomeToOne() throws {  // 281
        func version(toMany: Bool, inverseToMany: Bool) -> NSManagedObjectModel {
            let a = entity("A"), b = entity("B")
            relate(a, "b", toMany: toMany, b, inverse: "a", inverseToMany: inverseToMany)
            return model(a, b)
        }
        for (old, new) in [
            ((true, true), (false, true)), ((true, true), (true, false)), ((true, false), (false, false)),
            ((true, false), (false, true)),
        ] {
            let source = version(toMany: old.0, inverseToMany: old.1),
                destination = version(toMany: new.0, inverseToMany: new.1)
            #expect(try !reasons(source, destination).isEmpty)
        }
        for (old, new) in [
            ((false, false), (false, true)), ((false, false), (true, true)), ((false, true), (true, true)),
        ] {
            _ = try mapping(version(toMany: old.0, inverseToMany: old.1), version(toMany: new.0, inverseToMany: new.1))
        }
    }

    @Test func relationshipsKeepTheirDestinationsAndInverses() throws {
        func version(_ destination: String, inverse: String) -> NSManagedObjectModel {
            let all = [entity("A"), entity("B"), entity("C")]
            let model = NSManagedObjectModel(all)
            relate(all[0], "link", toMany: true, model.entitiesByName[destination]!, inverse: inverse)
            return model
        }
        #expect(try reasons(version("B", inverse: "a"), version("C", inverse: "a")).keys.sorted() == ["A.link"])
        let source = version("B", inverse: "a"), destination = version("B", inverse: "a")
        for version in [source, destination] {
            relate(version.entitiesByName["A"]!, "other", toMany: true, version.entitiesByName["B"]!, inverse: "o")
        }
        let link = destination.entitiesByName["A"]!.relationshipsByName["link"]!,
            other = destination.entitiesByName["A"]!.relationshipsByName["other"]!
        let linkInverse = link.inverseRelationship, otherInverse = other.inverseRelationship
        link.inverseRelationship = otherInverse
        otherInverse?.inverseRelationship = link
        other.inverseRelationship = linkInverse
        linkInverse?.inverseRelationship = other
        #expect(try reasons(source, destination).keys.sorted() == ["A.link", "A.other", "B.a", "B.o"])
    }

    @Test func aRenamingIdentifierLeadsOneEntityOnly() throws {  // 280
        let reasons = try reasons(model(entity("Item")), model(entity("A", was: "Item"), entity("B", was: "Item")))
        #expect(reasons.keys.sorted() == ["B"])
    }

    @Test func anAttributeDoesNotBecomeARelationship() throws {
        let other = entity("Other")
        let new = entity("Item", NSRelationshipDescription("value", to: other))
        #expect(
            try reasons(model(entity("Item", text("value")), entity("Other")), model(new, other)).keys.sorted() == [
                "Item.value"
            ])
    }

    @Test func transientAndFetchedPropertiesDoNotTakePart() throws {
        let transient = number("value", optional: false)
        transient.isTransient = true
        _ = try mapping(model(entity("Item", text("value"))), model(entity("Item", transient)))
        // No value is kept: the stored one is a new one.
        let other = transient.copy() as! NSAttributeDescription
        let mapping = try mapping(model(entity("Item", other)), model(entity("Item", text("value"))))
        #expect(mapping.entityMappings.first?.attributeMappings?.first { $0.name == "value" }?.valueExpression == nil)
    }

    @Test func mappingsOfRelationshipsNameTheMappingOfTheDestination() throws {
        func version(_ attribute: String) -> NSManagedObjectModel {
            let a = entity("A", text(attribute)), b = entity("B")
            relate(a, "bs", toMany: true, b, inverse: "a")
            return model(a, b)
        }
        let inferred = try mapping(version("x"), version("y"))
        let expression = inferred.entityMappings.first { $0.destinationEntityName == "A" }?.relationshipMappings?.first?
            .valueExpression
        let words = expression?.description ?? ""
        #expect(words.contains("destinationInstancesForEntityMappingNamed"))
        #expect(words.contains("$source.bs"))
        #expect(inferred.entityMappingsByName.keys.contains { words.contains($0) })
    }

    @Test func aModelThatCannotBeUsedHasNoMapping() throws {
        let source = model(entity("Item", text("name")))
        let destination = model(entity("Item", text("name"), text("")))
        source.entitiesByName["Item"]?.properties.append(text(""))
        let error = try #require(errorThrown { _ = try mapping(source, destination) })
        #expect(error.code == NSInferredMappingModelError)
        #expect(error.localizedDescription.contains("a property without a name"))
    }
}
