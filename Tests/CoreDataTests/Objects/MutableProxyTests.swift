import CoreData
import TestSupport
import Testing

/// The proxies of `mutableArrayValue(forKey:)`, `mutableOrderedSetValue(forKey:)` and
/// `mutableSetValue(forKey:)`: they work as Foundation's collections do, and every change is a
/// change of the relationship.
@Suite(.everyStore) struct MutableProxyTests {
    private let stack: TestStack
    private let team: CodingTeam
    private let players: [CodingPlayer]

    init() throws {
        stack = try KeyValueCodingTests.stack()
        let context = stack.context
        team = CodingTeam(context: context)
        players = (0..<12).map { number in
            let player = CodingPlayer(context: context)
            player.name = String(UnicodeScalar(UInt8(97 + number)))
            player.score = Int32(number * 5 % 7)
            return player
        }
        try context.save()
    }

    private func names(_ list: some Sequence) -> String { list.compactMap { ($0 as? CodingPlayer)?.name }.joined() }

    /// The members in their order, as the store has them.
    private var savedRanking: String {
        get throws {
            try stack.context.save()
            guard let tables = stack.tables else {
                let saved = try stack.newContext().existingObject(with: team.objectID) as? CodingTeam
                return names(saved?.ranking ?? [])
            }
            let position = stack.kind == .sqlite ? "Z_FOK_RANKED" : "ranked_pos"
            return tables.column("SELECT {name} FROM {player} WHERE {ranked_id} IS NOT NULL ORDER BY \(position)")
                .compactMap(\.self)
                .joined()
        }
    }

    @Test func theMutableArrayChangesAnOrderedRelationship() throws {
        let array = team.mutableArrayValue(forKey: "ranking")
        #expect(array.count == 0)
        #expect(!team.hasChanges)
        array.addObjects(from: [players[0], players[1], players[2]])
        array.insert(players[3], at: 1)
        array.add(players[0])
        #expect(names(array) == "adbc")
        #expect(names(team.ranking?.array ?? []) == "adbc")
        #expect(players[3].ranked === team)
        #expect(players[3].isUpdated)
        #expect(team.isUpdated)
        #expect(try savedRanking == "adbc")
        array.replaceObject(at: 0, with: players[4])
        array.removeLastObject()
        array.exchangeObject(at: 0, withObjectAt: 2)
        #expect(players[0].ranked == nil)
        #expect(players[2].ranked == nil)
        #expect(try savedRanking == "bde")
        team.ranking = NSOrderedSet(array: [players[5]])
        #expect(array.count == 1)
        #expect(array.firstObject as? CodingPlayer === players[5])
        array.removeAllObjects()
        #expect(try savedRanking == "")
        #expect(players[5].ranked == nil)
    }

    @Test func aRollbackTakesBackWhatWasDoneThroughAMutableArray() throws {
        let array = team.mutableArrayValue(forKey: "ranking")
        array.addObjects(from: [players[0], players[1]])
        #expect(try savedRanking == "ab")
        array.insert(players[2], at: 0)
        array.exchangeObject(at: 1, withObjectAt: 2)
        array.removeLastObject()
        #expect(names(array) == "cb")
        stack.context.rollback()
        #expect(names(array) == "ab")
        #expect(players[2].ranked == nil)
        #expect(players[0].ranked === team)
        #expect(try savedRanking == "ab")
    }

    @Test func theMutableArrayDoesWhatAnArrayDoes() throws {
        var random = SeededGenerator(seed: 11)
        let proxy = team.mutableArrayValue(forKey: "ranking")
        let plain = NSMutableArray()
        for step in 0..<400 {
            let (free, count) = (players.filter { !plain.contains($0) }, plain.count)
            let new = free.randomElement(using: &random)
            let index = Int.random(in: 0...max(0, count - 1), using: &random)
            let range = NSRange(
                location: index, length: count == 0 ? 0 : Int.random(in: 0...(count - index), using: &random))
            let places = IndexSet(integersIn: range.location..<(range.location + range.length))
            let operation = Int.random(in: 0..<14, using: &random)
            for array in [proxy, plain] {
                switch operation {
                case 0: if let new { array.add(new) }
                case 1: if let new { array.insert(new, at: index) }
                case 2: if count > 0 { array.removeObject(at: index) }
                case 3: array.removeLastObject()
                case 4: if let new, count > 0 { array.replaceObject(at: index, with: new) }
                case 5: if count > 0 { array.exchangeObject(at: 0, withObjectAt: index) }
                case 6: array.addObjects(from: Array(free.prefix(3)))
                case 7: array.remove(players[step % 12])
                case 8: array.removeObjects(in: range)
                case 9: array.removeObjects(at: places)
                case 10: array.insert(Array(free.prefix(2)), at: IndexSet(integersIn: 0..<min(2, free.count)))
                case 11:
                    array.sort(using: [
                        NSSortDescriptor(key: "score", ascending: true),
                        NSSortDescriptor(key: "name", ascending: false),
                    ])
                case 12:
                    array.sort {
                        ($0 as? CodingPlayer)?.name?.compare(($1 as? CodingPlayer)?.name ?? "") ?? .orderedSame
                    }
                default: array.filter(using: NSPredicate(format: "score < 6"))
                }
            }
            #expect(names(proxy) == names(plain), "operation \(operation)")
            #expect(names(team.ranking ?? []) == names(plain), "operation \(operation)")
        }
        #expect(try savedRanking == names(plain))
        #expect(Set(players.filter { $0.ranked === team }) == Set(plain.compactMap { $0 as? CodingPlayer }))
    }

