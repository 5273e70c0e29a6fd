import MacroTestSupport
import SwiftSyntax
import SwiftSyntaxMacros
import Testing

@testable import MacroImplementations

/// Expands the macros of the module in a text, as the compiler does for a class whose superclass is
/// `NSManagedObject`.
func expansion(_ source: String, inheritsEntity: Bool = false) -> MacroExpansion {
    MacroExpansion(
        source,
        macros: [
            "Entity": EntityMacro.self, "_EntityProperty": EntityPropertyMacro.self, "Attribute": AttributeMacro.self,
            "Relationship": RelationshipMacro.self, "Transient": TransientMacro.self, "Derived": DerivedMacro.self,
        ],
        conformances: inheritsEntity ? [:] : ["Entity": ["EntityObject"]])
}

struct EntityExpansionTests {
    private let item = expansion(
        """
        @Entity
        public final class Item: NSManagedObject {
            public private(set) var itemId: String = UUID().uuidString
            public var name: String
            public var count: Int = 0
            public var note: String?
            public var items: Set<Other>
            @Relationship(deleteRule: .cascade, inverse: \\Supplier.items) public var supplier: Supplier?
            @Derived("items.@count") public var itemCount: Int
        }
        """)

    @Test func nothingIsWrong() { #expect(item.problems == []) }

    @Test func aPropertyGetsAccessorsByItsType() {
        #expect(item.expanded.contains(#"_EntityProperties.of(String.self).get(self, "name")"#))
        #expect(item.expanded.contains(#"_EntityProperties.of(String.self).set(newValue, self, "name")"#))
        #expect(item.expanded.contains("public private(set) var itemId: String"))
    }

    @Test func aDerivedPropertyIsReadOnly() {
        #expect(item.expanded.contains(#".get(self, "itemCount")"#))
        #expect(!item.expanded.contains(#"newValue, self, "itemCount""#))
    }

    @Test func theInitializerFollowsTheDeclarations() {
        #expect(
            item.expanded.contains(
                """
                public init(context: NSManagedObjectContext, itemId: String = Item._initialValue(itemId: ()), name: \
                String, count: Int = 0, \
                note: String? = nil, items: Set<Other> = [], supplier: Supplier? = nil) {
                """))
    }

    @Test func anInitialValueOfAPublicArgumentMayNameWhatIsNotPublic() {
        #expect(item.expanded.contains("public static func _initialValue(itemId _: Void) -> String {"))
        #expect(!item.expanded.contains("_initialValue(count"))
        let own = expansion("@Entity final class Item: NSManagedObject { var unit: String = standardUnit }")
        #expect(own.expanded.contains("unit: String = standardUnit)"))
        let withoutInitializer = expansion(
            "@Entity public final class Item: NSManagedObject { public var unit: String = standardUnit; init(in "
                + "context: Int) {} }"
        )
        #expect(!withoutInitializer.expanded.contains("_initialValue("))
    }

    @Test func whatTakesPrivateTypesIsAsHidden() {
        let item = expansion(
            """
            @Entity class Item: NSManagedObject {
                private enum Step: Int { case a }
                private var steps: Set<Step>?
                private var phase: Phase
                private var code: Int
            }
            """)
        #expect(item.problems == [])
        #expect(item.expanded.contains("fileprivate init(context: NSManagedObjectContext, phase: Phase, code: Int)"))
        #expect(item.expanded.contains("fileprivate init(phase: Phase, code: Int)"))
        #expect(item.expanded.contains("@SnapshotProperty(_EntityProperties.of(Set<Step>?.self)) private var steps"))
        #expect(item.expanded.contains("@SnapshotProperty(_EntityProperties.of(Phase.self)) fileprivate var phase"))
        let plain = expansion("@Entity final class Item: NSManagedObject { private var code: Int }")
        #expect(plain.expanded.contains("    init(context: NSManagedObjectContext, code: Int)"))
    }

    @Test func theInheritedInitializersSayWhatToCall() {
        #expect(item.expanded.contains(#"@available(*, unavailable, message: "call Item(context:name:)")"#))
        #expect(item.expanded.contains("convenience init() {"))
        #expect(item.expanded.contains("required convenience init(context: NSManagedObjectContext) {"))
    }

