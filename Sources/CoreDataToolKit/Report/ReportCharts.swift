/// The charts of a report: bars in tables, and histograms as SVG. All their numbers are in texts
/// too.
enum ReportCharts {
    static func counts(_ bars: [ReportContents.Bar], _ samples: [EntitySample]) -> String {
        let anchors = Dictionary(
            samples.map { ($0.name, SampleLinks.anchor($0)) }, uniquingKeysWith: { first, _ in first })
        return ReportPage.section(
            "counts", "Objects",
            bars.isEmpty
                ? "<p>The store has no entities.</p>"
                : table(
                    "Number of objects of each entity, without its subentities", ["Entity", "Objects"], bars, anchors))
    }

    static func sizes(_ bars: [ReportContents.Bar]) -> String {
        guard !bars.isEmpty else { return "" }
        return ReportPage.section(
            "sizes", "Sizes",
            table("Size of each table with its indexes", ["Table", "Size"], bars, [:]))
    }

    /// - Parameter anchors: the elements that names lead to.
    private static func table(
        _ caption: String, _ heads: [String], _ bars: [ReportContents.Bar], _ anchors: [String: String]
    ) -> String {
        let most = max(1, bars.map(\.value).max() ?? 1)
        let rows = bars.map { bar in
            let name = MarkupText.escaped(bar.name)
            let link = anchors[bar.name].map { "<a href=\"#\($0)\">\(name)</a>" } ?? name
            let indent = bar.depth == 0 ? "" : " style=\"padding-left:\(min(bar.depth, 20))em\""
            return "<tr><th scope=\"row\"\(indent)>\(link)</th>"
                + "<td class=\"number\">\(MarkupText.escaped(bar.text))</td><td class=\"track\">"
                + "<span class=\"bar\" style=\"width:\(percent(bar.value, of: most))%\"></span></td></tr>"
        }
        return "<table class=\"chart\"><caption>\(caption)</caption>\n<thead><tr>"
            + heads.map { "<th scope=\"col\">\($0)</th>" }.joined()
            + "<td></td></tr></thead>\n<tbody>\n\(rows.joined(separator: "\n"))\n</tbody></table>"
    }

    /// Returns a share in percent with one digit behind the point, at least 0.1 for more than none.
    private static func percent(_ value: Int64, of most: Int64) -> Double {
        guard value > 0 else { return 0 }
        return max(0.1, (Double(value) / Double(most) * 1000).rounded() / 10)
    }

    // MARK: Dates

    static func spreads(_ spreads: [DateSpread]) -> String {
        guard !spreads.isEmpty else { return "" }
        return ReportPage.section(
            "dates", "Over time", "<div class=\"spreads\">\n\(spreads.map(figure).joined(separator: "\n"))\n</div>")
    }

    private static func figure(_ spread: DateSpread) -> String {
        let name = MarkupText.escaped("\(spread.entity).\(spread.attribute)")
        let most = spread.bins.max { $0.count < $1.count } ?? DateSpread.Bin(name: "", count: 0)
        let (first, last) = (spread.bins.first?.name ?? "", spread.bins.last?.name ?? "")
        let span = first == last ? first : "\(first) to \(last)"
        let label = "\(span), most in \(most.name): \(ReportNumber.grouped(most.count))"
        return """
            <figure>
            <figcaption><h3>\(name)</h3> by \(spread.unit.name) (UTC)\(outside(spread))</figcaption>
            \(histogram(spread, most: most.count, label: "\(name) by \(spread.unit.name): \(label)"))
            <p class="axis"><span>\(first)</span><span>\(first == last ? "" : last)</span></p>
            <details class="numbers"><summary>Most in \(most.name): \(ReportNumber.grouped(most.count))</summary>
            \(numbers(spread, name))</details>
            </figure>
            """
    }

    private static func outside(_ spread: DateSpread) -> String {
        spread.outside == 0 ? "" : "; without \(ReportNumber.grouped(spread.outside)) \(DateSpread.outsideText)"
    }

    private static func histogram(_ spread: DateSpread, most: Int64, label: String) -> String {
        // A few spans are not drawn as wide blocks.
        let places = max(spread.bins.count, 12)
        let bars = spread.bins.enumerated().filter { $0.element.count > 0 }.map { index, bin in
            let height = max(2, percent(bin.count, of: most))
            return "<rect x=\"\(index * 10 + 1)\" y=\"\(100 - height)\" width=\"8\" height=\"\(height)\">"
                + "<title>\(bin.name): \(ReportNumber.grouped(bin.count))</title></rect>"
        }
        return "<svg class=\"histogram\" viewBox=\"0 0 \(places * 10) 100\" preserveAspectRatio=\"none\" role=\"img\" "
            + "aria-label=\"\(label)\">\(bars.joined())</svg>"
    }

    private static func numbers(_ spread: DateSpread, _ name: String) -> String {
        let rows = spread.bins.filter { $0.count > 0 }.map {
            "<tr><th scope=\"row\">\($0.name)</th><td class=\"number\">\(ReportNumber.grouped($0.count))</td></tr>"
        }
        return "<table><caption class=\"unseen\">\(name)</caption><thead><tr><th scope=\"col\">Time</th>"
            + "<th scope=\"col\">Objects</th></tr></thead><tbody>\(rows.joined())</tbody></table>"
    }
}
