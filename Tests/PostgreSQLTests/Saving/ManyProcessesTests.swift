import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CoreData

/// Programs that change the same rows at once.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server"), .timeLimit(.minutes(5)))
struct ManyProcessesTests {
    @Test func eightProcessesCountExactly() throws {
        let warehouse = try Warehouse()
        try warehouse.context.performAndWait {
            for number in 0..<4 { _ = warehouse.context.insert("Item", ["name": "\(number)"]) }
            try warehouse.context.save()
        }
        let (processes, times) = (8, LongTests.areEnabled ? 200 : 15)
        let outputs = Mutex<[String]>([])
        let url = warehouse.url.absoluteString
        let threads = (0..<processes).map { number in
            OtherThread {
                let run = try ProgramRun(OtherProgram.url, ["count", url, String(number), String(times)])
                outputs.withLock { $0.append(run.output) }
            }
        }
        for thread in threads { try thread.value() }
        let said = outputs.withLock { $0 }
        #expect(said.count == processes, "\(said)")
        #expect(said.allSatisfy { $0.hasPrefix("saved \(times), conflicts ") }, "\(said)")
        // They did meet, and nothing that one has written is lost.
        #expect(said.contains { !$0.hasSuffix(" 0\n") }, "\(said)")
        #expect(try warehouse.texts("SELECT sum(stock_count) FROM item") == ["\(processes * times * 3)"])
        #expect(try warehouse.texts("SELECT sum(version) FROM item") == ["\(4 + processes * times * 2)"])
    }
}
