import Foundation
import Synchronization

/// Stands between clients and a PostgreSQL server, on a socket of its own: counts round trips, and
/// passes on what both say late, in pieces, or not to the end.
public final class PostgreSQLProxy: Sendable {
    /// How it passes on what it gets.
    public struct Conduct: Sendable {
        /// Seconds that each piece is held back.
        public var delay = 0.0
        /// The size of pieces in bytes: a random one of at most this; nil for all that is there.
        public var largestPiece: Int?
        /// How many bytes of both sides pass until the connection is cut, anywhere in a message.
        public var bytesUntilCut: Int?
        /// Whether the connection is cut in the place of the next answer that a transaction was
        /// committed.
        public var losesCommit = false
        /// Whether the connection is cut in the place of the next request to commit, which never
        /// arrives.
        public var dropsCommit = false
        /// How many of what one of the two concerns arrive before.
        public var commitsThatArrive = 0
        /// A text in a request: the connection is cut in the place of the next answer to one that
        /// has it.
        public var losesAnswerTo: String?
        /// Whether nothing that the server says arrives.
        public var isMute = false
        /// Whether requests to end a statement are held back, without an answer, for as long as
        /// this is so.
        public var holdsCancellations = false

        public init() {}
    }

    private struct Reason: Error, CustomStringConvertible {
        let description: String
    }

    private let state = ProxyState()
    /// Of the socket.
    private let folder: URL
    private let server: PostgreSQLServer

