/// Finds the parts of a source that are not compiled on Linux, as far as `#if` conditions on
/// platforms and modules show it.
enum ConditionalCode {
    private static let otherSystems: Set<String> = [
        "macOS", "OSX", "iOS", "tvOS", "watchOS", "visionOS", "macCatalyst", "Windows", "Android",
    ]
    private static let otherModules: Set<String> = [
        "ObjectiveC", "Darwin", "UIKit", "AppKit", "Cocoa", "SwiftUI", "Combine", "CloudKit", "WatchKit",
        "CoreSpotlight", "SwiftData",
    ]
    private static let ownModules: Set<String> = ["CoreData", "Foundation", "Glibc", "Dispatch"]

    /// - Parameter lineOf: the line of a place in the source.
    /// - Returns: for each token, whether it is excluded.
    static func inactive(_ tokens: [SwiftToken], lineOf: (Int) -> Int) -> [Bool] {
        /// For each open `#if`: whether a branch was certainly taken, and whether the current one
        /// is certainly excluded.
        var stack: [(isTaken: Bool, isOut: Bool)] = []
        var result: [Bool] = []
        var skipUntil = 0
        for (index, token) in tokens.enumerated() {
            if token.kind == .directive, index >= skipUntil {
                let line = lineOf(token.range.lowerBound)
                var end = index + 1
                while end < tokens.count, lineOf(tokens[end].range.lowerBound) == line { end += 1 }
                switch token.text {
                case "#if":
                    let value = self.value(Array(tokens[(index + 1)..<end]))
                    stack.append((value == true, value == false))
                case "#elseif":
                    if let top = stack.popLast() {
                        let value = self.value(Array(tokens[(index + 1)..<end]))
                        stack.append((top.isTaken || value == true, top.isTaken || value == false))
                    }
                case "#else":
                    if let top = stack.popLast() { stack.append((top.isTaken, top.isTaken)) }
                case "#endif": _ = stack.popLast()
                default: break
                }
                if ["#if", "#elseif", "#else", "#endif"].contains(token.text) { skipUntil = end }
            }
            result.append(stack.contains { $0.isOut })
        }
        return result
    }

    // MARK: Conditions

    /// Returns the value of a condition on Linux; nil if it is unknown.
    private static func value(_ tokens: [SwiftToken]) -> Bool? {
        var rest = tokens.map(\.text)[...]
        return disjunction(&rest)
    }

    private static func disjunction(_ rest: inout ArraySlice<String>) -> Bool? {
        joined(by: "|", &rest, decisive: true) { joined(by: "&", &$0, decisive: false, operand) }
    }

    /// - Parameter decisive: the value of an operand that decides about the whole.
    private static func joined(
        by symbol: String, _ rest: inout ArraySlice<String>, decisive: Bool,
        _ operand: (inout ArraySlice<String>) -> Bool?
    ) -> Bool? {
        var value = operand(&rest)
        while rest.starts(with: [symbol, symbol]) {
            rest = rest.dropFirst(2)
            let other = operand(&rest)
            value = value == decisive || other == decisive ? decisive : (value == nil || other == nil ? nil : !decisive)
        }
        return value
    }

    private static func operand(_ rest: inout ArraySlice<String>) -> Bool? {
        guard let first = rest.popFirst() else { return nil }
        if first == "!" { return operand(&rest).map { !$0 } }
        if first == "(" {
            let value = disjunction(&rest)
            if rest.first == ")" { rest = rest.dropFirst() }
            return value
        }
        if first == "true" { return true }
        if first == "false" { return false }
        guard rest.first == "(" else { return nil }
        rest = rest.dropFirst()
        var arguments: [String] = []
        while let next = rest.popFirst(), next != ")" { arguments.append(next) }
        guard arguments.count == 1 else { return nil }
        switch first {
        case "os": return arguments[0] == "Linux" ? true : (otherSystems.contains(arguments[0]) ? false : nil)
        case "canImport":
            return ownModules.contains(arguments[0]) ? true : (otherModules.contains(arguments[0]) ? false : nil)
        case "targetEnvironment": return false
        default: return nil
        }
    }
}
