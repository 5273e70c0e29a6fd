/// `coredata repair`: mends what `check` finds.
struct RepairCommand: Command {
    static let syntax = CommandSyntax(
        name: "repair", summary: "Mends the faults of a store that 'check' finds, after a backup.",
        operands: [.storeFile],
        options: [
            .init(name: "dry-run", value: nil, help: "Show what would be done, and change nothing."), .yes,
            .init(name: "only", value: "KIND,…", help: "Mend only these kinds of faults."),
            .format("text", "json"), .model,
        ],
        notes: """
            A backup of the store and its external files is made in a folder beside it. All changes are one
            transaction; they are not part of the store's history. Keys that lead nowhere are cleared where
            the model allows it; a key that only one side of a one-to-one relationship has is completed if the
            other object is free, and cleared otherwise; positions are numbered again in their order; values
            of another type are converted where nothing gets lost. What would need a guess is left and named.
            The status is 0 if no fault is left, and 3 otherwise.

              coredata repair Store.sqlite --dry-run
              coredata repair Store.sqlite --only z-max,dangling-key --yes
            """)

    private let path: String
    private let modelPath: String?
    private let isDry: Bool
    private let asksNothing: Bool
    private let kinds: Set<FindingKind>?
    private let isJSON: Bool

    init(_ arguments: CommandSyntax.Arguments) throws(UsageError) {
        path = arguments.operands[0]
        modelPath = arguments.values["model"]
        isDry = arguments.flags.contains("dry-run")
        asksNothing = arguments.flags.contains("yes")
        isJSON = arguments.isJSON
        guard let names = try arguments.names("only", of: "kind") else {
            kinds = nil
            return
        }
        var kinds: Set<FindingKind> = []
        for name in names {
            guard let kind = FindingKind(rawValue: name) else {
                let advice = NearNames.advice(for: name, among: FindingKind.allCases.map(\.rawValue), kind: "kind")
                throw UsageError(message: "--only: there is no kind '\(name)'. \(advice)")
            }
            kinds.insert(kind)
        }
        self.kinds = kinds
    }

    func run(_ console: Console) throws -> ExitStatus {
        let check = try StoreCheck(path: path, modelPath: modelPath, on: console)
        let repair = StoreRepair(of: check, only: kinds)
        if !isJSON { try console.write(lines: check.findings.isEmpty ? check.lines : repair.lines) }
        guard !isDry, try isWanted(repair, console) else {
            if isJSON { try console.write(json: repair.json(nil)) }
            return check.findings.isEmpty ? .success : .findings
        }
        let outcome = try repair.run { try StoreCheck(path: path, modelPath: modelPath, on: console) }
        if isJSON {
            try console.write(json: repair.json(outcome))
        } else {
            try console.write(lines: [""] + outcome.lines)
        }
        return outcome.check.findings.isEmpty ? .success : .findings
    }

    private func isWanted(_ repair: StoreRepair, _ console: Console) throws -> Bool {
        if repair.planned.isEmpty { return false }
        if asksNothing { return true }
        return try console.confirm("Mend \(StoreCheck.faults(repair.planned.count)) in '\(path)', after a backup?")
    }
}
