import CoreData
import TestSupport
import Testing

final class CountedTeam: NSManagedObject {
    @Managed var name: String?
    @Managed var players: Set<CountedPlayer>
    @Managed var staff: Set<CountedPlayer>
    @Managed var coach: CountedPlayer?
}

final class CountedPlayer: NSManagedObject {
    @Managed var name: String?
    @Managed var team: CountedTeam?
    @Managed var office: CountedTeam?
    @Managed var coached: CountedTeam?
}

@Suite(.everyStore) struct RelationshipValidationTests {
    let stack: TestStack
    let team: CountedTeam

    /// Teams and players; `change` may change the team before a coordinator takes the model.
    static func entities(_ change: (NSEntityDescription) -> Void = { _ in }) -> [NSEntityDescription] {
        let team = NSEntityDescription("Team", class: "CountedTeam", [.init("name", .stringAttributeType)])
        let player = NSEntityDescription("Player", class: "CountedPlayer", [.init("name", .stringAttributeType)])
        relate(team, "players", toMany: true, player, inverse: "team")
        relate(team, "staff", toMany: true, optional: false, player, inverse: "office")
        relate(team, "coach", optional: false, player, inverse: "coached")
        team.relationshipsByName["players"]!.minCount = 2
        team.relationshipsByName["players"]!.maxCount = 3
        change(team)
        return [team, player]
    }

    init() throws {
        stack = try TestStack(Self.entities())
        self.team = CountedTeam(context: stack.context)
        self.team.coach = CountedPlayer(context: stack.context)
        self.team.staff = [CountedPlayer(context: stack.context)]
    }

    func players(_ count: Int) -> Set<CountedPlayer> {
        Set((0..<count).map { _ in CountedPlayer(context: stack.context) })
    }

    func saveError() -> NSError? { errorThrown { try stack.context.save() } }

    @Test("78: an optional relationship may be empty in spite of its minimum") func optionalMayBeEmpty() {
        #expect(saveError() == nil)
    }

    @Test("78: too few objects are error 1580, too many 1590") func countsAreChecked() throws {
        for (count, code) in [(1, 1580), (2, nil), (3, nil), (4, 1590)] {
            team.players = players(count)
            let error = saveError()
            #expect(error?.code == code)
            if code != nil {
                #expect(error?.userInfo[NSValidationKeyErrorKey] as? String == "players")
                #expect(error?.userInfo[NSValidationObjectErrorKey] as? NSManagedObject === team)
            }
        }
        team.players = []
        #expect(saveError() == nil)
    }

    @Test("78: counts are checked when they change from the other side") func countsChangedByTheInverse() throws {
        team.players = players(3)
        try stack.context.save()
        let player = CountedPlayer(context: stack.context)
        player.team = team
        #expect(saveError()?.code == 1590)
    }

    @Test("79: a required to-one relationship needs its object") func requiredToOne() throws {
        team.coach = nil
        let error = try #require(saveError())
        #expect(error.code == 1570)
        #expect(error.validationKeys == ["coach"])
    }

    @Test(
        "78: a required to-many relationship needs as many objects as its minimum says, none when that is 0",
        arguments: [0, 1])
    func requiredToMany(minimum: Int) throws {
        let stack = try TestStack(
            Self.entities { $0.relationshipsByName["staff"]!.minCount = minimum })
        let team = CountedTeam(context: stack.context)
        team.coach = CountedPlayer(context: stack.context)
        let error = errorThrown { try stack.context.save() }
        #expect(error?.code == (minimum == 0 ? nil : 1580))
        #expect(error?.validationKeys == (minimum == 0 ? nil : ["staff"]))
        team.staff = [CountedPlayer(context: stack.context)]
        try stack.context.save()
        team.staff = []
        #expect(errorThrown { try stack.context.save() }?.code == (minimum == 0 ? nil : 1580))
    }

    @Test("79: deleting the object that a required relationship needs fails the save")
    func deletingARequiredObject() throws {
        try stack.context.save()
        stack.context.delete(try #require(team.coach))
        let error = try #require(saveError())
        #expect(error.code == 1570)
        #expect(error.validationKeys == ["coach"])
        #expect(stack.storedCount(of: "Player") == 2)
    }

    @Test("81: a deleted object may lack required relationships") func deletedObjectsMayLackRelationships() throws {
        try stack.context.save()
        team.coach = nil
        team.staff = []
        stack.context.delete(team)
        #expect(saveError() == nil)
        #expect(stack.storedCount(of: "Team") == 0)
    }
}
