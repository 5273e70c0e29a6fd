import TestSupport
import Testing

/// The compiler's errors about `@Entity` classes, on the line of the mistake.
struct EntityCompilationTests {
    private let texts = [
        "Initializers": """
        import SafeCoreData

        @Entity final class Tool: NSManagedObject {
            private(set) var number: Int = 1
            var name: String
            var price: Decimal
            @Derived("name") var copy: String
        }

        @Entity final class Own: NSManagedObject {
            var name: String
            init(name: String, in context: NSManagedObjectContext) {
                super.init(entity: Self.entity(in: context), insertInto: context)
                self.name = name
            }
        }

        func make(in context: NSManagedObjectContext) {
            _ = Tool(context: context, name: "saw", price: 5)
            _ = Tool() // error: call Tool(context:name:price:)
            _ = Tool(context: context) // error: call Tool(context:name:price:)
            _ = Tool(context: context, name: "saw") // error: missing argument for parameter 'price' in call
            _ = Own(name: "x", in: context)
            _ = Own(context: context) // error: call one of the initializers that Own declares
            _ = Own() // error: call one of the initializers that Own declares
        }

        func write(_ tool: Tool) {
            tool.name = "drill"
            tool.name = nil // error: 'nil' cannot be assigned to type 'String'
            tool.copy = "x" // error: cannot assign to property: 'copy' is a get-only property
        }
        """,
        "Access": """
        import SafeCoreData

        func number(_ tool: Tool) {
            tool.number = 2 // error: cannot assign to property: 'number' setter is inaccessible
        }
        """,
        "Levels": """
        import SafeCoreData

        @Entity open class OpenBase: NSManagedObject {
            public var name: String
            private var code: Int = 7
            var isMarked: Bool = false
        }

        @Entity public class Middle: OpenBase {
            public var other: OpenBase?
        }

        @Entity public final class Leaf: Middle {
            public internal(set) var date: Date = .now
            @Relationship public var many: Set<Leaf>
        }

        // More visible than what its superclass takes.
        @Entity public class LowBase: NSManagedObject {
            var code: Int
        }

        @Entity public final class LowLeaf: LowBase {
            public var name: String
        }

        // Initial values of which the callers of its initializer see nothing.
        private let standardUnit = "kg"
        enum Units { static func note() -> String? { "none" } }

        @Entity public class PublicUnits: NSManagedObject {
            public var unit: String = standardUnit
            public var note: String? = Units.note()
            public var name: String
        }

        private enum Phase: Int { case first, second }

        @Entity final class Hiding: NSManagedObject {
            private enum Step: Int, Codable { case a, b }
            private var step: Step = .a
            private var steps: [Step]?
            private var phase: Phase
            var name: String
        }

        @Entity class HidingBase: NSManagedObject {
            private enum Step: Int, Codable { case a, b }
            private var step: Step
            private var phase: Phase?
            static func make(in context: NSManagedObjectContext) -> HidingBase { HidingBase(context: context, step: \
        .b) }
        }

        private func makeHiding(in context: NSManagedObjectContext) {
            _ = Hiding(context: context, phase: .first, name: "A")
        }

        enum Space {
            @Entity final class Nested: NSManagedObject {
                var `default`: String
                @Relationship(inverse: \\Space.Other.nested) var other: Space.Other?
            }

            @Entity final class Other: NSManagedObject {
                var nested: Set<Nested>
                var kind: Kind
                enum Kind: String { case plain }
            }

            @Entity fileprivate final class Empty: NSManagedObject {
                var note: String?
            }
        }

        func makeLevels(in context: NSManagedObjectContext) -> String {
            _ = Space.Empty(context: context)
            _ = Space.Other(context: context, kind: .plain)
            let leaf = Leaf(context: context, inheriting: .init(inheriting: .init(name: "x")))
            let hidden = LowLeaf(context: context, inheriting: .init(code: 1), name: "y")
            _ = PublicUnits(context: context, name: hidden.snapshot().name)
            _ = PublicUnits(context: context, unit: "g", note: nil, name: "z")
            let snapshot = leaf.snapshot()
            let _: Leaf.Snapshot = snapshot
            let _: Middle.Snapshot = (leaf as Middle).snapshot()
            let _: OpenBase.Snapshot = (leaf as OpenBase).snapshot()
            let _: Leaf.Snapshot = leaf.snapshotGraph(depth: 1).root
            let dated = leaf.snapshot(\\.date)
            let named: Leaf.Snapshot = leaf.snapshot(\\.name, \\.date)
            return snapshot.name + named.name + "\\(dated.date)"
        }
        """,
        "Types": """
        import SafeCoreData

        struct Opaque {}

        @Entity final class Mistakes: NSManagedObject {
            let constant: String // error: needs 'var'
            var inferred = 5 // error: needs its type
            var opaque: Opaque // error: Core Data cannot store this type
            var action: () -> Void // error: Core Data cannot store a '() -> Void'
            @Attribute(.unique) var computed: String { "" } // error: @Attribute needs a stored property
            var others: Set<Mistakes>? // error: a to-many relationship is never nil, but empty: remove the '?'
            @Attribute(.sorted) var name: String // error: has no member 'sorted'
            @Relationship(deleteRule: .cascade) var size: Int // error: @Relationship belongs on a property that \
        leads to managed objects
            @Attribute(.unique) var other: Mistakes? // error: @Attribute belongs on a property that holds a value
            @Attribute(.unique) var all: [Mistakes] // error: @Attribute belongs on a property that holds a value
        }
        """,
        "Limits": """
        import SafeCoreData

        enum Size: Int16 { case small, large }
        enum Color: String { case red }
        typealias Words = String
        struct Area: Codable { var width = 0 }

        @Entity final class Limited: NSManagedObject {
            @Attribute(.range(0...5)) var number: Int
            @Attribute(.range(0...)) var price: Decimal?
            @Attribute(.range(...0.5)) var ratio: Float
            @Attribute(.range(Date.distantPast...)) var date: Date?
            @Attribute(.range(0...1)) var size: Size = .small
            @Attribute(.range(0...)) var amount: NSDecimalNumber
            @Attribute(.length(1...), .pattern("a*")) var text: String
            @Attribute(.length(...3)) var color: Color?
            @Attribute(.unique, .range(0...5)) var name: String // error: '.range' limits a number or a date
            @Attribute(.range(0...5)) var words: Words? // error: '.range' limits a number or a date
            @Attribute(.range(0...5)) var area: Area // error: '.range' limits a number or a date
            @Attribute(.range(0...1)) var isOpen: Bool // error: '.range' limits a number or a date
            @Attribute(.length(1...)) var count: Int // error: '.length' and '.pattern' limit a text
            @Attribute(.pattern("a")) var made: Date? // error: '.length' and '.pattern' limit a text
            @Attribute(.length(1...)) var data: Data // error: '.length' and '.pattern' limit a text
        }
        """,
        "Abstract": """
        import SafeCoreData

        @Entity(isAbstract: true) class Shape: NSManagedObject {
            var name: String
            var sides: Int = 0
        }

        @Entity(isAbstract: true) class Blank: NSManagedObject {}

        @Entity final class Square: Shape {
            var width: Double
        }

        @Entity final class Full: Blank {
            var note: String?
        }

        func makeShapes(in context: NSManagedObjectContext) {
            _ = Square(context: context, inheriting: .init(name: "A"), width: 1)
            _ = Full(context: context, inheriting: .init())
            _ = Shape(context: context, name: "A", sides: 4) // error: Shape is abstract: make an object of one of \
        its subclasses
            _ = Shape(context: context, name: "A") // error: Shape is abstract
            _ = Shape(context: context) // error: Shape is abstract
            _ = Shape() // error: Shape is abstract
            _ = Blank(context: context) // error: Blank is abstract
        }
        """,
        "Inverses": """
        import SafeCoreData

        @Entity final class Left: NSManagedObject {
            var name: String
            @Relationship(inverse: \\Right.left) var right: Right?
            @Relationship(inverse: \\Right.text) var wrongType: Right? // error: the inverse must be a relationship
            @Relationship(inverse: \\Left.right) var wrongClass: Right? // error: the inverse must be a relationship
            @Relationship(inverse: \\Right.absent) var absent: Right? // error: has no member 'absent' // error: \
        cannot be resolved
        }

        @Entity final class Right: NSManagedObject {
            var text: String
            var left: Left?
        }
        """,
    ]

