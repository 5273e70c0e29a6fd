import Foundation
import Testing

/// Texts that are values are compared by their code points, which `LiteralText`, `SameValues`,
/// `ValuesKey` and `StoredValue` do. `String`, and all that hashes or compares it, takes different
/// ways to compose a letter for the same.
struct TextEqualityTests {
    /// Other ways to compare values, and the files that may use them: because the rule itself is
    /// there, or because they compare no values of attributes.
    private static let rules: [(pattern: String, files: Set<String>)] = [
        (#"\(\.string\(let (\w+)\), \.string\(let (\w+)\)\)(:| *where).*\b\1 [!=]= \2\b"#, []),
        (#"utf8\.elementsEqual|unicodeScalars\.elementsEqual"#, []),
        // The object's own rule, for classes that have one; and Foundation's collections of
        // objects.
        (
            #"\.isEqual\((?!to:)"#,
            [
                "Predicates/Values/SameValues.swift", "Predicates/Values/ComparableValue+Comparison.swift",
                "CoreData/Collections/NSPointerFunctions.swift",
            ]
        ),
        (
            #"as\??!? AnyHashable|AnyHashable\(|\[AnyHashable: (?!Any\b)|Set<AnyHashable>\(|\[AnyHashable\??\]"#,
            [
                // The rule.
                "Predicates/Values/ValueKey.swift", "Predicates/Values/ComparableValue.swift",
                "Predicates/Values/ComparableValue+Comparison.swift", "Predicates/KeyValueCoding/KeyValue.swift",
                "Predicates/KeyValueCoding/CollectionOperator.swift", "CoreData/CustomStores/ReferenceTable.swift",
                "CoreData/Results/Observation/ReadObservation+Tracking.swift",
                // Identities of objects and sections, under keys of their own.
                "CoreData/Results/Controller/ResultsAnnouncer.swift",
                "CoreData/Results/Snapshots/NSDiffableDataSourceSnapshotReference.swift",
                "Predicates/Translation/PredicateExpressions+Identity.swift", "CoreData/CustomStores/NodeRows.swift",
                // Collections that programs give or are given.
                "Predicates/Collections/NSSet+Predicates.swift", "CoreData/Collections/NSMapTable.swift",
                // Names, options, samples and settings.
                "CoreData/Coordinator/NSPersistentStoreCoordinator+StoreFiles.swift",
                "CoreData/Objects/Values/ProbeValues.swift",
                "Predicates/Translation/PredicateExpressions+Translation.swift",
                "SafeCoreData/Snapshots/SnapshotGraph.swift",
            ]
        ),
        // Names of sections are values.
        (
            #"\[String: |Set<String>"#,
            Set(
                Self.sources.filter { !$0.hasPrefix("CoreData/Results/") }
                    + [
                        "ResultsQuery", "Sequences/ObjectChanges", "Controller/ResultsCaches",
                        "Observation/ReadObservation+Tracking",
                    ].map {
                        "CoreData/Results/\($0).swift"
                    })
        ),
    ]

    private static let folder = LayerTable.engine.folder.deletingLastPathComponent()

    /// The paths of the sources of the modules that know values.
    private static let sources: [String] = ["CoreData", "Predicates", "SafeCoreData"].flatMap { module in
        (FileManager.default.enumerator(atPath: folder.appendingPathComponent(module).path)?.compactMap {
            $0 as? String
        } ?? []).filter {
            $0.hasSuffix(".swift")
        }.map { "\(module)/\($0)" }
    }

    /// The numbers of the lines of a text in which a pattern is found, but for comments.
    private static func lines(_ pattern: String, in text: String) -> [Int] {
        text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().compactMap { number, line in
            if line.drop(while: { $0 == " " }).hasPrefix("//") { return nil }
            return line.range(of: pattern, options: .regularExpression) == nil ? nil : number + 1
        }
    }

    @Test func valuesAreComparedByOneRule() throws {
        #expect(Self.sources.count > 300)
        for path in Self.sources {
            let text = try String(contentsOf: Self.folder.appendingPathComponent(path), encoding: .utf8)
            for rule in Self.rules where !rule.files.contains(path) {
                let lines = Self.lines(rule.pattern, in: text)
                #expect(lines.isEmpty, "\(path): lines \(lines) have \(rule.pattern)")
            }
        }
    }

    @Test func anotherWayToCompareIsFound() {
        let text = """
            // $0.isEqual(value)
            case (.string(let left), .string(let right)): left == right
            let same = first.isEqual(second) || value.isEqual(to: other)
            let keys: [AnyHashable: Int] = [:]
            let options: [AnyHashable: Any] = [:]
            """
        #expect(Self.rules.map { Self.lines($0.pattern, in: text) } == [[2], [], [3], [4], []])
    }
}
