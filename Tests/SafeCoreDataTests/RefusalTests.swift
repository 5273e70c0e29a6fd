import TestSupport
import Testing

/// Programs that must not compile: the compiler is run on small files, and its messages are
/// compared with marks in them.
@Suite(.serialized) struct RefusalTests {
    @Test(arguments: ["6", "5"]) func writingThroughAViewDoesNotCompile(languageMode: String) throws {
        let run = try CompilerRun(fileNamed: "WritingThroughAView", languageMode: languageMode)
        #expect(run.missing == [], "\(run.output)")
        #expect(run.unexpected == [], "\(run.output)")
        #expect(run.expectedCount == 44)
    }

    @Test func sortingByWhatHasNoOrderDoesNotCompile() throws {
        let run = try CompilerRun(fileNamed: "SortingByWhatHasNoOrder")
        #expect(run.missing == [], "\(run.output)")
        #expect(run.unexpected == [], "\(run.output)")
        #expect(run.expectedCount == 8)
    }

    @Test func wrongChangesOfManyRowsDoNotCompile() throws {
        let run = try CompilerRun(fileNamed: "ChangingManyRows")
        #expect(run.missing == [], "\(run.output)")
        #expect(run.unexpected == [], "\(run.output)")
        #expect(run.expectedCount == 7)
    }

    @Test func viewsAreNotSendable() throws {
        let run = try CompilerRun(fileNamed: "UsingViewsAsSendable")
        #expect(run.missing == [], "\(run.output)")
        #expect(run.unexpected == [], "\(run.output)")
        #expect(run.expectedCount == 5)
    }

    @Test func sendingViewsAndObjectsToAnotherTaskDoesNotCompile() throws {
        let run = try CompilerRun(fileNamed: "SendingToAnotherTask")
        #expect(run.missing == [], "\(run.output)")
        #expect(run.unexpected == [], "\(run.output)")
        #expect(run.expectedCount == 6)
    }

    @Test func lettingObjectsOutOfAWriteDoesNotCompile() throws {
        let run = try CompilerRun(fileNamed: "LettingObjectsOutOfAWrite")
        #expect(run.missing == [], "\(run.output)")
        #expect(run.unexpected == [], "\(run.output)")
        #expect(run.expectedCount == 12)
    }

    @Test func lettingObjectsOutOfAQueryDoesNotCompile() throws {
        let run = try CompilerRun(fileNamed: "LettingObjectsOutOfAQuery")
        #expect(run.missing == [], "\(run.output)")
        #expect(run.unexpected == [], "\(run.output)")
        #expect(run.expectedCount == 7)
    }

    @Test func lettingViewsOutOfAReadDoesNotCompile() throws {
        let run = try CompilerRun(fileNamed: "LettingViewsOutOfARead")
        #expect(run.missing == [], "\(run.output)")
        #expect(run.unexpected == [], "\(run.output)")
        #expect(run.expectedCount == 3)
    }

    @Test func lettingObjectsOutOfADraftDoesNotCompile() throws {
        let run = try CompilerRun(fileNamed: "LettingObjectsOutOfADraft")
        #expect(run.missing == [], "\(run.output)")
        #expect(run.unexpected == [], "\(run.output)")
        #expect(run.expectedCount == 9)
    }

    @Test func wrongMigrationStepsDoNotCompile() throws {
        let run = try CompilerRun(fileNamed: "MigratingByAPlan")
        #expect(run.missing == [], "\(run.output)")
        #expect(run.unexpected == [], "\(run.output)")
        #expect(run.expectedCount == 7)
    }
}
