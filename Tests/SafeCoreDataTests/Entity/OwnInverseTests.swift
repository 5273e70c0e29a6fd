import SafeCoreData
import SafeCoreDataTesting
import Testing

/// Friends are friends of each other.
@Entity
final class Guest: NSManagedObject {
    var name: String
    @Relationship(ownInverse: true) var friends: Set<Guest>
    @Relationship(deleteRule: .deny, ownInverse: true) var partner: Guest?
}

/// Relationships that are their own inverses.
struct OwnInverseTests {
    @Test func theModelSaysSo() throws {
        let guest = try #require(NSManagedObjectModel(entities: Guest.self).entitiesByName["Guest"])
        for name in ["friends", "partner"] {
            let relationship = try #require(guest.relationshipsByName[name])
            #expect(relationship.inverseRelationship === relationship)
        }
    }

    @Test func bothSidesSeeEachOther() throws {
        let stack = try EntityStack(Guest.self)
        let names = try stack.context.performAndWait {
            let (ann, bob, eve) = (
                Guest(context: stack.context, name: "Ann"), Guest(context: stack.context, name: "Bob"),
                Guest(context: stack.context, name: "Eve")
            )
            ann.friends = [bob, eve]
            bob.partner = eve
            #expect(eve.partner == bob)
            #expect(eve.friends == [ann])
            try stack.context.save()
            eve.friends = [bob]
            try stack.context.save()
            return [ann, bob, eve].map { $0.friends.map(\.name).sorted() }
        }
        #expect(names == [["Bob"], ["Ann", "Eve"], ["Bob"]])
        let fresh = stack.freshContext()
        try fresh.performAndWait {
            let guests = try fresh.all(Guest.self).sorted { $0.name < $1.name }
            #expect(guests.map { $0.friends.map(\.name).sorted() } == names)
            #expect(guests.map { $0.partner?.name } == [nil, "Eve", "Bob"])
        }
        #expect(stack.file.value("SELECT count(*) FROM Z_1FRIENDS") == "4")
    }

    @Test func theClassRoundTrips() throws {
        try assertRoundTrips(Guest.self)
    }
}
