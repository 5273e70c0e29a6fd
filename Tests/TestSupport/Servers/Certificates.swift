import Foundation

/// A certificate for the name `localhost`, and the authority that has signed it: made by the
/// program `openssl`, gone with this process.
///
/// Tests that need it say so, and are skipped where it cannot be had.
public struct Certificates: Sendable {
    /// Of the authority, for clients.
    public let authority: URL
    /// Of another one, which has signed nothing.
    public let stranger: URL
    public let certificate: URL
    public let key: URL
    private let folder: TemporaryFolder

    /// Nil where the program is missing.
    public static let shared: Certificates? = {
        do {
            return try Certificates()
        } catch {
            FileHandle.standardError.write(Data("tests with TLS are skipped: \(error)\n".utf8))
            return nil
        }
    }()

    public static var isAvailable: Bool { shared != nil }

    private struct Reason: Error, CustomStringConvertible {
        let description: String
    }

    private init() throws {
        folder = try TemporaryFolder()
        authority = folder.file("authority.crt")
        stranger = folder.file("stranger.crt")
        certificate = folder.file("server.crt")
        key = folder.file("server.key")
        let run = try ProgramRun(
            URL(fileURLWithPath: "/usr/bin/env"), ["sh", "-c", Self.script, "make", folder.url.path])
        guard run.status == 0 else { throw Reason(description: "openssl makes no certificates: \(run.output)") }
    }

    private static let script = #"""
        set -e
        cd "$1"
        new="-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"
        openssl req -x509 $new -days 2 -subj "/CN=tests" -keyout authority.key -out authority.crt
        openssl req -x509 $new -days 2 -subj "/CN=others" -keyout stranger.key -out stranger.crt
        openssl req $new -subj "/CN=localhost" -keyout server.key -out server.csr
        openssl x509 -req -in server.csr -CA authority.crt -CAkey authority.key -CAcreateserial -days 2 -out server.crt
        """#
}
