/// A reason why a row, or a reference of one, is not imported.
struct ImportProblem: Equatable {
    /// The name of the file, where there are several.
    let file: String?
    let line: Int
    /// The identity in the file: `Item/p1`.
    let identity: String?
    let property: String?
    let reason: String

    var sentence: String {
        let place = (file.map { "\($0) " } ?? "") + "line \(line)"
        let subject = [identity, property].compactMap { $0 }.joined(separator: ".")
        return "\(place): \(subject.isEmpty ? "" : subject + ": ")\(reason)"
    }

    var json: JSONValue {
        .object([
            .init("file", .optional(file)), .init("line", .integer(line)), .init("objectID", .optional(identity)),
            .init("property", .optional(property)), .init("reason", .string(reason)),
        ])
    }
}
