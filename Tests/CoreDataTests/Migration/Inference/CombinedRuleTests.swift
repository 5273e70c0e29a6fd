import CoreData
import TestSupport
import Testing

/// The rules of inference in company: what one rule allows or forbids, it does beside all others.
struct CombinedRuleTests {
    private static let kinds = LongTests.areEnabled ? StoreKind.persistent : [.sqlite]

    /// All rules, each in both directions.
    private static let all: [InferenceRule] =
        (AttributeRules.all + RelationshipRules.all + DestinationRules.all + EntityRules.all + ComputedRules.all)
        .flatMap { [$0, $0.reversed].compactMap(\.self) }
    private static let allowed = all.filter(\.migrates)

    @Test(arguments: kinds) func allAllowedChangesAreMadeAtOnce(kind: StoreKind) throws {
        try InferenceRule.together("all allowed changes", LongTests.some(40, of: Self.allowed)).check(kind)
    }

    @Test(arguments: kinds) func allReasonsOfARefusalAreNamedAtOnce(kind: StoreKind) throws {
        let rules = Self.all.filter { !$0.isInferred }
        try InferenceRule.together("all changes that are not inferred", rules).check(kind)
        if LongTests.areEnabled { try InferenceRule.together("all changes", Self.all).check(kind) }
    }

    @Test(.long, arguments: all.filter { !$0.migrates }, StoreKind.persistent)
    func oneRefusedChangeRefusesAllOthers(rule: InferenceRule, kind: StoreKind) throws {
        let others = stride(from: 0, to: Self.allowed.count, by: 5).map { Self.allowed[$0] }
        try InferenceRule.together("allowed changes, and: \(rule.name)", others + [rule]).check(kind)
    }

    /// Each rule with itself and those after it.
    @Test(.long, arguments: AttributeRules.all.indices, StoreKind.persistent)
    func twoAttributesOfAnEntityChangeAtOnce(place: Int, kind: StoreKind) throws {
        var pairs = 0
        for other in AttributeRules.all[place...] {
            guard let pair = AttributeRules.all[place].merged(with: other) else { continue }
            pairs += 1
            try pair.check(kind)
        }
        #expect(pairs > 0)
    }
}
