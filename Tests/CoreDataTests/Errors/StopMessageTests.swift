import CoreData
import TestSupport
import Testing

/// Messages of programs that stop for a programming mistake: printed in release builds too, where
/// the standard library omits them.
struct StopMessageTests {
    private func message(of result: ExitTest.Result?) -> String {
        String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    }

    @Test func aWrongPredicateFormatIsShown() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = NSPredicate(format: "name ==")
        }
        #expect(message(of: result).contains("This is not a predicate format"), "\(message(of: result))")
        #expect(message(of: result).contains("name =="), "\(message(of: result))")
    }

    @Test func aModelThatIsChangedInUseIsNamed() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let entity = NSEntityDescription("Ship", [NSAttributeDescription("name", .stringAttributeType)])
            _ = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel([entity]))
            entity.name = "Boat"
        }
        #expect(message(of: result).contains("Ship"), "\(message(of: result))")
        #expect(message(of: result).contains("NSEntityDescription.swift"), "\(message(of: result))")
    }

    @Test func anUnknownKeyIsNamed() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = try TestStack([
                NSEntityDescription("Ship", [NSAttributeDescription("name", .stringAttributeType)])
            ])
            let ship = NSManagedObject(entity: stack.entity("Ship"), insertInto: stack.context)
            ship.setValue(1, forKey: "tonnage")
        }
        #expect(message(of: result).contains("tonnage"), "\(message(of: result))")
    }

    @Test func aValueOfTheWrongTypeIsNamed() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try Library(.inMemory).context.author("A").setValue(Date(), forKey: "name")
        }
        #expect(
            message(of: result).contains("Unacceptable type of value for Author.name: expected"),
            "\(message(of: result))")
    }

    @Test func anObjectOfAnotherContextIsNamed() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let library = try Library(.inMemory)
            let author = library.context.author("A")
            library.newContext().delete(author)
        }
        #expect(
            message(of: result).contains("does not belong to this context and cannot be deleted by it"),
            "\(message(of: result))")
    }

    @Test func anUnknownFunctionOfAnExpressionIsNamed() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = NSExpression(forFunction: "nonsense:", arguments: [])
        }
        #expect(message(of: result).contains("There is no built-in function \"nonsense:\""), "\(message(of: result))")
    }

    /// Builds a program with optimization, whatever the tests were built with.
    @Test func anOptimizedProgramPrintsTheMessage() throws {
        let folder = try TemporaryFolder()
        let main = folder.file("main.swift")
        let program = folder.file("program")
        let text = """
            precondition(CommandLine.argc > 0, "holds")
            precondition(CommandLine.argc > 1, "called with \\(CommandLine.argc)")
            """
        try Data(text.utf8).write(to: main)
        let package = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../..").standardized
        let source = package.appendingPathComponent("Sources/Predicates/Preconditions.swift")
        let build = try ProgramRun.swiftc(["-O", "-package-name", "p", source.path, main.path, "-o", program.path])
        #expect(build.status == 0, "\(build.output)")
        let run = try ProgramRun(program, [])
        #expect(run.status != 0)
        #expect(run.output.contains("called with 1"), "\(run.output)")
        #expect(!run.output.contains("holds"), "\(run.output)")
    }
}
