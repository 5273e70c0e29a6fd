import Foundation

/// A file system of limited size that one program alone sees, and that goes with it.
public enum SmallFileSystem {
    private static let shell = URL(fileURLWithPath: "/bin/sh")
    /// Mounts memory over a folder in a namespace of its own, where the user may do so, and becomes
    /// the program.
    private static let script = #"mount -t tmpfs -o size="$0"k none "$1" && shift && exec "$@""#

    /// The command that runs a program for which a folder is an empty file system of that size.
    public static func command(kibibytes: Int, over folder: URL, _ program: URL, _ arguments: [String]) -> [String] {
        let unshare = geteuid() == 0 ? ["unshare", "-m"] : ["unshare", "-rm"]
        return unshare + [shell.path, "-c", script, String(kibibytes), folder.path, program.path] + arguments
    }

    /// Why there is none; nil where there is.
    public static let reasonForNone: String? = {
        guard let folder = try? TemporaryFolder() else { return "no temporary folder" }
        guard let run = try? run(kibibytes: 64, over: folder.url, URL(fileURLWithPath: "/bin/echo"), ["ready"]) else {
            return "there is no program to make a namespace with"
        }
        return run.output == "ready\n" ? nil : "file systems may not be mounted here: \(run.output)"
    }()

    /// Runs such a program.
    public static func run(kibibytes: Int, over folder: URL, _ program: URL, _ arguments: [String]) throws -> ProgramRun
    {
        try ProgramRun(
            URL(fileURLWithPath: "/usr/bin/env"), command(kibibytes: kibibytes, over: folder, program, arguments))
    }
}
