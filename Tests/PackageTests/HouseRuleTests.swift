import Foundation
import Testing

/// House rules for the tests and sources of this package.
struct HouseRuleTests {
    /// The behaviours that tests cite by number, with the names of their targets.
    private func citations() throws -> [Int: Set<String>] {
        var found: [Int: Set<String>] = [:]
        let list = "[0-9]{1,3}(?:(?:, | and | to |, and )[0-9]{1,3})*"
        // The name of a test; a sentence that says so; a comment behind a test, or behind its
        // function where that stands below.
        let forms = try [
            "@(?:Test|Suite)\\( *\"(\(list)): ", "[Bb]ehaviours? (\(list))", "(?:@Test.*|\\{ +)// (\(list)) *$",
        ].map { try NSRegularExpression(pattern: $0) }
        for file in try SourceFolder().files where !file.path.contains("Diagnostics") {
            for (place, line) in file.lines.enumerated() where line.utf8.count < 300 {
                // A long name stands on the line below.
                let isContinued = place > 0 && file.lines[place - 1].hasSuffix("@Test(")
                let line = isContinued ? "@Test(" + line : String(line)
                let range = NSRange(line.startIndex..., in: line)
                guard let match = forms.lazy.compactMap({ $0.firstMatch(in: line, range: range) }).first,
                    let numbers = Range(match.range(at: 1), in: line).map({ Self.numbers(String(line[$0])) })
                else { continue }
                for number in numbers {
                    found[number, default: []].insert(file.target.replacingOccurrences(of: "Tests", with: ""))
                }
            }
        }
        return found
    }

    /// "3, 5 to 7 and 9" as numbers.
    private static func numbers(_ text: String) -> [Int] {
        var numbers: [Int] = []
        var isRange = false
        for word in text.split(whereSeparator: { $0 == " " || $0 == "," }) {
            if word == "to" { isRange = true }
            guard let number = Int(word) else { continue }
            if isRange, let last = numbers.last { numbers += Array((last + 1)..<max(number, last + 1)) }
            numbers.append(number)
            isRange = false
        }
        return numbers
    }

    /// The numbers of the list, with what it names as targets.
    private func listed() throws -> [Int: Set<String>] {
        let list = SourceFolder.package.appendingPathComponent("Documentation/Behaviours.md")
        var listed: [Int: Set<String>] = [:]
        for line in try String(contentsOf: list, encoding: .utf8).split(separator: "\n") {
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            guard line.hasPrefix("| "), cells.count == 4, let number = Int(cells[0]) else { continue }
            #expect(listed[number] == nil, "\(number) is listed twice")
            #expect(!cells[1].isEmpty, "\(number)")
            #expect(!cells[2].isEmpty, "\(number)")
            listed[number] = Set(cells[3].components(separatedBy: ", "))
        }
        return listed
    }

    @Test func everyBehaviourThatATestCitesIsListed() throws {
        let (cited, listed) = (try citations(), try listed())
        #expect(cited.count > 200)
        #expect(Set(cited.keys).subtracting(listed.keys).sorted() == [], "missing in Documentation/Behaviours.md")
        #expect(Set(listed.keys).subtracting(cited.keys).sorted() == [], "listed, but no test cites it")
    }

    @Test func theListNamesTheTargetsWhoseTestsCiteABehaviour() throws {
        let listed = try listed()
        for (number, targets) in try citations().sorted(by: { $0.key < $1.key }) {
            #expect(listed[number] == targets, "\(number): \(targets.sorted().joined(separator: ", "))")
        }
    }

    @Test func noTwoSuitesHaveTheSameName() throws {
        let declaration = try NSRegularExpression(
            pattern: "^ *(?:@Suite.* )?(?:final class|struct|enum|actor) ([A-Z][A-Za-z0-9]*Tests)\\b")
        var places: [String: [String]] = [:]
        for file in try SourceFolder().files {
            for line in file.lines.map(String.init) {
                guard let match = declaration.firstMatch(in: line, range: NSRange(line.startIndex..., in: line)),
                    let name = Range(match.range(at: 1), in: line)
                else { continue }
                places[String(line[name]), default: []].append(file.path)
            }
        }
        #expect(places.count > 150)
        for (name, paths) in places where paths.count > 1 { Issue.record("\(name): \(paths.joined(separator: ", "))") }
    }

    /// The compiler expands the macro of every suite of a target for each batch of files.
    @Test func noSuiteIsMarkedWithoutATrait() throws {
        var lines = 0
        for file in try SourceFolder("Tests").files {
            for (place, line) in file.lines.enumerated() {
                lines += 1
                if line.drop(while: { $0 == " " }).hasPrefix("@Suite ") { Issue.record("\(file.path):\(place + 1)") }
            }
        }
        #expect(lines > 50_000)
    }

    /// Files that name code 134060: where its names are declared, and one for each module where the
    /// error is made.
    private static let filesOfTheGeneralCode = [
        "CoreData/Errors/CoreDataErrorCodes.swift", "CoreData/Errors/CocoaErrorCode+EarlierNames.swift",
        "CoreData/Errors/ErrorCodes.swift", "CoreData/Errors/RequestErrors.swift",
        "SafeCoreData/SafeCoreDataErrors.swift",
    ]

    @Test func theGeneralErrorCodeIsUsedOnlyWhereASituationHasNoCodeOfItsOwn() throws {
        let files = try SourceFolder("Sources").files
        let code = try NSRegularExpression(
            pattern: "\\.coreData(?:Error)?\\b|\\b134060\\b|\\bNSCoreDataError\\b|\\bmisuse\\(")
        var found = Set<String>()
        for file in files {
            for (place, line) in file.lines.enumerated() where !line.drop(while: { $0 == " " }).hasPrefix("//") {
                guard code.firstMatch(in: String(line), range: NSRange(line.startIndex..., in: line)) != nil else {
                    continue
                }
                found.insert(file.path)
                // Factories for situations of one layer stand in a file of that layer.
                let isFactory = line.contains("misuse(") && file.path.hasSuffix("Errors.swift")
                #expect(
                    isFactory || Self.filesOfTheGeneralCode.contains(file.path),
                    """
                    Sources/\(file.path):\(place + 1): name the situation: its code, or a factory in \
                    \(file.target)'s files of errors
                    """
                )
            }
        }
        #expect(found.isSuperset(of: Self.filesOfTheGeneralCode))
    }

    @Test func noFileOfTheEngineOrTheToolIsLongerThanFourHundredLines() throws {
        let targets: Set = [
            "CoreData", "CoreDataPostgreSQL", "CoreDataTool", "CoreDataToolKit", "CoreDataToolPostgreSQL",
            "OpenCoreDataModel", "Predicates", "SafeCoreData", "SafeCoreDataTesting",
        ]
        let files = try SourceFolder("Sources").files.filter { targets.contains($0.target) }
        #expect(files.count > 400)
        #expect(Set(files.map(\.target)) == targets)
        for file in files {
            // What follows the last line feed is no line.
            let count = file.lines.count - 1
            #expect(count <= 400, "Sources/\(file.path) has \(count) lines: split it by subject")
        }
    }

    @Test(arguments: ["Sources", "Tests", "Benchmarks", "Examples", "Plugins"])
    func linesAreNotTooLong(folder: String) throws {
        for file in try SourceFolder(folder).files {
            for (place, line) in file.lines.enumerated() where line.utf8.count > 120 {
                #expect(line.count <= 120, "\(folder)/\(file.path):\(place + 1) is longer than 120 columns")
            }
        }
    }
}