    @Test func theClassDescribesItsEntity() {
        #expect(item.expanded.contains(#"_EntityDeclaration(Item.self, named: "Item")"#))
        #expect(
            item.expanded.contains(#"entity.add("count", \Item.count, _EntityProperties.of(Int.self), default: 0)"#))
        #expect(
            item.expanded.contains(#"entity.add("itemId", \Item.itemId, _EntityProperties.of(String.self), initial: {"#)
        )
        #expect(item.expanded.contains("deleteRule: .cascade"))
        #expect(item.expanded.contains("extension Item: nonisolated EntityObject {"))
        #expect(item.expanded.contains("public typealias _Subclasses = Never"))
    }

    @Test func argumentsLeftOutYieldToWhatAwakeningSets() {
        let stamped = expansion(
            """
            @Entity class Stamped: NSManagedObject {
                var name: String
                var made: Date = .now
                var note: String? = nil
                override func awakeFromInsert() {}
            }
            """)
        #expect(stamped.problems == [])
        #expect(stamped.expanded.contains("name: String, made: Date? = nil, note: String? = nil) {"))
        #expect(stamped.expanded.contains("if let made {"))
        #expect(stamped.expanded.contains("if let note {"))
        #expect(stamped.expanded.contains("override func _setHiddenInitialValues() {"))
        #expect(stamped.expanded.contains("var made: Date?\n"))
    }

    @Test func aTypeMayBeNamedWithItsModule() {
        let item = expansion(
            "@Entity final class Item: NSManagedObject { var size: Swift.Optional<Int>; var others: Swift.Set<Item> }")
        #expect(item.problems == [])
        #expect(item.expanded.contains("size: Swift.Optional<Int> = nil, others: Swift.Set<Item> = []) {"))
    }

    @Test func aClassThatMayHaveSubclassesHasInitialValuesForThem() {
        let base = expansion("@Entity class Base: NSManagedObject { var name: String; var age: Int = 0 }")
        #expect(base.expanded.contains("struct InitialValues {"))
        #expect(base.expanded.contains("init(name: String, age: Int = 0) {"))
        #expect(!item.expanded.contains("InitialValues {"))
        #expect(!base.expanded.contains("_Subclasses"))
        let sub = expansion("@Entity final class Sub: Base { var size: Int }", inheritsEntity: true)
        #expect(
            sub.expanded.contains(
                "init(context: NSManagedObjectContext, inheriting inherited: Base.InitialValues, size: Int) {"))
        #expect(sub.expanded.contains("override class func describeEntity()"))
        #expect(!sub.expanded.contains("extension Sub"))
    }

    @Test func aClassWithAnInitializerOfItsOwnGetsNoOther() {
        let own = expansion(
            """
            @Entity final class Own: NSManagedObject {
                var name: String
                init(name: String, in context: NSManagedObjectContext) {
                    super.init(entity: Self.entity(in: context), insertInto: context)
                    self.name = name
                }
            }
            """)
        #expect(own.problems == [])
        #expect(!own.expanded.contains("init(context: NSManagedObjectContext, name"))
        #expect(own.expanded.contains("call one of the initializers that Own declares"))
        #expect(own.expanded.contains("required init(entity: NSEntityDescription"))
    }

    @Test func anInverseMayBeOfANestedClass() {
        let item = expansion(
            "@Entity final class Item: NSManagedObject { @Relationship(inverse: \\Shop.Order.items) var order: "
                + "Shop.Order? }"
        )
        #expect(item.problems == [])
        #expect(item.expanded.contains(#"_EntityDeclaration.inverse("items", \Shop.Order.items"#))
    }

    @Test func aRelationshipMayBeItsOwnInverse() {
        let item = expansion(
            "@Entity final class Item: NSManagedObject { @Relationship(deleteRule: .deny, ownInverse: true) var "
                + "fits: Set<Item> }"
        )
        #expect(item.problems == [])
        #expect(item.expanded.contains(#"inverse: _EntityDeclaration.inverse("fits", \Item.fits, of: "#))
        #expect(item.expanded.contains("in: Item.self), deleteRule: .deny)"))
    }

    @Test func aLessVisiblePropertyThatNeedsNoValueIsNoArgument() {
        let item = expansion(
            "@Entity public final class Item: NSManagedObject { private var a: Int = 0; var c: Int?; public var b: "
                + "Int }"
        )
        #expect(item.expanded.contains("public init(context: NSManagedObjectContext, b: Int)"))
    }

    @Test func theInitializerIsNoMoreVisibleThanItsArguments() {
        let item = expansion("@Entity public final class Item: NSManagedObject { var a: Other; public var b: Int }")
        #expect(item.expanded.contains("    init(context: NSManagedObjectContext, a: Other, b: Int)"))
        #expect(item.expanded.contains("public required init(entity:"))
    }
}
