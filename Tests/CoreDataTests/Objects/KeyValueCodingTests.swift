import CoreData
import TestSupport
import Testing

final class CodingTeam: NSManagedObject {
    @Managed var name: String?
    @Managed var players: Set<CodingPlayer>
    @Managed var ranking: NSOrderedSet?
}

final class CodingPlayer: NSManagedObject {
    @Managed var name: String?
    @Managed var score: Int32
    @Managed var team: CodingTeam?
    @Managed var ranked: CodingTeam?
    var unknownKeys: [String] = []

    override func value(forUndefinedKey key: String) -> Any? {
        unknownKeys.append(key)
        return nil
    }

    override func setValue(_ value: Any?, forUndefinedKey key: String) { unknownKeys.append(key) }
}

@Suite(.everyStore) struct KeyValueCodingTests {
    let stack: TestStack
    let team: CodingTeam
    let players: [CodingPlayer]

    static func stack() throws -> TestStack {
        let team = NSEntityDescription("Team", class: "CodingTeam", [.init("name", .stringAttributeType)])
        let player = NSEntityDescription(
            "Player", class: "CodingPlayer",
            [.init("name", .stringAttributeType), .init("score", .integer32AttributeType, default: 0)])
        relate(team, "players", toMany: true, player, inverse: "team")
        relate(team, "ranking", toMany: true, ordered: true, player, inverse: "ranked")
        return try TestStack([team, player])
    }

    init() throws {
        stack = try Self.stack()
        team = CodingTeam(context: stack.context)
        team.name = "Reds"
        var players: [CodingPlayer] = []
        for (name, score) in [("A", 1), ("B", 2), ("C", 6)] {
            let player = CodingPlayer(context: stack.context)
            player.name = name
            player.score = Int32(score)
            player.team = team
            players.append(player)
        }
        self.players = players
        try stack.context.save()
    }

    /// The names of those that have a team, as the store has them.
    private var storedMembers: [String?] {
        stack.stored(["team", "name"], of: "Player").filter { $0[0] != nil }.map { $0[1] }
    }

    @Test("49: unknown keys come to the methods for undefined keys") func unknownKeysCanBeHandled() {
        #expect(players[0].value(forKey: "height") == nil)
        players[0].setValue(3, forKey: "weight")
        #expect(players[0].unknownKeys == ["height", "weight"])
    }

    @Test("49: several properties are read and set by name at once") func dictionariesOfValues() throws {
        players[0].setValuesForKeys(["name": "Z", "score": 9, "team": NSNull()])
        #expect(players[0].name == "Z")
        #expect(players[0].score == 9)
        #expect(players[0].team == nil)
        players[1].setValuesForKeys(["name": AnyHashable(NSNull()), "score": AnyHashable(Int64(8))])
        #expect(players[1].name == nil)
        #expect(players[1].score == 8)
        let values = players[0].dictionaryWithValues(forKeys: ["name", "score", "team"])
        #expect(values["name"] as? String == "Z")
        #expect(values["score"] as? Int32 == 9)
        #expect(values["team"] is NSNull)
    }

    @Test("64: key paths cross relationships and apply collection operators") func keyPathsCrossRelationships() {
        #expect(players[0].value(forKeyPath: "team.name") as? String == "Reds")
        #expect((team.value(forKeyPath: "players.@count") as? NSNumber)?.intValue == 3)
        #expect((team.value(forKeyPath: "players.@sum.score") as? NSNumber)?.intValue == 9)
        #expect((team.value(forKeyPath: "players.@avg.score") as? NSNumber)?.doubleValue == 3)
        #expect((team.value(forKeyPath: "players.@min.score") as? NSNumber)?.intValue == 1)
        #expect((team.value(forKeyPath: "players.@max.score") as? NSNumber)?.intValue == 6)
        #expect(Set(team.value(forKeyPath: "players.name") as? Set<String> ?? []) == ["A", "B", "C"])
        players[0].team = nil
        #expect(players[0].value(forKeyPath: "team.name") == nil)
    }

    @Test("65: the mutable set is a live view that tracks changes and maintains the inverse")
    func theMutableSetIsLive() throws {
        let proxy = team.mutableSetValue(forKey: "players")
        #expect(proxy.count == 3)
        #expect(Set(proxy.compactMap { ($0 as? CodingPlayer)?.name }) == ["A", "B", "C"])
        #expect(proxy.allObjects.count == 3)
        #expect(proxy.anyObject() is CodingPlayer)
        #expect(proxy.isEqual(to: Set(players)))
        proxy.remove(players[0])
        #expect(players[0].team == nil)
        #expect(!team.players.contains(players[0]))
        #expect(team.isUpdated)
        #expect(players[0].isUpdated)
        proxy.add(players[0])
        #expect(players[0].team === team)
        players[1].team = nil
        #expect(proxy.count == 2)
        #expect(!proxy.contains(players[1]))
        try stack.context.save()
        #expect(storedMembers == ["A", "C"])
        proxy.removeAllObjects()
        #expect(team.players.isEmpty)
        try stack.context.save()
        #expect(storedMembers == [])
    }

