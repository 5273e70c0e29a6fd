import CoreData
import TestSupport
import Testing

/// Mapping models as values that programs make and change.
struct MappingModelTests {
    @Test func aMappingModelIsMadeInCode() {
        let name = NSPropertyMapping()
        name.name = "title"
        name.valueExpression = NSExpression(format: "$source.name")
        name.userInfo = ["reason": "renamed"]
        let item = mapping("ItemToThing", from: "Item", to: "Thing")
        item.attributeMappings = [name]
        item.userInfo = ["author": "me"]
        item.sourceEntityVersionHash = Data([1])
        let model = NSMappingModel()
        model.entityMappings = [item]
        #expect(model.entityMappingsByName["ItemToThing"] === item)
        #expect(model.entityMappings[0].attributeMappings?[0].userInfo?["reason"] as? String == "renamed")
        #expect(item.userInfo?["author"] as? String == "me")
        #expect(item.sourceEntityVersionHash == Data([1]))
    }

    @Test func aMappingWithoutANameIsNamedAfterItsEntities() {
        let mapping = NSEntityMapping()
        mapping.sourceEntityName = "Item"
        mapping.destinationEntityName = "Thing"
        #expect(mapping.name == "Item->Thing")
    }

    @Test func anInferredMappingCanBeChanged() throws {
        let former = model(entity("Item", text("name")))
        let new = model(entity("Item", text("name"), text("note")))
        let stores = try MappedStores()
        try stores.source.open(former) { $0.insert("Item", ["name": "bolt"]) }
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: former, destinationModel: new)
        let note = mapping.entityMappings[0].attributeMappings?.first { $0.name == "note" }
        note?.valueExpression = NSExpression(format: "uppercase($source.name)")
        try stores.migrate(with: NSMigrationManager(sourceModel: former, destinationModel: new), by: mapping)
        #expect(stores.destination.file.rows("SELECT ZNAME, ZNOTE FROM ZITEM") == [["bolt", "BOLT"]])
    }

    @Test func anInferredMappingFollowsRelationshipsToSubentities() throws {
        func version(_ extra: NSAttributeDescription...) -> NSManagedObjectModel {
            let person = entity("Person", text("name"))
            let manager = entity("Manager", number("level"))
            person.subentities = [manager]
            let team = entity("Team", text("name"))
            team.properties += extra
            relate(team, "members", toMany: true, person, inverse: "team")
            return model(team, person, manager)
        }
        let (former, new) = (version(), version(text("note")))
        let stores = try MappedStores()
        try stores.source.open(former) { context in
            let team = context.insert("Team", ["name": "A"])
            context.insert("Person", ["name": "p", "team": team])
            context.insert("Manager", ["name": "m", "level": 2, "team": team])
        }
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: former, destinationModel: new)
        try stores.migrate(with: NSMigrationManager(sourceModel: former, destinationModel: new), by: mapping)
        let rows = "SELECT p.ZNAME, p.ZLEVEL, t.ZNAME FROM ZPERSON p JOIN ZTEAM t ON t.Z_PK = p.ZTEAM ORDER BY 1"
        #expect(stores.destination.file.rows(rows) == [["m", "2", "A"], ["p", nil, "A"]])
    }
}
