import CoreData
import SafeCoreData
import Testing

@Entity("Ware", userInfo: ["ocd.table": "wares", "ocd.key": "ware_id"])
final class NotedWare: NSManagedObject {
    @Attribute(.length(1...20), originalName: "label", userInfo: ["ocd.column": "title"]) var name: String
    @Attribute(userInfo: ["ocd.fold": "cd"]) var remark: String?
    var count: Int = 0
    @Relationship(inverse: \NotedShelf.wares, userInfo: ["ocd.column": "shelf"]) var shelf: NotedShelf?
}

@Entity("Shelf") final class NotedShelf: NSManagedObject {
    var wares: Set<NotedWare>
}

/// User info that classes add to their entities and properties.
struct EntityUserInfoTests {
    @Test func userInfoIsInTheModel() throws {
        let model = NSManagedObjectModel(entities: NotedWare.self, NotedShelf.self)
        let ware = try #require(model.entitiesByName["Ware"])
        #expect(ware.userInfo as? [String: String] == ["ocd.table": "wares", "ocd.key": "ware_id"])
        #expect(ware.attributesByName["name"]?.userInfo as? [String: String] == ["ocd.column": "title"])
        #expect(ware.attributesByName["name"]?.renamingIdentifier == "label")
        #expect(ware.attributesByName["remark"]?.userInfo as? [String: String] == ["ocd.fold": "cd"])
        #expect(ware.relationshipsByName["shelf"]?.userInfo as? [String: String] == ["ocd.column": "shelf"])
        #expect(ware.relationshipsByName["shelf"]?.inverseRelationship?.name == "wares")
        #expect(ware.attributesByName["count"]?.userInfo?.isEmpty != false)
        #expect(model.entitiesByName["Shelf"]?.userInfo?.isEmpty != false)
    }
}
