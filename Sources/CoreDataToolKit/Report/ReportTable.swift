import CoreData

/// Writes samples of objects as tables.
struct ReportTable {
    private var cells: ReportCells

    init(links: SampleLinks) { cells = ReportCells(links: links) }

    mutating func write(_ sample: EntitySample, isOpen: Bool, to output: OutputWriter) throws {
        let name = MarkupText.escaped(sample.name)
        let (shown, total) = (Int64(sample.keys.count), sample.total)
        let count =
            (shown < total ? "the first \(ReportNumber.grouped(shown)) of " : "") + ReportNumber.grouped(total)
            + (total == 1 ? " object" : " objects")
        try output.write(
            "<details class=\"entity\" id=\"\(SampleLinks.anchor(sample))\"\(isOpen ? " open=\"\"" : "")>\n"
                + "<summary><h3>\(name)</h3> <span class=\"count\">\(count)</span></summary>\n"
                + "<div class=\"scroll\" role=\"region\" aria-label=\"\(name)\" tabindex=\"0\">\n"
                + "<table class=\"objects\"><caption class=\"unseen\">\(name): \(count)</caption>\n"
                + "<thead><tr>\(sample.reader.columns.map { head($0, sample.reader.entity) }.joined())</tr></thead>\n"
                + "<tbody>\n")
        let problem = try sample.forEach { object in
            try output.write(
                "<tr id=\"\(SampleLinks.anchor(sample, object.key))\">"
                    + cells.markup(of: object, sample.reader.columns).joined() + "</tr>\n")
        }
        try output.write("</tbody></table>\n</div>\n")
        if let problem {
            try output.write("<p class=\"problem\">Not all can be read: \(MarkupText.escaped(problem)).</p>\n")
        }
        try output.write("</details>\n")
    }

    private func head(_ column: QueryColumn, _ entity: NSEntityDescription) -> String {
        let destination = entity.relationshipsByName[column.name]?.destinationEntity?.name ?? ""
        let type =
            switch column.source {
            case .object: ""
            case .attribute(_, isTransformable: true): NSAttributeType.transformableAttributeType.displayName
            case .attribute(let type, isTransformable: false): type.displayName
            case .composite: "Composite"
            case .toOne: destination
            case .toMany: "[\(destination)]"
            }
        return "<th scope=\"col\"\(column.cellClass)>\(MarkupText.escaped(column.name))"
            + "<span class=\"type\">\(MarkupText.escaped(type))</span></th>"
    }
}

extension QueryColumn {
    /// The attribute `class` of the cells.
    var cellClass: String {
        if case .toMany = source { return " class=\"list\"" }
        return isNumeric ? " class=\"number\"" : ""
    }
}
