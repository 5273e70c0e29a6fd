import Foundation
import SafeCoreData

/// A program of the old kind: no run loop, no async code, and a main thread that waits.
enum BlockingProgram {
    static func run() -> Bool {
        let stack = DataStack(model: StressModel.make())
        let done = DispatchSemaphore(value: 0)
        let sums = DispatchQueue(label: "sums")
        nonisolated(unsafe) var sum: Int64 = -1  // Set on `sums`, read after the semaphore.
        for number in Int64(1)...10 {
            stack.write { context in
                let account = Account(context: context)
                account.name = "account \(number)"
                account.balance = number
            } completion: { _ in
            }
        }
        stack.write { context in
            try context.fetch(NSFetchRequest<Account>(entityName: "Account")).reduce(0) { $0 + $1.balance }
        } completion: { result in
            sums.sync { sum = (try? result.get()) ?? -1 }
            done.signal()
        }
        done.wait()
        print(sum)
        return sum == 55
    }
}
