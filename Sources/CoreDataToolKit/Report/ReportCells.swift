import CoreData

/// The values of objects in the cells of a table.
struct ReportCells {
    private let links: SampleLinks
    /// The bytes of pictures that may still be put into the page.
    private var room = 6_000_000

    private static let largestPicture = 200_000
    private static let longText = 160
    private static let mostText = 4000
    private static let mostMembers = 5

    init(links: SampleLinks) { self.links = links }

    mutating func markup(of object: ObjectReader.Object, _ columns: [QueryColumn]) -> [String] {
        let identity = object.values.first?.plainText ?? ""
        return zip(columns, object.values).map { column, value in
            if case .object = column.source {
                return "<th scope=\"row\">\(MarkupText.escaped(value.plainText))</th>"
            }
            let alternative = "\(column.name) of \(identity)"
            return "<td\(column.cellClass)>\(markup(value, column, alternative))</td>"
        }
    }

    /// - Parameter alternative: the text for people who do not see a picture.
    private mutating func markup(_ value: CellValue, _ column: QueryColumn, _ alternative: String) -> String {
        switch (column.source, value) {
        case (_, .null): "<span class=\"none\">–</span>"
        case (.toOne, .text(let identity)): link(identity)
        case (.toMany, .structure(.array(let members))): list(members)
        case (_, .date): "<span class=\"date\">\(MarkupText.escaped(value.tableText))</span>"
        case (_, .data(let data)): picture(data, alternative)
        case (.attribute(_, isTransformable: true), .structure(let archived)): transformed(archived)
        case (_, .structure): "<code>\(text(value.plainText))</code>"
        default: text(value.plainText)
        }
    }

    // MARK: Relationships

    private func link(_ identity: String) -> String {
        let text = MarkupText.escaped(identity)
        return links.anchor(of: identity).map { "<a href=\"#\($0)\">\(text)</a>" } ?? text
    }

    private func list(_ members: [JSONValue]) -> String {
        if members.isEmpty { return "<span class=\"none\">none</span>" }
        let shown = members.prefix(Self.mostMembers).map { member in
            if case .string(let identity) = member { link(identity) } else { "" }
        }
        let rest = members.count - shown.count
        return "<span class=\"members\">\(ReportNumber.grouped(Int64(members.count)))</span> "
            + shown.joined(separator: ", ") + (rest > 0 ? " and \(ReportNumber.grouped(Int64(rest))) more" : "")
    }

    // MARK: Texts and bytes

    private func text(_ text: String) -> String {
        // A prefix is cheap; the length of a long text is not.
        let most = text.prefix(Self.mostText)
        let start = most.prefix(Self.longText)
        if start.endIndex == text.endIndex { return lines(text) }
        let isCut = most.endIndex < text.endIndex
        return "<details class=\"text\"><summary>\(lines(start))…</summary>\(lines(most))\(isCut ? "… (cut)" : "")"
            + "</details>"
    }

    /// Returns a text with its line breaks, which the style sheet shows.
    private func lines(_ text: some StringProtocol) -> String {
        text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
            .map { MarkupText.escaped(String($0)) }.joined(separator: "\n")
    }

    /// Returns the value of a transformable attribute, or the size of its archive if it cannot be
    /// decoded.
    private func transformed(_ archived: JSONValue) -> String {
        guard case .object(let members) = archived, let value = members.first(where: { $0.key == "value" })?.value
        else { return "<code>\(text(archived.compact))</code>" }
        if value != .null { return "<code>\(text(value.compact))</code>" }
        guard case .string(let archive)? = members.first(where: { $0.key == "archive" })?.value else { return "" }
        // Four characters of base64 are three bytes.
        return "<span class=\"bytes\">archive, \(ReportNumber.bytes(Int64(archive.utf8.count / 4 * 3)))</span>"
    }

    private static let pictures = ["png": "png", "jpg": "jpeg", "gif": "gif", "webp": "webp"]

    private mutating func picture(_ data: Data, _ alternative: String) -> String {
        let kind = FileExtension.of(data)
        let size = "\(kind == "bin" ? "" : kind.uppercased() + ", ")\(ReportNumber.bytes(Int64(data.count)))"
        guard let type = Self.pictures[kind], data.count <= Self.largestPicture, data.count <= room else {
            return "<span class=\"bytes\">\(size)</span>"
        }
        room -= data.count
        return "<img src=\"data:image/\(type);base64,\(data.base64EncodedString())\" "
            + "alt=\"\(MarkupText.escaped(alternative))\" title=\"\(size)\"/>"
    }
}