    public init(_ server: PostgreSQLServer) throws {
        self.server = server
        // The path of a socket is short.
        folder = URL(fileURLWithPath: "/tmp/ocd-proxy-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        let listener = try Self.socket(folder.appendingPathComponent(Self.socketName).path, bind)
        guard listen(listener, 64) == 0 else {
            throw Reason(description: "cannot listen: \(String(cString: strerror(errno)))")
        }
        let serverPath = "\(server.socketFolder)/\(Self.socketName)"
        Self.onThread { [state] in Self.accept(listener, serverPath, state) }
    }

    deinit {
        state.values.withLock { $0.isEnded = true }
        try? FileManager.default.removeItem(at: folder)
    }

    static func onThread(_ body: @escaping @Sendable () -> Void) {
        let thread = Thread(block: body)
        thread.name = "PostgreSQLProxy"
        thread.start()
    }

    static let socketName = ".s.PGSQL.5432"

    /// A URL of the database by way of the proxy.
    public func url(schema: String) -> URL {
        let direct = server.url(schema: schema)
        guard var components = URLComponents(url: direct, resolvingAgainstBaseURL: false) else { return direct }
        components.queryItems = components.queryItems?.map {
            $0.name == "host" ? URLQueryItem(name: "host", value: folder.path) : $0
        }
        return components.url ?? direct
    }

    /// The same as a list of `keyword=value`.
    public var connectionString: String { "host=\(folder.path) dbname=\(server.database) user=\(server.user)" }

    /// Set for all connections, also those that are open; counting towards a cut begins anew.
    public var conduct: Conduct {
        get { state.values.withLock { $0.conduct } }
        set {
            state.values.withLock { state in
                state.conduct = newValue
                state.passed = 0
            }
        }
    }

    /// From now on nothing arrives that the server says on the connections that are open. Those
    /// that come later are not concerned.
    public func muteConnections() { state.values.withLock { $0.mutedConnections = $0.connections } }

    /// How often clients have sent something behind an answer of the server, since this was set.
    public var roundTrips: Int {
        get { state.values.withLock { $0.roundTrips } }
        set { state.values.withLock { $0.roundTrips = newValue } }
    }

    /// How many connections there were.
    public var connections: Int { state.values.withLock { $0.connections } }

    /// How many connections were cut.
    public var cuts: Int { state.values.withLock { $0.cuts } }

    /// How many requests to end a statement have come.
    public var cancellations: Int { state.values.withLock { $0.cancellations } }

    // MARK: Sockets

    static func socket(
        _ path: String, _ use: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) throws -> Int32 {
        let descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let fits = withUnsafeMutableBytes(of: &address.sun_path) { bytes in
            guard path.utf8.count < bytes.count else { return false }
            bytes.copyBytes(from: path.utf8)
            return true
        }
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                use(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard descriptor >= 0, fits, result == 0 else {
            close(descriptor)
            throw Reason(description: "the socket \(path) cannot be used: \(String(cString: strerror(errno)))")
        }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        return descriptor
    }

    /// Takes connections until the proxy ends.
    private static func accept(_ listener: Int32, _ serverPath: String, _ state: ProxyState) {
        while !state.values.withLock({ $0.isEnded }) {
            var file = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
            guard poll(&file, 1, 100) > 0 else { continue }
            let client = Glibc.accept(listener, nil, nil)
            guard client >= 0 else { continue }
            _ = fcntl(client, F_SETFD, FD_CLOEXEC)
            guard let server = try? socket(serverPath, connect) else {
                close(client)
                continue
            }
            onThread { ProxiedConnection(client: client, server: server, state).run() }
        }
        close(listener)
    }
}

/// The state that a proxy shares with its threads.
private final class ProxyState: Sendable {
    struct Values {
        var conduct = PostgreSQLProxy.Conduct()
        var passed = 0
        var roundTrips = 0
        var cuts = 0
        var cancellations = 0
        var isEnded = false
        /// How many connections there were, and up to which of them they are mute.
        var connections = 0
        var mutedConnections = 0

        mutating func letsCommitArrive() -> Bool {
            guard conduct.commitsThatArrive > 0 else { return false }
            conduct.commitsThatArrive -= 1
            return true
        }
    }

    let values = Mutex(Values())
}

/// One connection of a client, and the one to the server that stands behind it. Used by one thread.
private final class ProxiedConnection {
    private struct Side {
        let descriptor: Int32
        /// Bytes that were read from the other side and not passed on yet.
        var waiting: ArraySlice<UInt8> = []
        var isClosed = false
    }

    private static let mostWaiting = 1 << 20
    private let state: ProxyState
    private var client: Side
    private var server: Side
    private var clientSpoke = false
    private var hasLostCommit = false
    private var losesAnswer = false
    /// Whether all that it is for is a request to end a statement.
    private var isCancellation = false
    private let number: Int

    init(client: Int32, server: Int32, _ state: ProxyState) {
        self.client = Side(descriptor: client)
        self.server = Side(descriptor: server)
        self.state = state
        number = state.values.withLock { values in
            values.connections += 1
            return values.connections
        }
    }

    func run() {
        while step() {}
        close(client.descriptor)
        close(server.descriptor)
    }

    /// - Returns: whether both sides are still there.
    private func step() -> Bool {
        let isHeld = isCancellation && state.values.withLock { $0.conduct.holdsCancellations && !$0.isEnded }
        func events(_ side: Side, other: Side) -> Int16 {
            Int16(
                (other.waiting.count < Self.mostWaiting ? POLLIN : 0) | (side.waiting.isEmpty || isHeld ? 0 : POLLOUT))
        }
        var files = [
            pollfd(fd: client.descriptor, events: events(client, other: server), revents: 0),
            pollfd(fd: server.descriptor, events: events(server, other: client), revents: 0),
        ]
        _ = poll(&files, 2, isHeld ? 1 : 100)
        let (conduct, isEnded) = state.values.withLock { ($0.conduct, $0.isEnded) }
        if isEnded { return false }
        let isOver = Int16(POLLHUP | POLLERR)
        if files[0].revents & (Int16(POLLIN) | isOver) != 0 { read(&client, for: &server, isClient: true) }
        if files[1].revents & (Int16(POLLIN) | isOver) != 0 { read(&server, for: &client, isClient: false) }
        if hasLostCommit { return false }
        if files[0].revents & Int16(POLLOUT) != 0, !pass(&client, conduct) { return false }
        if files[1].revents & Int16(POLLOUT) != 0, !pass(&server, conduct) { return false }
        // What one side has said at last is passed on.
        return !(client.isClosed && server.waiting.isEmpty) && !(server.isClosed && client.waiting.isEmpty)
    }

    private func read(_ side: inout Side, for other: inout Side, isClient: Bool) {
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        let count = recv(side.descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT))
        if count > 0 {
            let isMuted = state.values.withLock { $0.conduct.isMute || number <= $0.mutedConnections }
            if isMuted, !isClient { return }
            if isClient ? dropsCommit(bytes[..<count]) : losesCommit(bytes[..<count]) || losesAnswer {
                hasLostCommit = true
                return
            }
            if isClient { noteRequest(bytes[..<count]) }
            if isClient, bytes[4..<8] == Self.cancellation {
                isCancellation = true
                state.values.withLock { $0.cancellations += 1 }
            }
            other.waiting += bytes[..<count]
            if isClient, !clientSpoke { state.values.withLock { $0.roundTrips += 1 } }
            clientSpoke = isClient
        } else if count == 0 || errno != EAGAIN {
            side.isClosed = true
        }
    }

    /// The statement that commits, which is also the server's answer to it.
    private static let commit = Array("COMMIT\0".utf8)

    /// The code, behind its length, of the only message of a connection that cancels a statement of
    /// another.
    private static let cancellation: ArraySlice<UInt8> = [4, 210, 22, 46]

    private func noteRequest(_ request: ArraySlice<UInt8>) {
        state.values.withLock { values in
            guard let text = values.conduct.losesAnswerTo, request.firstRange(of: Array(text.utf8)) != nil else {
                return
            }
            values.conduct.losesAnswerTo = nil
            values.cuts += 1
            losesAnswer = true
        }
    }

    private func dropsCommit(_ request: ArraySlice<UInt8>) -> Bool {
        state.values.withLock { values in
            guard values.conduct.dropsCommit, request.firstRange(of: Self.commit) != nil, !values.letsCommitArrive()
            else { return false }
            values.conduct.dropsCommit = false
            values.cuts += 1
            return true
        }
    }

    private func losesCommit(_ answer: ArraySlice<UInt8>) -> Bool {
        state.values.withLock { values in
            guard values.conduct.losesCommit, answer.firstRange(of: Self.commit) != nil, !values.letsCommitArrive()
            else { return false }
            // The next one is not lost.
            values.conduct.losesCommit = false
            values.cuts += 1
            return true
        }
    }

    /// - Returns: false where the connection is to be cut.
    private func pass(_ side: inout Side, _ conduct: PostgreSQLProxy.Conduct) -> Bool {
        if conduct.delay > 0 { Thread.sleep(forTimeInterval: conduct.delay) }
        var count = side.waiting.count
        if let largest = conduct.largestPiece { count = min(count, Int.random(in: 1...max(1, largest))) }
        let isCut = state.values.withLock { values in
            guard let limit = values.conduct.bytesUntilCut else { return false }
            count = min(count, max(0, limit - values.passed))
            values.passed += count
            guard values.passed >= limit else { return false }
            // The next connection is not.
            values.conduct.bytesUntilCut = nil
            values.cuts += 1
            return true
        }
        let sent = side.waiting.prefix(count).withUnsafeBytes {
            send(side.descriptor, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
        }
        if sent > 0 { side.waiting = side.waiting.dropFirst(sent) }
        if sent < 0, errno != EAGAIN { return false }
        return !isCut
    }
}
