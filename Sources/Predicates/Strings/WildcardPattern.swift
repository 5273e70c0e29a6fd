import Foundation

struct WildcardPattern: Sendable {
    private enum Step: Equatable, Sendable {
        case scalar(Unicode.Scalar)
        case anyScalar
        case anyScalars
    }

    private let steps: [Step]
    private let options: StringComparison.Options

    init(_ pattern: String, options: StringComparison.Options) {
        var steps: [Step] = []
        var isEscaped = false
        for scalar in WildcardPattern.prepared(pattern, options) {
            if isEscaped {
                steps.append(.scalar(scalar))
                isEscaped = false
            } else if scalar == "\\" {
                isEscaped = true
            } else if scalar == "?" {
                steps.append(.anyScalar)
            } else if scalar == "*" {
                if steps.last != .anyScalars { steps.append(.anyScalars) }
            } else {
                steps.append(.scalar(scalar))
            }
        }
        if isEscaped { steps.append(.scalar("\\")) }
        self.steps = steps
        self.options = options
    }

    /// Folded text is composed, so that a letter with an accent is one code point where one exists.
    private static func prepared(_ text: String, _ options: StringComparison.Options) -> [Unicode.Scalar] {
        Array(StringComparison.composed(text, options).unicodeScalars)
    }

    /// The time is at worst proportional to the product of the lengths.
    func matches(_ text: String) -> Bool {
        let scalars = WildcardPattern.prepared(text, options)
        var place = 0
        var step = 0
        var retry: (step: Int, place: Int)?
        while place < scalars.count {
            if step < steps.count, fits(steps[step], scalars[place]) {
                place += 1
                step += 1
            } else if step < steps.count, steps[step] == .anyScalars {
                step += 1
                retry = (step, place)
            } else if let last = retry {
                // The star takes one more character, and the rest of the pattern starts again after
                // it.
                retry = (last.step, last.place + 1)
                step = last.step
                place = last.place + 1
            } else {
                return false
            }
        }
        return steps[step...].allSatisfy { $0 == .anyScalars }
    }

    private func fits(_ step: Step, _ scalar: Unicode.Scalar) -> Bool {
        switch step {
        case .scalar(let expected): expected == scalar
        case .anyScalar: true
        case .anyScalars: false
        }
    }
}
