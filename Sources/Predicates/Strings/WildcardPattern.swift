import Foundation

/// A compiled `LIKE` pattern.
struct WildcardPattern: Sendable {
    private enum Step: Equatable, Sendable {
        case character(Character)
        case anyCharacter
        case anyCharacters
    }

    private let steps: [Step]
    private let options: StringComparison.Options

    init(_ pattern: String, options: StringComparison.Options) {
        var steps: [Step] = []
        var isEscaped = false
        for character in pattern {
            if isEscaped {
                steps += WildcardPattern.literal(character, options)
                isEscaped = false
            } else if character == "\\" {
                isEscaped = true
            } else if character == "?" {
                steps.append(.anyCharacter)
            } else if character == "*" {
                if steps.last != .anyCharacters { steps.append(.anyCharacters) }
            } else {
                steps += WildcardPattern.literal(character, options)
            }
        }
        if isEscaped { steps.append(.character("\\")) }
        self.steps = steps
        self.options = options
    }

    /// Folding may turn one character into several.
    private static func literal(_ character: Character, _ options: StringComparison.Options) -> [Step] {
        StringComparison.folded(String(character), options).map { Step.character($0) }
    }

    /// Whether the whole text fits. The time is at worst proportional to the product of the lengths.
    func matches(_ text: String) -> Bool {
        let characters = Array(StringComparison.folded(text, options))
        var place = 0
        var step = 0
        var retry: (step: Int, place: Int)?
        while place < characters.count {
            if step < steps.count, fits(steps[step], characters[place]) {
                place += 1
                step += 1
            } else if step < steps.count, steps[step] == .anyCharacters {
                step += 1
                retry = (step, place)
            } else if let last = retry {
                // The star takes one character more, and the rest of the pattern starts again behind it.
                retry = (last.step, last.place + 1)
                step = last.step
                place = last.place + 1
            } else {
                return false
            }
        }
        return steps[step...].allSatisfy { $0 == .anyCharacters }
    }

    private func fits(_ step: Step, _ character: Character) -> Bool {
        switch step {
        case .character(let expected): expected == character
        case .anyCharacter: true
        case .anyCharacters: false
        }
    }
}
