import Foundation
import TestSupport
import Testing

@testable import CoreDataToolKit

/// What comes from the one list of subcommands: help, completion, the manual.
struct CommandTableTests {
    static let names = CommandLineTool.commands.map(\.syntax.name)

    @Test func namesAreThereOnce() {
        #expect(Set(Self.names).count == Self.names.count)
        #expect(Self.names.allSatisfy { (1...2).contains($0.split(separator: " ").count) })
    }

    @Test(arguments: names)
    func everyCommandHasHelpWithAnExample(_ name: String) {
        let run = ToolRun(name.split(separator: " ").map(String.init) + ["--help"])
        #expect(run.status == 0)
        #expect(run.output.hasPrefix("Usage: coredata \(name)"))
        #expect(
            run.output.contains("\n  coredata \(name) ") || run.output.contains("coredata \(name) "), "\(run.output)")
        #expect(run.lines.dropFirst().allSatisfy { $0.count <= 120 }, "\(run.output)")
    }

    @Test func aGroupNamesItsCommands() {
        let run = ToolRun(["model"])
        #expect(run.status == 64)
        #expect(run.errors.contains("export"))
        #expect(ToolRun(["model", "--help"]).output.contains("  model export"))
        #expect(ToolRun(["model", "exprot"]).errors.contains("Did you mean 'export'?"))
    }

    @Test func jsonIsShortForItsFormat() throws {
        let workplace = try Workplace()
        let store = try workplace.shop()
        #expect(ToolRun(["info", store, "--json"]).output == ToolRun(["info", store, "--format", "json"]).output)
        #expect(ToolRun(["info", store, "--json=yes"]).status == 64)
        #expect(ToolRun(["completion", "bash", "--json"]).status == 64)
    }

    @Test func optionsWithChoicesTakeNoOthers() throws {
        let workplace = try Workplace()
        let run = ToolRun(["query", try workplace.shop(), "Product", "--format", "xml"])
        #expect(run.status == 64)
        #expect(run.errors.contains("There is no format 'xml'. There is table"))
        #expect(ToolRun(["completion", "tcsh"]).errors.contains("There is no shell 'tcsh'. There is bash, zsh, fish."))
    }

    /// Completes a command line in bash itself.
    @Test(arguments: [
        (["coredata", ""], ["info", "query", "model"]), (["coredata", "qu"], ["query"]),
        (["coredata", "model", "ex"], ["export"]), (["coredata", "query", "--li"], ["--limit"]),
        (["coredata", "query", "--format", ""], ["table", "json"]),
        (["coredata", "model", "export", "--o"], ["--output"]),
        (["coredata", "completion", "z"], ["zsh"]),
    ])
    func bashCompletes(_ words: [String], _ expected: [String]) throws {
        let workplace = try Workplace()
        let script = try workplace.file("completion.bash", Data(ToolRun(["completion", "bash"]).output.utf8))
        let quoted = words.map { "'\($0)'" }.joined(separator: " ")
        let program = """
            compopt() { :; }
            . '\(script)'
            COMP_WORDS=(\(quoted)) COMP_CWORD=\(words.count - 1)
            _coredata
            printf '%s\\n' "${COMPREPLY[@]}"
            """
        let run = try ProgramRun(URL(fileURLWithPath: "/bin/bash"), ["-u", "-c", program])
        let found = run.output.split(separator: "\n").map(String.init)
        #expect(Set(expected).isSubset(of: found), "\(found)")
        if let last = words.last, !last.isEmpty { #expect(found.allSatisfy { $0.hasPrefix(last) }) }
    }

    @Test func theManualNamesEveryCommandAndOption() {
        let page = ToolRun(["manual"]).output
        #expect(page.hasPrefix(".TH COREDATA 1"))
        for command in CommandLineTool.commands {
            #expect(page.contains(".SS \"coredata \(command.syntax.name)\""))
            for option in command.syntax.options {
                #expect(page.contains("\\-\\-" + option.name.replacingOccurrences(of: "-", with: "\\-")))
            }
        }
    }

    @Test func zshAndFishGetEveryCommand() {
        for shell in ["zsh", "fish"] {
            let script = ToolRun(["completion", shell]).output
            for name in Self.names {
                #expect(script.contains(name.split(separator: " ").last ?? ""), "\(shell) \(name)")
            }
        }
    }
}
