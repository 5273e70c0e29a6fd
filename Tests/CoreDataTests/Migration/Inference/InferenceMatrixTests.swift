import CoreData
import TestSupport
import Testing

/// Every documented rule of inference, both ways: what it allows, done in a store with objects, and
/// what it forbids.
struct InferenceMatrixTests {
    private static let kinds = LongTests.areEnabled ? StoreKind.persistent : [.sqlite]

    @Test(arguments: AttributeRules.all, kinds) func attributesChange(rule: InferenceRule, kind: StoreKind) throws {
        try rule.check(kind)
    }

    @Test(arguments: LongTests.areEnabled ? TypeRules.all : TypeRules.some, kinds)
    func typesBecomeWiderOnly(rule: InferenceRule, kind: StoreKind) throws {
        try rule.check(kind)
    }

    @Test(arguments: RelationshipRules.all, kinds) func relationshipsChange(rule: InferenceRule, kind: StoreKind) throws
    {
        try rule.check(kind)
    }

    @Test(arguments: EntityRules.all, kinds) func entitiesChange(rule: InferenceRule, kind: StoreKind) throws {
        try rule.check(kind)
    }

    @Test(arguments: DestinationRules.all, kinds) func destinationsChange(rule: InferenceRule, kind: StoreKind) throws {
        try rule.check(kind)
    }

    @Test(arguments: ComputedRules.all, kinds)
    func compositesAndConstraintsChange(rule: InferenceRule, kind: StoreKind) throws {
        try rule.check(kind)
    }
}
