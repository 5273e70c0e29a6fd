import TestSupport
import Testing

@testable import CoreData

/// Lists of objects, short ones and those in blocks, against an array.
struct ObjectListTests {
    private let objects: ContiguousArray<NSManagedObject> = {
        let model = TestModel.company()
        guard let entity = model.entitiesByName["Tag"] else { return [] }
        return ContiguousArray((0..<6000).map { _ in NSManagedObject(entity: entity, insertInto: nil) })
    }()

    private func step(_ list: inout ObjectList, _ expected: inout [NSManagedObject], _ random: inout SeededGenerator) {
        guard let object = objects.randomElement(using: &random) else { return }
        let place = expected.firstIndex { $0 === object }
        switch Int.random(in: 0..<5, using: &random) {
        case 0 where place == nil:
            let index = Int.random(in: 0...expected.count, using: &random)
            list.insert(object, at: index)
            expected.insert(object, at: index)
        case 1:
            #expect(list.append(object) == (place == nil))
            if place == nil { expected.append(object) }
        case 2, 3:
            let victim = expected.randomElement(using: &random) ?? object
            #expect(list.removeOrdered(victim) == !expected.isEmpty)
            expected.removeAll { $0 === victim }
        default:
            #expect(list.position(of: object) == place)
            #expect(list.contains(object) == (place != nil))
            if let index = expected.indices.randomElement(using: &random) { #expect(list[index] === expected[index]) }
        }
    }

    @Test(arguments: [0, 5, 14, 100, 3000, 5000]) func aListIsWhatAnArrayWouldBe(count: Int) {
        var random = SeededGenerator(seed: UInt64(count + 1))
        var list = ObjectList()
        for object in objects[..<count] { list.appendNew(object) }
        var expected = Array(objects[..<count])
        for number in 0..<300 {
            // A copy stays what it was.
            let (copy, former) = (list, expected)
            step(&list, &expected, &random)
            if number % 10 == 0 {
                #expect(list.objects.elementsEqual(expected, by: ===))
                #expect(list.count == expected.count)
                #expect(copy.objects.elementsEqual(former, by: ===))
                #expect(list.set().set == Set(expected))
            }
        }
    }
}