    @Test func theMutableOrderedSetDoesWhatAnOrderedSetDoes() throws {
        var random = SeededGenerator(seed: 12)
        let proxy = team.mutableOrderedSetValue(forKey: "ranking")
        let plain = NSMutableOrderedSet()
        for step in 0..<400 {
            let count = plain.count
            let new = players.randomElement(using: &random)!
            let some = Array(players.shuffled(using: &random).prefix(4))
            let index = Int.random(in: 0...max(0, count - 1), using: &random)
            let range = NSRange(
                location: index, length: count == 0 ? 0 : Int.random(in: 0...(count - index), using: &random))
            let places = IndexSet(integersIn: range.location..<(range.location + range.length))
            let operation = Int.random(in: 0..<18, using: &random)
            for set in [proxy, plain] {
                switch operation {
                case 0: set.add(new)
                case 1: set.insert(new, at: index)
                case 2: if count > 0 { set.removeObject(at: index) }
                case 3: set.remove(new)
                case 4:
                    if count > 0, !plain.contains(new) || set === proxy && !proxy.contains(new) {
                        set.replaceObject(at: index, with: new)
                    }
                case 5: if count > 0 { set.exchangeObject(at: 0, withObjectAt: index) }
                case 6: set.addObjects(from: some)
                case 7: set.removeObjects(in: some)
                case 8: set.removeObjects(in: range)
                case 9: set.removeObjects(at: places)
                case 10: set.union(NSOrderedSet(array: some))
                case 11: set.minus(NSOrderedSet(array: some))
                // Foundation's own ordered set never comes back from `intersect`.
                case 12:
                    if set === proxy {
                        set.intersect(NSOrderedSet(array: some))
                    } else {
                        set.removeObjects(in: plain.filter { !some.contains($0 as? CodingPlayer) })
                    }
                case 13: set.unionSet(Set(some))
                case 14: set.minusSet(Set(some))
                case 15:
                    if set === proxy {
                        set.intersectSet(Set(some))
                    } else {
                        set.removeObjects(in: plain.filter { !some.contains($0 as? CodingPlayer) })
                    }
                case 16:
                    set.sort(using: [
                        NSSortDescriptor(key: "score", ascending: true),
                        NSSortDescriptor(key: "name", ascending: false),
                    ])
                default: set.filter(using: NSPredicate(format: "score < 6"))
                }
            }
            #expect(names(proxy) == names(plain), "operation \(operation), step \(step)")
            #expect(names(team.ranking ?? []) == names(plain), "operation \(operation), step \(step)")
        }
        #expect(try savedRanking == names(plain))
    }

    @Test func theMutableSetDoesWhatASetDoes() throws {
        var random = SeededGenerator(seed: 13)
        let proxy = team.mutableSetValue(forKey: "players")
        let plain = NSMutableSet()
        for step in 0..<300 {
            let new = players.randomElement(using: &random)!
            let some = Array(players.shuffled(using: &random).prefix(4))
            let operation = Int.random(in: 0..<9, using: &random)
            for set in [proxy, plain] {
                switch operation {
                case 0, 1: set.add(new)
                case 2: set.remove(new)
                case 3: set.addObjects(from: some)
                case 4: set.union(Set(some))
                case 5: set.minus(Set(some))
                case 6: if step % 3 == 0 { set.intersect(Set(some)) }
                case 7: if step % 3 == 0 { set.setSet(Set(some)) }
                default: set.filter(using: NSPredicate(format: "score < 6"))
                }
            }
            #expect(team.players == Set(plain.compactMap { $0 as? CodingPlayer }), "operation \(operation)")
            #expect(proxy.count == plain.count)
            #expect(proxy.isEqual(to: team.players))
        }
        try stack.context.save()
        let members = stack.stored(["team", "name"], of: "Player").filter { $0[0] != nil }.compactMap { $0[1] }
        #expect(members.joined() == names(plain).sorted().map { String($0) }.joined())
    }

    @Test func aPathLeadsToTheRelationshipOfAnotherObject() throws {
        players[0].ranked = team
        let array = players[0].mutableArrayValue(forKeyPath: "ranked.ranking")
        array.insert(players[1], at: 0)
        #expect(names(array) == "ba")
        #expect(try savedRanking == "ba")
    }

    @Test func theMutableArrayOfAnAttributeReplacesItsValue() throws {
        let note = NSEntityDescription(
            "Note", [.init("words", .transformableAttributeType), .init("text", .stringAttributeType)])
        let stack = try TestStack([note])
        let object = NSManagedObject(entity: stack.entity("Note"), insertInto: stack.context)
        try stack.context.save()
        let words = object.mutableArrayValue(forKey: "words")
        #expect(words.count == 0)
        words.addObjects(from: ["two", "three"])
        words.insert("one", at: 0)
        words.replaceObject(at: 2, with: "four")
        words.removeObject(at: 1)
        #expect(object.isUpdated)
        try stack.context.save()
        let read = try #require(try stack.newContext().fetch(NSFetchRequest<NSManagedObject>(entityName: "Note")).first)
        #expect(read.value(forKey: "words") as? [String] == ["one", "four"])
    }
}

struct MutableProxyStopTests {
    @Test func anUnorderedRelationshipHasNoMutableArray() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = try KeyValueCodingTests.stack()
            _ = CodingTeam(context: stack.context).mutableArrayValue(forKey: "players")
        }
        #expect(
            Complaint(result?.standardErrorContent).lacks("Team.players is not ordered: use mutableSetValue(forKey:)")
                == [])
    }
}
