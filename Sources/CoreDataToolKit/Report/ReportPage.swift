import CoreData

/// A report as a page of HTML that is well-formed XML too and loads nothing.
///
/// The page's policy refuses every script but its own, whose hash it names, and every request.
struct ReportPage {
    private let contents: ReportContents

    init(_ contents: ReportContents) { self.contents = contents }

    /// - Parameter advance: called after each sample.
    func write(to output: OutputWriter, advance: () throws -> Void = {}) throws {
        try output.write(head)
        try output.write(header)
        try output.write("<main id=\"main\" tabindex=\"-1\">\n")
        try output.write(findings)
        try output.write(diagram)
        try output.write(ReportCharts.counts(contents.counts, contents.samples))
        try output.write(ReportCharts.sizes(contents.sizes))
        try output.write(ReportCharts.spreads(contents.spreads))
        try writeSamples(to: output, advance)
        try output.write("</main>\n<footer><p>Written by coredata \(ToolVersion.number).</p></footer>\n")
        try output.write("<script>\(ReportScript.text)</script>\n</body>\n</html>\n")
    }

    // MARK: Head

    private static let policy =
        "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src '\(ReportScript.hash)'; "
        + "base-uri 'none'; form-action 'none'"

    private var head: String {
        """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8"/>
        <meta http-equiv="Content-Security-Policy" content="\(Self.policy)"/>
        <meta name="viewport" content="width=device-width, initial-scale=1"/>
        <meta name="color-scheme" content="light dark"/>
        <meta name="referrer" content="no-referrer"/>
        <title>\(MarkupText.escaped(contents.title)) – Core Data store</title>
        <style>\(ReportStyle.text)</style>
        </head>
        <body>
        <a class="skip" href="#main">Skip to the contents</a>

        """
    }

    private var header: String {
        let figures = contents.figures.map(Self.term).joined()
        let facts = contents.facts.map(Self.term).joined()
        return "<header>\n<p class=\"kind\">Core Data store</p>\n<h1>\(MarkupText.escaped(contents.title))</h1>\n"
            + "<dl class=\"figures\">\(figures)</dl>\n<dl class=\"facts\">\(facts)</dl>\n</header>\n\(navigation)"
    }

    private static func term(_ fact: ReportContents.Fact) -> String {
        "<div><dt>\(MarkupText.escaped(fact.name))</dt><dd>\(MarkupText.escaped(fact.value))</dd></div>"
    }

    private var navigation: String {
        let sections: [(anchor: String, name: String, isThere: Bool)] = [
            ("findings", "Findings", true), ("diagram", "Diagram", true), ("counts", "Objects", true),
            ("sizes", "Sizes", !contents.sizes.isEmpty), ("dates", "Over time", !contents.spreads.isEmpty),
            ("sample", "Sample", !contents.samples.isEmpty),
        ]
        let items = sections.filter(\.isThere).map { "<li><a href=\"#\($0.anchor)\">\($0.name)</a></li>" }.joined()
        return "<nav aria-label=\"Sections\"><ul>\(items)</ul></nav>\n"
    }

    // MARK: Sections

    /// Returns a section of the page with a heading.
    ///
    /// - Parameter body: the markup behind the heading.
    static func section(_ anchor: String, _ heading: String, _ body: String) -> String {
        "<section id=\"\(anchor)\" aria-labelledby=\"\(anchor)-heading\">\n"
            + "<h2 id=\"\(anchor)-heading\">\(heading)</h2>\n\(body)\n</section>\n"
    }

    private var findings: String {
        let items = contents.findings.map { "<li>\(MarkupText.escaped($0))</li>" }
        return Self.section(
            "findings", "Findings",
            items.isEmpty
                ? "<p class=\"good\">No problems were found.</p>"
                : "<ul class=\"findings\">\n\(items.joined(separator: "\n"))\n</ul>")
    }

    private var diagram: String {
        Self.section(
            "diagram", "Entities and relationships",
            "<div class=\"scroll diagram\" role=\"region\" aria-label=\"Diagram\" tabindex=\"0\">\n"
                + "\(DiagramSVG(contents.diagram).text)</div>")
    }

    // MARK: Samples

    private func writeSamples(to output: OutputWriter, _ advance: () throws -> Void) throws {
        guard !contents.samples.isEmpty else { return }
        try output.write(
            """
            <section id="sample" aria-labelledby="sample-heading">
            <h2 id="sample-heading">Sample of the objects</h2>
            <div class="search" role="search" hidden="">
            <label for="search">Search the sample</label>
            <input id="search" type="search" autocomplete="off" spellcheck="false" aria-controls="entities"/>
            <p id="matches" role="status" aria-live="polite"></p>
            </div>
            <div id="entities">

            """)
        var table = ReportTable(links: SampleLinks(contents.samples))
        for sample in contents.samples {
            try table.write(sample, isOpen: contents.samples.count <= 8, to: output)
            try advance()
        }
        try output.write("</div>\n</section>\n")
    }
}
