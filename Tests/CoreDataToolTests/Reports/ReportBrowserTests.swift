import CoreData
import TestSupport
import Testing

@testable import CoreDataToolKit

/// The page of `coredata report` in a browser.
@Suite(.serialized, .enabled(if: Browser.program != nil, "Chromium is not installed."))
struct ReportBrowserTests {
    private let workplace: Workplace
    private let browser: Browser

    init() throws {
        workplace = try Workplace()
        browser = try Browser()
        try AlbumStore.make(at: workplace.folder.appendingPathComponent("Album.sqlite"))
        try open("Album.sqlite")
    }

    /// Loads the report about a store of the folder.
    private func open(_ store: String) throws {
        let page = workplace.folder.appendingPathComponent("report.html")
        let run = ToolRun(["report", workplace.folder.appendingPathComponent(store).path, "-o", page.path])
        try #require(run.status == 0, "\(run.errors)")
        try browser.open(page)
    }

    private let shownRows = "[...document.querySelectorAll('tbody tr[id]')].filter(r => r.checkVisibility()).length"

    @Test func thePageAsksForNothingButItself() throws {
        #expect(browser.requests.filter { !$0.hasPrefix("data:") }.count == 1)
        #expect(browser.complaints == [])
    }

    @Test func textsAndPicturesAreShown() throws {
        #expect(try browser.text("document.body.innerText").contains("Photo 3"))
        #expect(try browser.value("document.querySelector('img').naturalWidth") as? Int == 1)
        #expect(try browser.value(shownRows) as? Int == 8)
    }

    @Test func theSearchShowsOnlyObjectsWithItsWords() throws {
        _ = try browser.value("document.getElementById('search').focus()")
        try browser.type("PHOTO 3")
        try browser.wait(for: "document.getElementById('matches').textContent")
        // Photo 3 itself, the photos of March, and their album, which names them.
        let found = try browser.value(shownRows) as? Int ?? 0
        #expect(try browser.text("document.getElementById('matches').textContent").hasPrefix("\(found) objects of "))
        #expect(try browser.value("document.getElementById('e2-p3').checkVisibility()") as? Bool == true)
        try browser.type(" nowhere")
        try browser.wait(for: "document.getElementById('matches').textContent.startsWith('Nothing')")
        #expect(try browser.value(shownRows) as? Int == 0)
    }

    @Test func withoutWordsAllObjectsAreShownAgain() throws {
        _ = try browser.value("document.getElementById('search').focus()")
        try browser.type("nowhere")
        try browser.wait(for: "document.getElementById('matches').textContent")
        _ = try browser.value("document.getElementById('search').select()")
        try browser.type("")
        _ = try browser.value("document.execCommand('delete')")
        try browser.wait(for: "!document.getElementById('matches').textContent")
        #expect(try browser.value(shownRows) as? Int == 8)
    }

    @Test func theKeyboardReachesEverythingInOrder() throws {
        var places: [String] = []
        for _ in 0..<16 {
            try browser.press(.tab)
            places.append(try browser.focus())
        }
        #expect(
            places == [
                "Skip to the contents", "Findings", "Diagram", "Objects", "Sizes", "Over time", "Sample", "Diagram",
                "Album",
                "Photo", "Most in 2024-03: 3", "search", "Album 1 object", "Album", "Photo/p1", "Photo/p2",
            ])
    }

    @Test func aLinkLeadsToTheRowOfItsObject() throws {
        _ = try browser.value("document.getElementById('e2').open = false")
        _ = try browser.value("document.querySelector('a[href=\"#e2-p4\"]').focus()")
        try browser.press(.enter)
        try browser.wait(for: "document.activeElement.id === 'e2-p4'")
        #expect(try browser.value("document.getElementById('e2-p4').checkVisibility()") as? Bool == true)
    }

    @Test func aPhoneScrollsOnlyDownwards() throws {
        try browser.send(
            "Emulation.setDeviceMetricsOverride",
            ["width": 360, "height": 800, "deviceScaleFactor": 2, "mobile": true])
        #expect(try browser.value("document.documentElement.scrollWidth") as? Int == 360)
    }

    @Test func thePageFollowsTheSchemeOfTheReader() throws {
        let colours = try ["light", "dark"].map { scheme in
            try browser.send(
                "Emulation.setEmulatedMedia", ["features": [["name": "prefers-color-scheme", "value": scheme]]])
            return try browser.text("getComputedStyle(document.body).backgroundColor")
        }
        #expect(colours == ["rgb(246, 247, 249)", "rgb(10, 13, 18)"])
    }

    @Test func nothingOfAHostileStoreRuns() throws {
        try ReportStoresTests.hostileStore(at: workplace.folder.appendingPathComponent("<img src=x>.sqlite"))
        try open("<img src=x>.sqlite")
        _ = try browser.value("document.querySelectorAll('details').forEach(d => d.open = true)")
        #expect(try browser.text("typeof window.ran") == "undefined")
        #expect(browser.requests.count == 1)
        #expect(browser.complaints == [])
        #expect(try browser.value("document.scripts.length") as? Int == 1)
        #expect(try browser.value(shownRows) as? Int == ReportStoresTests.hostile.count)
    }
}
