/// SHA-512 (FIPS 180-4). Cost: O(number of bytes).
struct SHA512 {
    private var state: [UInt64] = [
        0x6a09_e667_f3bc_c908, 0xbb67_ae85_84ca_a73b, 0x3c6e_f372_fe94_f82b, 0xa54f_f53a_5f1d_36f1,
        0x510e_527f_ade6_82d1, 0x9b05_688c_2b3e_6c1f, 0x1f83_d9ab_fb41_bd6b, 0x5be0_cd19_137e_2179,
    ]
    private var pending: [UInt8] = []
    private var length: UInt64 = 0

    /// Adds bytes to the message.
    mutating func update(_ bytes: [UInt8]) {
        length &+= UInt64(bytes.count)
        pending += bytes
        var start = 0
        while pending.count - start >= 128 {
            compress(pending, at: start)
            start += 128
        }
        pending.removeFirst(start)
    }

    /// Adds a text as UTF-8.
    mutating func update(_ text: String) {
        update(Array(text.utf8))
    }

    /// Ends the message and returns its 64-byte digest.
    consuming func finalize() -> [UInt8] {
        let bits = length &* 8
        // The length takes 16 bytes, of which the upper 8 are always zero here.
        update([0x80] + [UInt8](repeating: 0, count: (239 - pending.count) % 128 + 8))
        update((0..<8).map { UInt8(truncatingIfNeeded: bits >> (56 - $0 * 8)) })
        return state.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - $0 * 8)) } }
    }

    private mutating func compress(_ bytes: [UInt8], at start: Int) {
        var words = [UInt64](repeating: 0, count: 80)
        for index in 0..<16 {
            words[index] = (0..<8).reduce(0) { $0 << 8 | UInt64(bytes[start + index * 8 + $1]) }
        }
        for index in 16..<80 {
            let early = words[index - 15]
            let late = words[index - 2]
            let small0 = rotate(early, 1) ^ rotate(early, 8) ^ (early >> 7)
            let small1 = rotate(late, 19) ^ rotate(late, 61) ^ (late >> 6)
            words[index] = words[index - 16] &+ small0 &+ words[index - 7] &+ small1
        }
        var (a, b, c, d) = (state[0], state[1], state[2], state[3])
        var (e, f, g, h) = (state[4], state[5], state[6], state[7])
        for index in 0..<80 {
            let big1 = rotate(e, 14) ^ rotate(e, 18) ^ rotate(e, 41)
            let choice = (e & f) ^ (~e & g)
            let first = h &+ big1 &+ choice &+ SHA2Constants.words[index] &+ words[index]
            let big0 = rotate(a, 28) ^ rotate(a, 34) ^ rotate(a, 39)
            let majority = (a & b) ^ (a & c) ^ (b & c)
            (h, g, f, e, d, c, b, a) = (g, f, e, d &+ first, c, b, a, first &+ big0 &+ majority)
        }
        for (index, value) in [a, b, c, d, e, f, g, h].enumerated() { state[index] &+= value }
    }

    private func rotate(_ word: UInt64, _ count: UInt64) -> UInt64 {
        word >> count | word << (64 - count)
    }
}
