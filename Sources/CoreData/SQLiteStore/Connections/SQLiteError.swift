import CSQLite
import Foundation

/// An error that SQLite returned.
///
/// Outside the store it appears as an `NSError` (`cocoaError`): in Cocoa's domain where Cocoa has a
/// code for the situation, with SQLite's own code under `NSSQLiteErrorDomain`.
struct SQLiteError: Error, CustomStringConvertible {
    /// SQLite's extended result code.
    let extendedCode: Int32
    /// SQLite's own message.
    let message: String
    /// The statement, without its bound values.
    let sql: String?
    /// The database file.
    let path: String
    /// The `errno` of a file that cannot be opened, read or written; 0 for other results.
    let systemError: Int32
    /// The message for the user where the result code alone would mislead; nil for the standard
    /// text of the code.
    let advice: String?

    /// The result code without its extension.
    var code: Int32 { extendedCode & 0xff }

    /// Whether a unique index refused a row.
    ///
    /// The code is SQLITE_CONSTRAINT_UNIQUE, a macro that Swift does not import.
    var isUniquenessViolation: Bool { extendedCode == SQLITE_CONSTRAINT | 8 << 8 }

    /// The columns whose values another row has, where a unique index refused a row; nil where the
    /// message does not name them.
    var uniqueColumns: [String]? {
        let words = "UNIQUE constraint failed: "
        guard isUniquenessViolation, let start = message.range(of: words)?.upperBound else { return nil }
        return message[start...].components(separatedBy: ", ").map { $0.components(separatedBy: ".").last ?? $0 }
    }

    /// Whether a row already has the key: SQLITE_CONSTRAINT_PRIMARYKEY or SQLITE_CONSTRAINT_ROWID.
    var isKeyTaken: Bool { extendedCode == SQLITE_CONSTRAINT | 6 << 8 || extendedCode == SQLITE_CONSTRAINT | 10 << 8 }

    /// Whether the error has no specific Cocoa code.
    var isGeneral: Bool { cocoaError.code == CocoaError.Code.persistentStoreOperation.rawValue }

    init(
        extendedCode: Int32, message: String, sql: String? = nil, path: String, systemError: Int32 = 0,
        advice: String? = nil
    ) {
        self.extendedCode = extendedCode
        self.systemError = systemError
        self.message = message
        self.sql = sql
        self.path = path
        self.advice = advice
    }

    /// The last error of a connection.
    init(handle: OpaquePointer?, sql: String? = nil, path: String) {
        let code = handle.map(sqlite3_extended_errcode) ?? SQLITE_NOMEM
        let isOfSystem = [SQLITE_CANTOPEN, SQLITE_IOERR].contains(code & 0xff)
        self.init(
            extendedCode: code, message: handle.flatMap(sqlite3_errmsg).map { String(cString: $0) } ?? "out of memory",
            sql: sql,
            path: path, systemError: isOfSystem ? handle.map(sqlite3_system_errno) ?? 0 : 0)
    }

    var description: String {
        "SQLite error \(extendedCode) (\(message)) in \(path)" + (sql.map { " at: \($0)" } ?? "")
    }

    /// The likely reason why a file could not be written or extended.
    ///
    /// For errors whose `errno` was lost while SQLite rolled back.
    private static func likelyWriteFailure(_ code: Int32, _ path: String) -> SystemFailure? {
        // SQLITE_IOERR_WRITE, _FSYNC, _TRUNCATE and _SHMSIZE: macros that Swift does not import.
        guard [3, 4, 6, 19].contains(code >> 8) else { return nil }
        var limits = rlimit()
        #if canImport(Glibc)
            let resource = Int32(RLIMIT_FSIZE.rawValue)
        #else
            let resource = RLIMIT_FSIZE
        #endif
        if getrlimit(resource, &limits) == 0, limits.rlim_cur != rlim_t.max { return SystemFailure(EFBIG) }
        var space = statvfs()
        let folder = URL(fileURLWithPath: path).resolvingSymlinksInPath().deletingLastPathComponent().path
        guard statvfs(folder, &space) == 0, space.f_bavail < (1 << 20) / max(1, UInt(space.f_frsize)) else {
            return nil
        }
        return SystemFailure(ENOSPC)
    }

    /// The error as users of the framework see it.
    var cocoaError: NSError {
        let cocoa: CocoaError.Code
        let advice: String
        var failure = SystemFailure(systemError)
        if code == SQLITE_IOERR, !failure.isOutOfSpace, !failure.isOutOfDescriptors,
            let likely = Self.likelyWriteFailure(extendedCode, path)
        {
            failure = likely
        }
        switch code {
        case SQLITE_CANTOPEN where failure.isOutOfDescriptors, SQLITE_IOERR where failure.isOutOfDescriptors:
            cocoa = .persistentStoreOpen
            advice = "The store at \(path) cannot be opened. \(failure.advice ?? message)"
        case SQLITE_CANTOPEN where failure.isOutOfSpace, SQLITE_IOERR where failure.isOutOfSpace:
            cocoa = .fileWriteOutOfSpace
            advice = "The store at \(path) cannot be written. \(failure.advice ?? message)"
        case SQLITE_NOTADB, SQLITE_CORRUPT, SQLITE_FORMAT:
            cocoa = .fileReadCorruptFile
            advice =
                "The file at \(path) is not a readable SQLite database. Restore it from a copy or choose another file."
        case SQLITE_CANTOPEN:
            cocoa = .persistentStoreOpen
            let usual = "Check that its folder exists and may be read and written."
            advice = "The store at \(path) cannot be opened. \(failure.advice ?? usual)"
        case SQLITE_IOERR where failure.number == EIO:
            cocoa = .persistentStoreOperation
            advice = "The store at \(path) cannot be read or written. \(failure.advice ?? message)"
        case SQLITE_BUSY, SQLITE_LOCKED:
            cocoa = .persistentStoreTimeout
            advice =
                "The store at \(path) is locked by \(LockHolders.names(ofStoreAt: path) ?? "another connection"). "
                + "Try again, or raise NSPersistentStoreTimeoutOption."
        case SQLITE_READONLY, SQLITE_PERM, SQLITE_AUTH:
            cocoa = .fileWriteNoPermission
            advice = "The store at \(path) may not be written. Check the permissions of the file and its folder."
        case SQLITE_FULL:
            cocoa = .fileWriteOutOfSpace
            advice = "There is no space left for the store at \(path). Free some and try again."
        case SQLITE_TOOBIG:
            cocoa = .persistentStoreOperation
            advice =
                "A value or row for the store at \(path) is larger than SQLite takes, which is 1,000,000,000 bytes "
                + "unless it was built "
                + "otherwise\(sql.map { ": \($0.prefix(200))" } ?? ""). Keep what is so large in a file, and its "
                + "name in the store."
        default:
            cocoa = .persistentStoreOperation
            advice = "The store at \(path) could not do what was asked: \(message)."
        }
        var userInfo: [String: Any] = [
            NSLocalizedDescriptionKey: self.advice ?? advice,
            NSLocalizedFailureReasonErrorKey: message,
            "NSFilePath": path,
            NSSQLiteErrorDomain: Int(extendedCode),
            NSUnderlyingErrorKey: NSError(
                domain: NSSQLiteErrorDomain, code: Int(extendedCode), userInfo: [NSLocalizedDescriptionKey: message]),
        ]
        if let sql { userInfo["NSSQLiteStatement"] = sql }
        return CoreDataError(domain: NSCocoaErrorDomain, code: cocoa.rawValue, userInfo: userInfo)
    }
}
