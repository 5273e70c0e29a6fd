/// SHA-256 (FIPS 180-4). Cost: O(number of bytes).
struct SHA256 {
    private var state: [UInt32] = [
        0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
    ]
    private var pending: [UInt8] = []
    private var length: UInt64 = 0

    /// Adds bytes to the message.
    mutating func update(_ bytes: [UInt8]) {
        length &+= UInt64(bytes.count)
        pending += bytes
        var start = 0
        while pending.count - start >= 64 {
            compress(pending, at: start)
            start += 64
        }
        pending.removeFirst(start)
    }

    /// Adds a text as UTF-8.
    mutating func update(_ text: String) {
        update(Array(text.utf8))
    }

    /// Ends the message and returns its 32-byte digest.
    consuming func finalize() -> [UInt8] {
        let bits = length &* 8
        update([0x80] + [UInt8](repeating: 0, count: (119 - pending.count) % 64))
        update((0..<8).map { UInt8(truncatingIfNeeded: bits >> (56 - $0 * 8)) })
        return state.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> (24 - $0 * 8)) } }
    }

    private mutating func compress(_ bytes: [UInt8], at start: Int) {
        var words = [UInt32](repeating: 0, count: 64)
        for index in 0..<16 {
            words[index] = (0..<4).reduce(0) { $0 << 8 | UInt32(bytes[start + index * 4 + $1]) }
        }
        for index in 16..<64 {
            let early = words[index - 15]
            let late = words[index - 2]
            let small0 = rotate(early, 7) ^ rotate(early, 18) ^ (early >> 3)
            let small1 = rotate(late, 17) ^ rotate(late, 19) ^ (late >> 10)
            words[index] = words[index - 16] &+ small0 &+ words[index - 7] &+ small1
        }
        var (a, b, c, d) = (state[0], state[1], state[2], state[3])
        var (e, f, g, h) = (state[4], state[5], state[6], state[7])
        for index in 0..<64 {
            let big1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)
            let choice = (e & f) ^ (~e & g)
            let first = h &+ big1 &+ choice &+ Self.constants[index] &+ words[index]
            let big0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)
            let majority = (a & b) ^ (a & c) ^ (b & c)
            (h, g, f, e, d, c, b, a) = (g, f, e, d &+ first, c, b, a, first &+ big0 &+ majority)
        }
        for (index, value) in [a, b, c, d, e, f, g, h].enumerated() { state[index] &+= value }
    }

    private func rotate(_ word: UInt32, _ count: UInt32) -> UInt32 {
        word >> count | word << (32 - count)
    }

    private static let constants: [UInt32] = SHA2Constants.words.map { UInt32($0 >> 32) }
}