    @Test func entitiesCompileInAModuleOfTheMainActor() throws {
        let text = """
            import SafeCoreData

            @Entity nonisolated class Vehicle: NSManagedObject {
                var name: String
                var made: Date = .now
                @Relationship(inverse: \\Wheel.vehicle) var wheels: Set<Wheel>
            }

            @Entity nonisolated final class Car: Vehicle {
                var seats: Int = 4
            }

            @Entity nonisolated final class Wheel: NSManagedObject {
                var vehicle: Vehicle?
            }

            func add(to stack: DataStack) async throws -> Int {
                let snapshot = try await stack.write { context in
                    let car = Car(context: context, inheriting: .init(name: "A"))
                    _ = Wheel(context: context, vehicle: car)
                    return car.snapshot()
                }
                let cars = try await stack.read { try $0.fetch(Car.self, where: #Predicate { $0.seats > 2 }) }
                return cars.count + snapshot.seats
            }
            """
        let run = try CompilerRun(["Main": text], analysesFlow: true, options: ["-default-isolation", "MainActor"])
        #expect(run.unexpected == [], "\(run.output)")
    }

    @Test func mistakesDoNotCompile() throws {
        let run = try CompilerRun(texts)
        #expect(run.missing == [], "\(run.output)")
        #expect(run.unexpected == [], "\(run.output)")
        #expect(run.expectedCount == 34)
    }
}
