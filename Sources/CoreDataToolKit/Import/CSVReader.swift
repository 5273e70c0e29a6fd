/// Reads the records of a CSV file (RFC 4180) one by one.
struct CSVReader {
    /// The text of a field; nil for an empty one without quotes.
    typealias Field = String?

    struct Record {
        let line: Int
        /// The fields, or what is wrong with them.
        let fields: Result<[Field], JSONReader.Failure>
    }

    private let bytes: FileBytes

    init(_ bytes: FileBytes) { self.bytes = bytes }

    /// Returns the next record; nil at the end of the file.
    func next() throws(ToolError) -> Record? {
        guard try bytes.peek() != nil else { return nil }
        let line = bytes.line
        var fields: [Field] = []
        var problem: String?
        var length = 0
        var isAtEnd = false
        while !isAtEnd {
            var field = ParsedField()
            try parse(&field, &length, line)
            isAtEnd = field.endsRecord
            length += 1
            try bytes.checkLength(length, line)
            problem = problem ?? field.problem
            if let text = String(validating: field.bytes, as: UTF8.self) {
                fields.append(text.isEmpty && !field.isQuoted ? nil : text)
            } else {
                problem = problem ?? "a field is not valid UTF-8"
            }
        }
        return Record(line: line, fields: problem.map { .failure(.init(reason: $0)) } ?? .success(fields))
    }

    private struct ParsedField {
        var bytes: [UInt8] = []
        var isQuoted = false
        var endsRecord = false
        var problem: String?
    }

    private func parse(_ field: inout ParsedField, _ length: inout Int, _ line: Int) throws(ToolError) {
        if try bytes.peek() == UInt8(ascii: "\"") { try parseQuoted(&field, &length, line) }
        while true {
            guard let byte = try bytes.next() else {
                field.endsRecord = true
                return
            }
            if byte == UInt8(ascii: ",") { return }
            if byte == UInt8(ascii: "\n") {
                field.endsRecord = true
                return
            }
            if byte == UInt8(ascii: "\r"), try bytes.peek().map({ $0 == UInt8(ascii: "\n") }) ?? true { continue }
            if field.isQuoted { field.problem = "there is text behind a closing quote" }
            if byte == UInt8(ascii: "\"") { field.problem = "there is a quote in a field that does not begin with one" }
            field.bytes.append(byte)
            length += 1
            try bytes.checkLength(length, line)
        }
    }

    private func parseQuoted(_ field: inout ParsedField, _ length: inout Int, _ line: Int) throws(ToolError) {
        _ = try bytes.next()
        field.isQuoted = true
        while true {
            guard let byte = try bytes.next() else {
                field.problem = "the file ends within quotes"
                return
            }
            if byte == UInt8(ascii: "\"") {
                guard try bytes.peek() == byte else { return }
                _ = try bytes.next()
            }
            field.bytes.append(byte)
            length += 1
            try bytes.checkLength(length, line)
        }
    }
}
