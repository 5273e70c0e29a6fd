import CoreData
import CoreDataPostgreSQL

/// The kinds of stores that behave alike, whatever they keep their rows in.
public enum StoreKind: String, CaseIterable, Sendable {
    case sqlite
    case inMemory
    case postgreSQL
    case xml
    case binary

    /// The kinds that this run uses and that this machine has; never none. `StoreKindTests` reports
    /// the omitted ones.
    public static let allCases: [StoreKind] = {
        let present = wanted.filter { $0.absence == nil }
        if present.isEmpty {
            stop("No kind of store is left: " + wanted.compactMap(\.absence).joined(separator: "; ") + ".")
        }
        return present
    }()

    /// Whether all of them can fold texts: a server without ICU refuses models that derive such
    /// texts.
    public static let foldTexts = !allCases.contains(.postgreSQL) || PostgreSQLServer.hasICU

    /// The databases: their rows outlast their coordinators, and a second path leads to them.
    public static let persistent = allCases.filter(\.isDatabase)

    /// The kinds that answer all requests: of history and of batches, too.
    public static let complete = allCases.filter { $0 != .xml && $0 != .binary }

    public var isDatabase: Bool { self == .sqlite || self == .postgreSQL }

    /// The kind of stores that stacks and libraries make which are not told another: that of the
    /// run of a test that runs on every kind.
    @TaskLocal public static var current = StoreKind.sqlite

    public var type: String {
        switch self {
        case .sqlite: NSSQLiteStoreType
        case .inMemory: NSInMemoryStoreType
        case .postgreSQL: NSPostgreSQLStoreType
        case .xml: NSXMLStoreType
        case .binary: NSBinaryStoreType
        }
    }

    /// Where a store is that would lie in a file if it were one of SQLite: a schema of its own for
    /// each file, or nowhere. Where the run is behind a pooler, the URL says how to listen past it.
    public func url(_ file: URL) -> URL? {
        switch self {
        case .sqlite, .xml, .binary: file
        case .inMemory: nil
        case .postgreSQL where Pooler.isWanted: Pooler.shared?.url(schema: Self.schema(file), direct: true)
        case .postgreSQL: PostgreSQLServer.shared?.url(ownSchema: Self.schema(file))
        }
    }

    /// A name of at most 63 bytes that no other file has.
    private static func schema(_ file: URL) -> String {
        let path = file.path
        let hash = path.utf8.reduce(UInt64(0xcbf2_9ce4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        return "t_" + String(hash, radix: 36)
    }

    // MARK: The kinds of a run

    /// Names the kinds that a run is limited to, with commas between them.
    private static let variable = "OPENCOREDATA_STORE_KINDS"

    /// The kinds that this run was asked for: unless it names others, those that answer all
    /// requests.
    private static let wanted: [StoreKind] = {
        let usual: [StoreKind] = [.sqlite, .inMemory, .postgreSQL]
        let every = usual + [.xml, .binary]
        guard let text = ProcessInfo.processInfo.environment[variable], !text.isEmpty else { return usual }
        let named = text.split(separator: ",").map { name -> StoreKind in
            let name = name.trimmingCharacters(in: .whitespaces)
            guard let kind = StoreKind(rawValue: name) else {
                stop(
                    "\(variable) names '\(name)', which is no kind of store. Known are "
                        + "\(every.map(\.rawValue).joined(separator: ", "))."
                )
            }
            return kind
        }
        return every.filter(named.contains)
    }()

    /// Why no test runs on this kind; nil where tests do.
    public var absence: String? {
        guard Self.wanted.contains(self) else { return "\(Self.variable) names other kinds" }
        guard self == .postgreSQL else { return nil }
        return PostgreSQLServer.absence ?? (Pooler.isWanted ? Pooler.absence : nil)
    }

    /// Ends the run: tests that run on no kind would all pass.
    private static func stop(_ message: String) -> Never {
        FileHandle.standardError.write(Data((message + "\n").utf8))
        exit(EXIT_FAILURE)
    }
}
