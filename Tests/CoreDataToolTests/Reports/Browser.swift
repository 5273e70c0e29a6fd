import Foundation
import TestSupport
import Testing

/// A Chromium without a window, driven by the DevTools protocol through pipes:
/// <https://chromedevtools.github.io/devtools-protocol/>.
final class Browser {
    /// The path of the program; nil where none is installed that starts.
    static let program: String? = {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        let names = ["chromium", "chromium-browser", "google-chrome"]
        let paths = names.flatMap { name in folders.map { "\($0)/\(name)" } }
        return paths.first { path in
            FileManager.default.isExecutableFile(atPath: path)
                && (try? ProgramRun(URL(fileURLWithPath: path), ["--version"]))?.status == 0
        }
    }()

    private let process: ChildProcess
    private let input = Pipe()
    private let output = Pipe()
    private let folder: TemporaryFolder
    private var unread = Data()
    private var count = 0
    private var session: String?
    private var events: [[String: Any]] = []

    init() throws {
        folder = try TemporaryFolder()
        // A browser that has ended must not end the tests, which write to it.
        signal(SIGPIPE, SIG_IGN)
        let arguments = [
            "-c",
            "exec timeout 120 \"$0\" --headless=new --no-sandbox --disable-gpu --user-data-dir=\"$1\" "
                + "--remote-debugging-pipe 3<&0 4>&1 0</dev/null 1>/dev/null 2>&1",
            try #require(Self.program), folder.url.path,
        ]
        process = try ChildProcess(
            "/bin/sh", arguments, input: input.fileHandleForReading, output: output.fileHandleForWriting, error: nil)
        try input.fileHandleForReading.close()
        try output.fileHandleForWriting.close()
        let target = try send("Target.createTarget", ["url": "about:blank"])["targetId"]
        let attached = try send("Target.attachToTarget", ["targetId": target ?? "", "flatten": true])
        session = attached["sessionId"] as? String
        for domain in ["Page", "Network", "Runtime", "Log"] { _ = try send("\(domain).enable") }
    }

    deinit {
        session = nil
        _ = try? send("Browser.close")
        _ = try? output.fileHandleForReading.readToEnd()
        _ = process.waitForEnd()
    }

    // MARK: Protocol

    struct Failure: Error { let reason: String }

    @discardableResult
    func send(_ method: String, _ parameters: [String: Any] = [:]) throws -> [String: Any] {
        count += 1
        var message: [String: Any] = ["id": count, "method": method, "params": parameters]
        message["sessionId"] = session
        try input.fileHandleForWriting.write(contentsOf: JSONSerialization.data(withJSONObject: message) + [0])
        while true {
            let answer = try next()
            guard answer["id"] as? Int == count else {
                events.append(answer)
                continue
            }
            if let error = answer["error"] { throw Failure(reason: "\(method): \(error)") }
            return answer["result"] as? [String: Any] ?? [:]
        }
    }

    private func next() throws -> [String: Any] {
        while true {
            if let end = unread.firstIndex(of: 0) {
                let message = Data(unread[..<end])
                unread = Data(unread[unread.index(after: end)...])
                return try JSONSerialization.jsonObject(with: message) as? [String: Any] ?? [:]
            }
            let data = output.fileHandleForReading.availableData
            if data.isEmpty { throw Failure(reason: "the browser has ended") }
            unread += data
        }
    }

    private func parameters(of method: String) -> [[String: Any]] {
        events.filter { $0["method"] as? String == method }.compactMap { $0["params"] as? [String: Any] }
    }

    // MARK: Pages

    /// Loads a page.
    func open(_ url: URL) throws {
        events = []
        try send("Page.navigate", ["url": url.absoluteString])
        while parameters(of: "Page.loadEventFired").isEmpty { events.append(try next()) }
    }

    /// The addresses that the page asked for.
    var requests: [String] {
        parameters(of: "Network.requestWillBeSent").compactMap { ($0["request"] as? [String: Any])?["url"] as? String }
    }

    /// The messages and errors of the page.
    var complaints: [String] {
        (parameters(of: "Log.entryAdded") + parameters(of: "Runtime.exceptionThrown")).map { "\($0)" }
    }

    /// Returns the value of an expression in JavaScript.
    func value(_ expression: String) throws -> Any? {
        let result = try send(
            "Runtime.evaluate", ["expression": expression, "returnByValue": true, "awaitPromise": true])
        if let exception = result["exceptionDetails"] { throw Failure(reason: "\(exception)") }
        return (result["result"] as? [String: Any])?["value"]
    }

    func text(_ expression: String) throws -> String { try value(expression) as? String ?? "" }

    /// Waits until a condition in JavaScript is true.
    func wait(for condition: String) throws {
        _ = try value(
            "new Promise(done => { const look = () => (\(condition)) ? done() : setTimeout(look, 10); look(); })")
    }

    /// The name of the element that has the focus: its anchor, label or text.
    func focus() throws -> String {
        try text(
            "(e => e.id || e.getAttribute('aria-label') || e.textContent.slice(0, 40))(document.activeElement)")
    }

    // MARK: Keyboard

    enum Key: Int {
        case tab = 9
        case enter = 13

        var name: String { self == .tab ? "Tab" : "Enter" }
    }

    func press(_ key: Key) throws {
        var event: [String: Any] = ["key": key.name, "code": key.name, "windowsVirtualKeyCode": key.rawValue]
        if key == .enter { event["text"] = "\r" }
        for type in ["keyDown", "keyUp"] {
            event["type"] = type
            try send("Input.dispatchKeyEvent", event)
        }
    }

    func type(_ text: String) throws { try send("Input.insertText", ["text": text]) }
}
