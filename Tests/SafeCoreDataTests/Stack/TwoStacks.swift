import SafeCoreData
import Testing

/// Tests of what becomes of a stack while another one, on the same store, writes articles.
protocol TwoStacks {
    var stack: DataStack { get }
    var other: DataStack { get }
}

extension TwoStacks {
    nonisolated(nonsending) func insert(_ names: String..., into stack: DataStack) async throws -> [NSManagedObjectID] {
        try await stack.write { context in names.map { Article(context: context, name: $0, unitPrice: 1).objectID } }
    }

    /// Changes an article in the other stack.
    nonisolated(nonsending) func change(
        _ name: String, _ body: @escaping @Sendable (WriteContext, Article) throws -> Void
    ) async throws {
        try await other.write { context in
            let article = try #require(try context.first(Article.self, where: #Predicate { $0.name == name }))
            try body(context, article)
        }
    }
}
