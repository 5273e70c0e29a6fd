import CoreData
import TestSupport
import Testing

/// Random damage to files: they open or are refused, and the program goes on.
struct DamagedFileStoreTests {
    private static let rounds = LongTests.areEnabled ? 40 : 1

    @Test(arguments: FileStoreType.allCases, Array(1...rounds)) func noDamageEndsTheProgram(
        type: FileStoreType, round: Int
    ) throws {
        let folder = try TemporaryFolder()
        let url = folder.file("store")
        let stack = try FileStoreStack(type, at: url)
        let things = (0..<4).map { index in
            stack.insert(
                index % 2 == 0 ? "Thing" : "Gadget",
                [
                    "text": "text \(index) <", "small": index, "amount": Decimal(index), "moment": Date(),
                    "list": ["a", index] as NSArray, "code": UUID(), "bytes": Data(0..<80), "flag": true,
                ])
        }
        let tag = stack.insert("Tag", ["label": "x", "pinned": Set(things)])
        _ = stack.insert(
            "Box", ["name": "b", "things": NSOrderedSet(array: things), "tags": Set([tag]), "lid": things[1]])
        try stack.context.save()
        let whole = try Data(contentsOf: url)
        var random = SeededGenerator(seed: UInt64(round))
        for _ in 0..<(LongTests.areEnabled ? 100 : 20) {
            try Damage.some(to: whole, &random).write(to: url)
            guard let damaged = try? FileStoreStack(type, at: url) else { continue }
            for entity in ["Thing", "Box", "Tag"] {
                for object in (try? damaged.all(entity)) ?? [] {
                    for name in object.entity.propertiesByName.keys { _ = object.value(forKey: name) }
                    object.setValue(nil, forKey: object.entity.attributesByName.keys.sorted()[0])
                }
            }
            _ = damaged.insert("Tag")
            try? damaged.context.save()
        }
    }
}
