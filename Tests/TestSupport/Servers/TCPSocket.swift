import Foundation

/// Sockets of this machine's own network.
enum TCPSocket {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Listens on 127.0.0.1.
    static func listener() throws -> (descriptor: Int32, port: Int) {
        let descriptor = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isOpen = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, size) == 0 && listen(descriptor, 64) == 0
                    && getsockname(descriptor, $0, &size) == 0
            }
        }
        guard descriptor >= 0, isOpen else {
            let reason = String(cString: strerror(errno))
            close(descriptor)
            throw Failure(description: "no port can be had: \(reason)")
        }
        return (descriptor, Int(UInt16(bigEndian: address.sin_port)))
    }

    /// A port that nobody listened on a moment ago.
    static func freePort() throws -> Int {
        let (descriptor, port) = try listener()
        close(descriptor)
        return port
    }
}
