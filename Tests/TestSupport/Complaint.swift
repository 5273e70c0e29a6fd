/// The message of a program that was stopped for a mistake.
public struct Complaint {
    private let text: String?

    /// - Parameter bytes: the program's standard error; nil when it did not end as expected.
    public init(_ bytes: [UInt8]?) { text = bytes.map { String(decoding: $0, as: UTF8.self) } }

    /// Which of the parts are missing in what it said, in whatever build: messages are printed in
    /// all of them.
    public func lacks(_ parts: String...) -> [String] {
        guard let text else { return parts }
        let missing = parts.filter { !text.contains($0) }
        return missing.isEmpty ? [] : missing + ["in: " + text]
    }
}
