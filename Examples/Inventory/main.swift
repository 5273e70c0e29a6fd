// Inventory: a small program on SafeCoreData. Start reading at Item.swift (a class that is its own
// model, with its life-cycle hooks) and Inventory.swift (the stack, reading and writing);
// Commands.swift is the terminal's side.

import Foundation

do {
    try await Commands(Array(CommandLine.arguments.dropFirst())).run()
} catch let error as InventoryError {
    FileHandle.standardError.write(Data("inventory: \(error.localizedDescription)\n".utf8))
    if case .usage = error { exit(64) }
    exit(1)
} catch {
    // Core Data's errors say what is wrong, and as a recovery suggestion what to do.
    let error = error as NSError
    let text = [error.localizedDescription, error.localizedRecoverySuggestion].compactMap { $0 }.joined(separator: " ")
    FileHandle.standardError.write(Data("inventory: \(text)\n".utf8))
    exit(1)
}
