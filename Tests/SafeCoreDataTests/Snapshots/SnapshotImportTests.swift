import SafeCoreData
import TestSupport
import Testing

@Entity
class Track: NSManagedObject {
    var title: String
    @Relationship(inverse: \Record.tracks) var record: Record?
}

/// No relationship leads to it, nor to what it leads to.
@Entity
final class LiveTrack: Track {
    var place: String
    @Relationship(inverse: \Hall.recordings) var hall: Hall?
}

@Entity("ConcertHall")
final class Hall: NSManagedObject {
    var name: String
    var recordings: Set<LiveTrack>
}

@Entity
final class Record: NSManagedObject {
    var name: String
    var tracks: [Track]
    @Relationship(inverse: \Label.records) var label: Label?
}

@Entity
final class Label: NSManagedObject {
    var name: String
    var records: Set<Record>
}

/// Snapshots and graphs that come from elsewhere.
struct SnapshotImportTests {
    private let stack: EntityStack

    init() throws { stack = try EntityStack(Record.self, LiveTrack.self) }

    private func record() throws -> Record {
        let label = Label(context: stack.context, name: "Blue")
        let record = Record(context: stack.context, name: "Tour", label: label)
        let hall = Hall(context: stack.context, name: "Town hall")
        let live = LiveTrack(context: stack.context, inheriting: .init(title: "B"), place: "Berlin", hall: hall)
        record.tracks = [Track(context: stack.context, title: "A"), live]
        try stack.context.save()
        return record
    }

    private func decoded<Value: Codable>(_ value: Value) throws -> Value {
        try JSONDecoder().decode(Value.self, from: JSONEncoder().encode(value))
    }

    // MARK: Subclasses

    @Test func aGraphWithSubclassesIsDecodedWithoutBeingToldTheirClasses() throws {
        let graph = try record().snapshotGraph(depth: 3)
        let copy = try decoded(graph)
        #expect(copy == graph)
        let other = try EntityStack(Record.self, LiveTrack.self)
        try other.context.apply(copy)
        try other.context.save()
        #expect(
            other.file.rows(
                "SELECT t.ZTITLE, t.ZPLACE, h.ZNAME FROM ZTRACK t LEFT JOIN ZCONCERTHALL h ON h.Z_PK = t.ZHALL "
                    + "ORDER BY 1"
            )
                == [["A", nil, nil], ["B", "Berlin", "Town hall"]])
    }

    @Test func aGraphThatNamesNoClassesIsDecodedByItsEntities() throws {
        let graph = try record().snapshotGraph(depth: 1)
        let text = String(decoding: try JSONEncoder().encode(graph), as: UTF8.self)
        let former = text.replacing(#/"class":"[^"]*",?/#, with: "")
        #expect(former != text)
        #expect(!former.contains(#""class""#))
        #expect(
            try JSONDecoder().decode(
                SnapshotGraph<Record.Snapshot>.self, from: Data(former.replacing(",}", with: "}").utf8)) == graph)
    }

    @Test func anEntityWithoutAClassIsAnErrorThatNamesIt() throws {
        let text = #"{"root": {"name": "Tour"}, "related": [{"entity": "Nowhere", "snapshot": {}}]}"#
        let error = #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(SnapshotGraph<Record.Snapshot>.self, from: Data(text.utf8))
        }
        #expect("\(error as Any)".contains("Nowhere"))
    }

    @Test func aClassThatIsNoEntityIsNotTakenForOne() throws {
        let text =
            #"{"root": {"name": "Tour"}, "related": [{"entity": "ShopItem", "class": "ShopItem", "snapshot": {}}]}"#
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(SnapshotGraph<Record.Snapshot>.self, from: Data(text.utf8))
        }
        let other =
            #"{"root": {"name": "Tour"}, "related": [{"entity": "ConcertHall", "class": "Label", "snapshot": {}}]}"#
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(SnapshotGraph<Record.Snapshot>.self, from: Data(other.utf8))
        }
    }

    // MARK: References that lead nowhere

    @Test func aGraphCutAtItsEdgeIsRefusedUnlessReferencesAreDropped() throws {
        let graph = try decoded(record().snapshotGraph(depth: 1))
        let other = try EntityStack(Record.self, LiveTrack.self)
        #expect(throws: SnapshotError.self) { try other.context.apply(graph) }
        #expect(!other.context.hasChanges)
        let applied = try other.context.apply(graph, danglingReferences: .drop)
        try other.context.save()
        #expect(applied.tracks.map(\.title) == ["A", "B"])
        #expect(other.file.rows("SELECT ZTITLE, ZHALL FROM ZTRACK ORDER BY 1") == [["A", nil], ["B", nil]])
    }

    @Test func severalObjectsLoseOnlyThoseThatDoNotExist() throws {
        var snapshot = try record().snapshot()
        let known = snapshot.tracks
        snapshot.tracks = [.new(Track.self)] + known.reversed() + [.new(LiveTrack.self)]
        let context = stack.freshContext()
        try context.apply(snapshot, danglingReferences: .drop)
        try context.save()
        let saved = try #require(try stack.freshContext().all(Record.self).first)
        #expect(saved.tracks.map(\.title) == ["B", "A"])
    }

    @Test func oneObjectStaysWhereItsReferenceIsDropped() throws {
        var snapshot = try record().snapshot(\.label, \.name)
        snapshot.label = .new(Label.self)
        snapshot.name = "Second tour"
        let context = stack.freshContext()
        try context.apply([snapshot], danglingReferences: .drop)
        try context.save()
        #expect(
            stack.file.rows("SELECT r.ZNAME, l.ZNAME FROM ZRECORD r JOIN ZLABEL l ON l.Z_PK = r.ZLABEL") == [
                ["Second tour", "Blue"]
            ])
    }

    @Test func aReferenceToAnotherClassIsNotDropped() throws {
        var snapshot = try record().snapshot(\.label)
        let hall = try #require(try stack.context.all(Hall.self).first)
        snapshot.label = ObjectReference(hall)
        #expect(throws: SnapshotError.self) { try stack.freshContext().apply(snapshot, danglingReferences: .drop) }
    }

    // MARK: Without an identity

    @Test func textsOfOthersBecomeNewObjects() throws {
        let text = #"[{"name": "First"}, {"name": "Second", "objectID": null}]"#
        let snapshots = try JSONDecoder().decode([Label.Snapshot].self, from: Data(text.utf8))
        #expect(snapshots[0].objectID != snapshots[1].objectID)
        #expect(snapshots.map(\.objectID.isTemporary) == [true, true])
        try stack.context.apply(snapshots)
        try stack.context.save()
        #expect(stack.file.column("SELECT ZNAME FROM ZLABEL ORDER BY 1") == ["First", "Second"])
    }

    @Test func textsOfOthersBecomeObjectsOfASubclass() throws {
        let text = #"{"title": "C", "place": "Paris"}"#
        try stack.context.apply(JSONDecoder().decode(LiveTrack.Snapshot.self, from: Data(text.utf8)))
        try stack.context.save()
        #expect(stack.file.rows("SELECT ZTITLE, ZPLACE FROM ZTRACK") == [["C", "Paris"]])
    }

    @Test func anIdentityThatIsNoneIsAnError() throws {
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(Label.Snapshot.self, from: Data(#"{"objectID": "seven", "name": "x"}"#.utf8))
        }
    }
}
