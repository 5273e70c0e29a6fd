import Foundation

/// The test program that uses stores from a process of its own.
public enum OtherProgram {
    public static let url = CompilerRun.productsFolder.appendingPathComponent("OtherProgram")
    /// The `coredata` command.
    public static let command = CompilerRun.productsFolder.appendingPathComponent("coredata")
}

/// Programs that run as a user who may not do everything.
public enum OrdinaryUser {
    private static let someone = "65534"

    /// Whether programs of the tests can be run as such a user. Tests that run as one themselves
    /// need no other.
    public static let isAvailable: Bool = {
        if geteuid() != 0 { return true }
        let program = OtherProgram.url
        return (try? run(URL(fileURLWithPath: "/usr/bin/test"), ["-x", program.path]).status) == 0
    }()

    public static func run(_ program: URL, _ arguments: [String]) throws -> ProgramRun {
        if geteuid() != 0 { return try ProgramRun(program, arguments) }
        return try ProgramRun(
            URL(fileURLWithPath: "/usr/bin/env"),
            ["setpriv", "--reuid=\(someone)", "--regid=\(someone)", "--clear-groups", program.path] + arguments)
    }
}