    @Test("65: union, minus, intersect and setSet of the mutable set change the relationship")
    func setOperationsOfTheMutableSet() throws {
        let proxy = team.mutableSetValue(forKey: "players")
        proxy.minus([players[0]])
        #expect(team.players == [players[1], players[2]])
        proxy.union([players[0], players[1]])
        #expect(team.players == Set(players))
        proxy.intersect([players[0]])
        #expect(team.players == [players[0]])
        proxy.setSet([players[2]])
        #expect(team.players == [players[2]])
        #expect(players[0].team == nil)
    }

    @Test("66: a to-many getter gives an NSSet, an ordered one an NSOrderedSet") func toManyGettersGiveSets() throws {
        let set = try #require(team.value(forKey: "players") as? NSSet)
        #expect(set.count == 3)
        #expect(set.contains(players[0]))
        let ordered = try #require(team.value(forKey: "ranking") as? NSOrderedSet)
        #expect(ordered.count == 0)
        team.ranking = NSOrderedSet(array: [players[2], players[0]])
        #expect((team.value(forKey: "ranking") as? NSOrderedSet)?.array as? [CodingPlayer] == [players[2], players[0]])
        #expect(team.ranking?.firstObject as? CodingPlayer === players[2])
    }

    @Test("67: the subscript reads and writes by key") func theSubscriptIsKeyValueCoding() throws {
        #expect(players[1]["score"] as? Int == 2)
        players[1]["score"] = 40
        players[1]["team"] = nil
        #expect(players[1].score == 40)
        #expect(players[1].team == nil)
        #expect(players[1].isUpdated)
        try stack.context.save()
        #expect(stack.stored(["name", "score"], of: "Player") == [["A", "1"], ["B", "40"], ["C", "6"]])
    }

    @Test("50: a class answers keys of its own by overriding value(forKey:)")
    func valuesOfUnmodeledPropertiesAreNotGuessed() {
        // There is no run-time search for accessors off Apple's platforms: unmodeled keys are
        // undefined keys.
        #expect(players[0].value(forKey: "unknownKeys") == nil)
        #expect(players[0].unknownKeys == ["unknownKeys"])
    }

    @Test func arraysAndSetsSetAPropertyOfEachElement() throws {
        NSArray(array: [players[0], players[1]]).setValue(10, forKey: "score")
        NSOrderedSet(array: [players[1], players[2]]).setValue("x", forKey: "name")
        #expect(players.map(\.score) == [10, 10, 6])
        #expect(players.map(\.name) == ["A", "x", "x"])
        #expect(Set(stack.context.updatedObjects) == Set(players))
        team.mutableSetValue(forKey: "players").setValue(nil, forKey: "name")
        NSSet(array: [players[2]]).setValue("Blues", forKeyPath: "team.name")
        try stack.context.save()
        stack.expectRows(
            "SELECT {name}, {score} FROM {player} ORDER BY {id}", are: [[nil, "10"], [nil, "10"], [nil, "6"]])
        #expect(stack.stored(["name", "score"], of: "Player") == [[nil, "10"], [nil, "10"], [nil, "6"]])
        #expect(stack.stored("name", of: "Team") == ["Blues"])
        team.mutableSetValue(forKey: "players").setValue(nil, forKey: "team")
        #expect(team.players.isEmpty)
        #expect(players.allSatisfy { $0.team == nil })
    }

    @Test func arraysAndSetsGiveAPropertyOfEachElement() {
        players[1].name = nil
        let names = NSArray(array: players).value(forKey: "name") as? [Any]
        #expect(names?.count == 3)
        #expect(names?[0] as? String == "A")
        #expect(names?[1] is NSNull)
        let ordered = NSOrderedSet(array: players).value(forKey: "score")
        #expect(ordered as? NSOrderedSet == NSOrderedSet(array: [1, 2, 6] as [Int32]))
        #expect(NSSet(array: players).value(forKey: "name") as? Set<String> == ["A", "C"])
    }
}

struct UnknownKeyStopTests {
    @Test("49: an unknown key stops the program") func unknownKeysStopTheProgram() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = try KeyValueCodingTests.stack()
            _ = CodingTeam(context: stack.context).value(forKey: "stadium")
        }
        #expect(Complaint(result?.standardErrorContent).lacks("has no property named \"stadium\"") == [])
    }
}
