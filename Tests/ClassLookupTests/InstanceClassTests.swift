import ClassLookupFixtures
import Testing

@testable import CoreData

class Dog: Animal {
    override func sound() -> String { "\(name) barks" }
    func fetch() -> String { "\(name) fetches" }
    deinit { log.lines.append("Dog \(name)") }
}

final class Puppy: Dog {
    var doubled: String { name + name }
    override func sound() -> String { "\(name) yelps" }
}

final class Horse: Animal { var speed = 50 }
final class Tagged: Animal { var tag: Void = () }

class Flagged { var first = true }
class TwiceFlagged: Flagged { var second = true }
final class BelowTwiceFlagged: TwiceFlagged {}

struct InstanceClassTests {
    @Test(arguments: [Dog.self, Puppy.self] as [Animal.Type])
    func anObjectBecomesAnInstanceOfASubclass(type newClass: Animal.Type) throws {
        let log = Log()
        do {
            let animal = Animal(log: log, name: "Rex")
            #expect(reclassify(animal, as: newClass))
            #expect(type(of: animal) == newClass)
            let dog = try #require(animal as? Dog)
            #expect(dog === animal)
            #expect(dog.fetch() == "Rex fetches")
            #expect(animal.sound() == (newClass == Puppy.self ? "Rex yelps" : "Rex barks"))
            #expect((animal as? Puppy)?.doubled == (newClass == Puppy.self ? "RexRex" : nil))
            dog.name = "Max"
        }
        #expect(log.lines == ["Dog Max", "Animal Max"])
    }

    @Test func theModuleThatMakesTheObjectGoesOnWithAnUnknownClass() {
        class Base { func name() -> String { "base" } }
        class Derived: Base { override func name() -> String { "derived" } }
        let base = Base()
        #expect(reclassify(base, as: Derived.self))
        #expect(withUnknownClass(base).name() == "derived")
    }

    @Test func aSubclassWithStoredPropertiesIsRefused() {
        let animal = Animal(log: Log(), name: "Rex")
        #expect(!reclassify(animal, as: Horse.self))
        #expect(type(of: animal) == Animal.self)
    }

    @Test func aStoredPropertyWithoutSizeIsRefusedToo() {
        #expect(!reclassify(Animal(log: Log(), name: "Rex"), as: Tagged.self))
    }

    @Test func aStoredPropertyThatFitsTheAllocationIsRefused() {
        #expect(!reclassify(Flagged(), as: TwiceFlagged.self))
        #expect(!reclassify(Flagged(), as: BelowTwiceFlagged.self))
        #expect(reclassify(TwiceFlagged(), as: BelowTwiceFlagged.self))
    }

    @Test func onlySubclassesAreAccepted() {
        let dog = Dog(log: Log(), name: "Rex")
        #expect(reclassify(dog, as: Dog.self))
        #expect(!reclassify(dog, as: Animal.self))
        #expect(!reclassify(dog, as: Plain.self))
        #expect(type(of: dog) == Dog.self)
    }

    @Test func manyObjectsKeepTheirReferenceCounts() {
        let log = Log()
        var animals = (0..<1000).map { Animal(log: log, name: "\($0)") }
        for animal in animals { #expect(reclassify(animal, as: Dog.self)) }
        weak let first = animals.first
        #expect(first is Dog)
        animals.removeAll()
        #expect(first == nil)
        #expect(log.lines.count == 2000)
    }
}
