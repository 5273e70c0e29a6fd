import CoreData

/// A check of all that a store has: its file, tables, rows, values and files beside it.
struct StoreCheck {
    /// The findings in the order of their kinds.
    let findings: [StoreFinding]
    let path: String
    let origin: StoreModel.Origin

    /// - Parameter advance: called after each step, with the number of all steps.
    /// - Throws: `ToolError`.
    init(path: String, modelPath: String?, advance: (_ total: Int) throws -> Void = { _ in }) throws {
        let store = try CheckedStore(path: path, modelPath: modelPath)
        defer { store.file.close() }
        self.path = store.file.originalURL.path
        origin = store.model.origin
        let steps = Self.steps(store)
        var found: [StoreFinding] = []
        do {
            for step in steps {
                found += try Self.readable(step)
                try advance(steps.count)
            }
        } catch let failure as SQLiteReader.Failure {
            throw StoreCatalog.error(failure, store.file)
        }
        // SQLite writes to no file with a damaged schema.
        if store.reader.schemaProblem != nil { for index in found.indices { found[index].mend = nil } }
        let order = Dictionary(
            FindingKind.allCases.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        findings = found.enumerated().sorted {
            (order[$0.element.kind] ?? 0, $0.offset) < (order[$1.element.kind] ?? 0, $1.offset)
        }.map(\.element)
    }

    private typealias Step = () throws -> [StoreFinding]

    /// Runs a step; damaged pages that nothing else reports give a finding.
    private static func readable(_ step: Step) throws -> [StoreFinding] {
        do {
            return try step()
        } catch let failure as SQLiteReader.Failure where !failure.isLocked {
            return [
                StoreFinding(
                    kind: .integrity, table: nil, count: 1, examples: [],
                    sentence: "A part of the store cannot be checked: \(failure.message).")
            ]
        }
    }

    private static func steps(_ store: CheckedStore) -> [Step] {
        let rules = RowRules(store)
        var steps: [Step] = [
            { try IntegrityRules(store: store).findings() }, { MetadataRules(store: store).findings() },
        ]
        for table in store.tables {
            steps += [
                { try rules.findings(TableRules(store: store).rules(of: table)) },
                { try rules.findings(ValueRules(store: store).rules(of: table)) },
                { try rules.findings(KeyRules(store: store).rules(of: table)) },
                { try rules.findings(OneSidedRules(store: store).rules(of: table)) },
                { try FileRules(store: store).missingFiles(of: table) },
                { [try TableRules(store: store).greatestKey(of: table)].compactMap { $0 } },
            ]
        }
        for join in store.survey.joins where store.contents.tables[join.name] != nil {
            steps.append { try rules.findings(JoinRules(store: store).rules(of: join)) }
        }
        for history in HistoryRules.tables where store.contents.tables[history.table] != nil {
            steps.append { try rules.findings(HistoryRules(store: store).rules(of: history.table)) }
            steps.append {
                [
                    try TableRules(store: store).greatestKey(
                        in: history.table, number: history.number, name: history.name)
                ].compactMap { $0 }
            }
        }
        steps.append { [FileRules(store: store).orphanedFiles()].compactMap { $0 } }
        steps.append { try IndexRules(store).findings() }
        return steps
    }
}
