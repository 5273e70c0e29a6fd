/// SHA-256 (FIPS 180-4).
typealias SHA256 = SHA2<UInt32>
/// SHA-512 (FIPS 180-4).
typealias SHA512 = SHA2<UInt64>

/// A hash of the SHA-2 family (FIPS 180-4), by the type of the words it works on.
///
/// Cost: O(number of bytes).
struct SHA2<Word: SHA2Word> {
    private var state = Word.initialState
    private var pending: [UInt8] = []
    private var length: UInt64 = 0

    private static var wordBytes: Int { Word.bitWidth / 8 }
    private static var blockBytes: Int { 16 * wordBytes }

    /// Adds bytes to the message.
    mutating func update(_ bytes: [UInt8]) {
        length &+= UInt64(bytes.count)
        pending += bytes
        var start = 0
        while pending.count - start >= Self.blockBytes {
            compress(pending, at: start)
            start += Self.blockBytes
        }
        pending.removeFirst(start)
    }

    /// Adds a text as UTF-8.
    mutating func update(_ text: String) {
        update(Array(text.utf8))
    }

    /// Ends the message and returns its digest of eight words.
    consuming func finalize() -> [UInt8] {
        let bits = length &* 8
        // The length takes two words; it fits into the last eight bytes of them.
        let lengthBytes = 2 * Self.wordBytes
        let zeros = (2 * Self.blockBytes - 1 - lengthBytes - pending.count) % Self.blockBytes + lengthBytes - 8
        update([0x80] + [UInt8](repeating: 0, count: zeros))
        update((0..<8).map { UInt8(truncatingIfNeeded: bits >> (56 - $0 * 8)) })
        return state.flatMap { word in
            (0..<Self.wordBytes).map { UInt8(truncatingIfNeeded: word >> Word(Word.bitWidth - 8 - $0 * 8)) }
        }
    }

    private mutating func compress(_ bytes: [UInt8], at start: Int) {
        var words = [Word](repeating: 0, count: Word.constants.count)
        for index in 0..<16 {
            words[index] = (0..<Self.wordBytes).reduce(0) { $0 << 8 | Word(bytes[start + index * Self.wordBytes + $1]) }
        }
        for index in 16..<words.count {
            words[index] =
                words[index - 16] &+ Word.small0.applied(to: words[index - 15]) &+ words[index - 7]
                &+ Word.small1.applied(to: words[index - 2])
        }
        var (a, b, c, d) = (state[0], state[1], state[2], state[3])
        var (e, f, g, h) = (state[4], state[5], state[6], state[7])
        for index in 0..<words.count {
            let choice = (e & f) ^ (~e & g)
            let first = h &+ Word.big1.applied(to: e) &+ choice &+ Word.constants[index] &+ words[index]
            let majority = (a & b) ^ (a & c) ^ (b & c)
            (h, g, f, e, d, c, b, a) = (
                g, f, e, d &+ first, c, b, a, first &+ Word.big0.applied(to: a) &+ majority
            )
        }
        for (index, value) in [a, b, c, d, e, f, g, h].enumerated() { state[index] &+= value }
    }
}

/// A word of SHA-2, with the values that the standard defines for its width.
protocol SHA2Word: FixedWidthInteger, UnsignedInteger {
    /// Eight words.
    static var initialState: [Self] { get }
    /// One for each round.
    static var constants: [Self] { get }
    static var small0: SHA2Mixing<Self> { get }
    static var small1: SHA2Mixing<Self> { get }
    static var big0: SHA2Mixing<Self> { get }
    static var big1: SHA2Mixing<Self> { get }
}

/// A word rotated by two distances, and rotated or shifted by a third, combined by exclusive or.
struct SHA2Mixing<Word: FixedWidthInteger & UnsignedInteger> {
    let first: Word
    let second: Word
    let third: Word
    var shifts = false

    func applied(to word: Word) -> Word {
        Self.rotate(word, first) ^ Self.rotate(word, second) ^ (shifts ? word >> third : Self.rotate(word, third))
    }

    private static func rotate(_ word: Word, _ count: Word) -> Word {
        word >> count | word << (Word(Word.bitWidth) - count)
    }
}

extension UInt32: SHA2Word {
    static let initialState: [UInt32] = UInt64.initialState.map { UInt32($0 >> 32) }
    static let constants: [UInt32] = SHA2Constants.words.prefix(64).map { UInt32($0 >> 32) }
    static var small0: SHA2Mixing<UInt32> { .init(first: 7, second: 18, third: 3, shifts: true) }
    static var small1: SHA2Mixing<UInt32> { .init(first: 17, second: 19, third: 10, shifts: true) }
    static var big0: SHA2Mixing<UInt32> { .init(first: 2, second: 13, third: 22) }
    static var big1: SHA2Mixing<UInt32> { .init(first: 6, second: 11, third: 25) }
}

extension UInt64: SHA2Word {
    /// The upper halves are those of SHA-256.
    static let initialState: [UInt64] = [
        0x6a09_e667_f3bc_c908, 0xbb67_ae85_84ca_a73b, 0x3c6e_f372_fe94_f82b, 0xa54f_f53a_5f1d_36f1,
        0x510e_527f_ade6_82d1, 0x9b05_688c_2b3e_6c1f, 0x1f83_d9ab_fb41_bd6b, 0x5be0_cd19_137e_2179,
    ]
    static var constants: [UInt64] { SHA2Constants.words }
    static var small0: SHA2Mixing<UInt64> { .init(first: 1, second: 8, third: 7, shifts: true) }
    static var small1: SHA2Mixing<UInt64> { .init(first: 19, second: 61, third: 6, shifts: true) }
    static var big0: SHA2Mixing<UInt64> { .init(first: 28, second: 34, third: 39) }
    static var big1: SHA2Mixing<UInt64> { .init(first: 14, second: 18, third: 41) }
}
