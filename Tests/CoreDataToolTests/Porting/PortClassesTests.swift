import Foundation
import Testing

@testable import CoreDataToolKit

/// Changes of `coredata port` to managed object classes.
struct PortClassesTests {
    @Test func aClassOfXcodesIsPorted() throws {
        let port = try PortRun(
            """
            import Foundation
            import CoreData

            @objc(Person)
            public class Person: NSManagedObject {

                @nonobjc public class func fetchRequest() -> NSFetchRequest<Person> {
                    return NSFetchRequest<Person>(entityName: "Person")
                }

                @NSManaged public var name: String?
                @NSManaged @objc dynamic public var age: Int16
                @NSManaged
                public private(set) var friends: NSSet?
            }

            // MARK: Generated accessors for friends
            extension Person {

                @objc(addFriendsObject:)
                @NSManaged public func addToFriends(_ value: Person)

                @objc(removeFriends:)
                @NSManaged public func removeFromFriends(_ values: NSSet)

            }
            """)
        #expect(
            try port.text() == """
                import CoreData

                public class Person: NSManagedObject {

                    @nonobjc public class func fetchRequest() -> NSFetchRequest<Person> {
                        return NSFetchRequest<Person>(entityName: "Person")
                    }

                    @Managed public var name: String?
                    @Managed public var age: Int16
                    @Managed
                    public private(set) var friends: NSSet?
                }

                // MARK: Generated accessors for friends
                extension Person {

                    @ManagedAccessor public func addToFriends(_ value: Person)

                    @ManagedAccessor public func removeFromFriends(_ values: NSSet)

                }
                """)
        #expect(port.left == [])
        #expect(
            port.run.output.hasSuffix("11 changes in 1 file of 1, 0 places left for a person.\n"), "\(port.run.output)")
    }

    @Test func theInitializerOfTheFrameworkBecomesRequired() throws {
        let port = try PortRun(
            """
            class Item: NSManagedObject {
                public override init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
                    super.init(entity: entity, insertInto: context)
                }
                convenience init(context: NSManagedObjectContext) { self.init(entity: Self.entity(), insertInto: \
            context) }
                convenience init(name: String, context: NSManagedObjectContext) { self.init(context: context) }
                override func awakeFromInsert() {}
            }
            """)
        #expect(
            try port.text() == """
                class Item: NSManagedObject {
                    public required init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
                        super.init(entity: entity, insertInto: context)
                    }
                    required convenience init(context: NSManagedObjectContext) { self.init(entity: Self.entity(), \
                insertInto: context) }
                    convenience init(name: String, context: NSManagedObjectContext) { self.init(context: context) }
                    override func awakeFromInsert() {}
                }
                """)
    }

    @Test func superclassesInOtherFilesCount() throws {
        let port = try PortRun(
            "@objc class Book: Base { @objc func read() {} }\nextension Book { @objc var x: Int { 1 } }\n",
            others: [
                "Base.swift": "class Base: Root {}\n", "Root.swift": "public class Root: CoreData.NSManagedObject {}\n",
            ])
        #expect(try port.text() == "class Book: Base { func read() {} }\nextension Book { var x: Int { 1 } }\n")
        #expect(
            port.left == [
                "2: 'x' has no name at run time: value(forKey:) finds it only through value(forUndefinedKey:)."
            ])
    }

    @Test func initializersOfStoresAreRequired() throws {
        let text = """
            import CoreData
            class ServiceStore: NSIncrementalStore {
                override init(persistentStoreCoordinator root: NSPersistentStoreCoordinator?, configurationName name: \
            String?, at url: URL, options: [AnyHashable: Any]?) {
                    super.init(persistentStoreCoordinator: root, configurationName: name, at: url, options: options)
                }
            }

            """
        let port = try PortRun(text)
        #expect(try port.text() == text.replacing("override init", with: "required init"))
        #expect(port.left == [])
    }

    @Test func initializersOfTransformersAndRequestsAreRequired() throws {
        let port = try PortRun(
            """
            class Plain: ValueTransformer {
                public override init() { super.init() }
            }
            class Later: Plain { override required init() { super.init() } }
            class Box<T>: ValueTransformer {
                let values: [T]
                init(_ values: [T]) { self.values = values; super.init() }
            }
            class Both: NSFetchRequest<Item> {
                init(name: String) { super.init() }
                required init() { super.init() }
            }
            class None: NSEntityDescription {
                convenience init(name: String) { self.init() }
                func make() { let make = { (init: Int) in }; other.init(1) }
            }
            class Other: NSObject {
                override init() {}
                init(_ a: Int) {}
            }
            """)
        let text = try port.text()
        #expect(text.contains("    public required init() { super.init() }\n}"))
        #expect(text.contains("class Later: Plain { required init() {"))
        #expect(text.contains("    override init() {}"))
        #expect(port.left == ["5: 'Box' has a designated initializer of its own: it must have 'required init()', too."])
    }

    @Test func attributesOfCoreDataClassesAreRemoved() throws {
        let port = try PortRun(
            """
            @objc extension NSFetchRequest { @objc public func first() {} }
            @objc(ColorTransformer) final class ColorTransformer: NSSecureUnarchiveFromDataTransformer { @objc var \
            name: String { "" } }
            @objcMembers class Coordinator: NSPersistentStoreCoordinator {}
            """)
        #expect(
            try port.text() == """
                extension NSFetchRequest { public func first() {} }
                final class ColorTransformer: NSSecureUnarchiveFromDataTransformer { var name: String { "" } }
                class Coordinator: NSPersistentStoreCoordinator {}
                """)
        #expect(port.left == [])
    }

    @Test func initializersThatStaticMethodsOfExtensionsCallAreNamed() throws {
        let text = """
            extension NSPersistentStoreCoordinator {
                static func make(_ m: NSManagedObjectModel) -> NSPersistentStoreCoordinator {
                    if a { return self.init(managedObjectModel: m) }
                    return NSPersistentStoreCoordinator(managedObjectModel: m)
                }
                convenience init(a: Int) { self.init(managedObjectModel: model(a)) }
            }
            struct Own { static func make() -> Own { self.init(a: 1) } }
            """
        let port = try PortRun(text)
        #expect(try port.text() == text)
        #expect(
            port.left == [
                "3: self.init(…) in a static method takes required initializers only: write "
                    + "NSPersistentStoreCoordinator(…)."
            ])
    }

    @Test func literalsOfSetsAreMadeSets() throws {
        let classes = """
            class Person: NSManagedObject {
                @NSManaged var cars: NSSet?
                @NSManaged var pets: NSOrderedSet
                @NSManaged var tags: NSSet
                @NSManaged var entities: NSSet
            }
            struct Draft { var tags: [String] = [] }
            """
        let port = try PortRun(
            """
            func f() {
                let cars = [car]
                person.cars = [car1, Car(name: #keyPath(Car.name), in: context)]
                self.person?.pets = [
                    pet,
                ]
                persons.forEach { $0.cars = [] }
                person.cars = [a] + more
                person.cars = [a]
                    .sorted()
                person.cars = [a: b]
                person.tags = [tag]
                model.entities = [entity]
                if person.cars == [] { person.cars = nil }
                cars = [car]
            }
            """, others: ["Person.swift": classes])
        #expect(
            try port.text() == """
                func f() {
                    let cars = [car]
                    person.cars = NSSet(array: [car1, Car(name: "name", in: context)])
                    self.person?.pets = NSOrderedSet(array: [
                        pet,
                    ])
                    persons.forEach { $0.cars = NSSet(array: []) }
                    person.cars = [a] + more
                    person.cars = [a]
                        .sorted()
                    person.cars = [a: b]
                    person.tags = [tag]
                    model.entities = [entity]
                    if person.cars == [] { person.cars = nil }
                    cars = [car]
                }
                """)
        let lines = port.left.compactMap { $0.split(separator: ":").first.map(String.init) }
        #expect(lines == ["8", "9", "11", "12", "13", "15"])
    }

    @Test func otherTypesKeepTheirObjectiveCNames() throws {
        let text = "class View { @objc func tap() {} }\n@objc protocol Delegate {}\n"
        let port = try PortRun(text)
        #expect(try port.text() == text)
        #expect(port.left.count == 2)
        #expect(port.left.allSatisfy { $0.contains(": @objc does not exist here") })
    }

    @Test func enumerationsLoseTheirAttribute() throws {
        #expect(
            try PortRun("@objc public enum Kind: Int16 { case a }\n").text() == "public enum Kind: Int16 { case a }\n")
    }

    @Test func whatAPersonHasToDecideIsNamed() throws {
        let port = try PortRun(
            """
            @objc(OldItem)
            class Item: NSManagedObject {
                @NSManaged var a: NSSet, b: NSSet
                @NSManaged func addFriend(_ value: Item)
                private override init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) { \
            fatalError() }
                @objc func validateName(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>) throws {}
                override func willChangeValue(forKey key: String) {}
                func empty() { a = [] }
            }
            extension Item {
                override func awakeFromFetch() {}
                convenience init(context: NSManagedObjectContext) { fatalError() }
            }
            """)
        #expect(
            port.left == [
                "1: The class was 'OldItem' in Objective-C: where the model says so, write Item there.",
                "3: @Managed stands on one property: declare each by itself.",
                "4: The relationship cannot be told from the name 'addFriend': write @ManagedAccessor(key: \"…\").",
                "5: init(entity:insertInto:) must be required, and as accessible as its class.",
                "6: validateName(_:) is not called: override validateValue(_:forKey:) and look at the key.",
                "7: willChangeValue(forKey:) cannot be overridden: use willSave, or the notifications of the context.",
                "8: 'a' is a set of Foundation, which takes no literal here: write NSSet(array: […]).",
                "11: Nothing can be overridden in an extension: move this into the class.",
                "12: init(context:) is a required initializer: declare it 'required convenience' in the class itself.",
            ])
    }

    @Test func methodsOfOldNamesNameTheirRelationship() throws {
        let port = try PortRun(
            """
            class Person: NSManagedObject {
                @NSManaged var cars: NSSet?
                @NSManaged func addCarsObject(_ value: Car)
                @NSManaged func removeCars(_ values: NSSet)
                @NSManaged func addWheels(_ values: NSSet)
            }
            """)
        #expect(
            try port.text() == """
                class Person: NSManagedObject {
                    @Managed var cars: NSSet?
                    @ManagedAccessor(key: "cars") func addCarsObject(_ value: Car)
                    @ManagedAccessor(key: "cars") func removeCars(_ values: NSSet)
                    @ManagedAccessor func addWheels(_ values: NSSet)
                }
                """)
        try #require(port.left.count == 1)
        #expect(port.left[0].hasPrefix("5: "))
    }

    @Test func setsAndKeysFollowTheProperties() throws {
        let port = try PortRun(
            """
            class Person: NSManagedObject {
                @Managed var cars: NSSet?
                @Managed var date: Date?
            }
            person.addToCars([car, other])
            person.removeFromCars([])
            person.addToCars(car)
            person.setValue(now, forKey: "Date")
            person.setValue(now, forKey: "date")
            let set = Set<Car>(person.cars!)
            """)
        #expect(
            try port.text().split(separator: "\n").dropFirst(4).joined(separator: "\n") == """
                person.addToCars(NSSet(array: [car, other]))
                person.removeFromCars(NSSet(array: []))
                person.addToCars(car)
                person.setValue(now, forKey: "date")
                person.setValue(now, forKey: "date")
                let set = Set<Car>(person.cars!)
                """)
        try #require(port.left.count == 1)
        #expect(port.left[0].hasPrefix("10: "))
    }

    @Test func classesOfTestsLoseTheirAttributes() throws {
        let port = try PortRun(
            "@objcMembers class Base: XCTestCase {}\nclass T: Base {\n    @objc dynamic var a = 1\n    @objc func "
                + "f() {}\n}"
        )
        #expect(try port.text() == "class Base: XCTestCase {}\nclass T: Base {\n    var a = 1\n    func f() {}\n}")
        #expect(port.left == [])
    }

    @Test func classesWithoutAPlainNameAreNamedOtherwise() throws {
        let port = try PortRun(
            """
            class Outer { class Inner {} }
            private class Hidden {}
            func f() { class Local {} }
            a(NSStringFromClass(Outer.Inner.self), NSStringFromClass(Hidden.self), NSStringFromClass(Local.self), \
            NSStringFromClass(Outer.self))
            """)
        #expect(
            try port.text().split(separator: "\n").last
                == "a(String(reflecting: Outer.Inner.self), String(describing: Hidden.self), String(describing: "
                + "Local.self), NSStringFromClass(Outer.self))"
        )
    }

    @Test func storesKeepOneRequired() throws {
        let text = "class S: NSAtomicStore {\n    required override init(persistentStoreCoordinator c: C?) {}\n}"
        #expect(try PortRun(text).text() == text.replacingOccurrences(of: "required override", with: "required"))
    }

    @Test func anOverrideOfAnExtensionsMemberIsLeft() throws {
        let port = try PortRun(
            "class A: NSManagedObject {}\nextension A { func f() {} }\nclass B: A {}\nclass C: B { override func "
                + "f() {} }"
        )
        try #require(port.left.count == 1)
        #expect(port.left[0].contains("extension of A"))
    }
}
