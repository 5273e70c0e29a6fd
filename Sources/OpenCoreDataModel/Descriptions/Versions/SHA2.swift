/// SHA-256 (FIPS 180-4).
typealias SHA256 = SHA2<UInt32>
/// SHA-512 (FIPS 180-4).
typealias SHA512 = SHA2<UInt64>

/// A hash of the SHA-2 family (FIPS 180-4), by the type of the words it works on. Cost: O(number of
/// bytes).
struct SHA2<Word: SHA2Word> {
    private var state = Word.initialState
    private var pending: [UInt8] = []
    private var length: UInt64 = 0

    private static var wordBytes: Int { Word.bitWidth / 8 }
    private static var blockBytes: Int { 16 * wordBytes }

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
            (h, g, f, e, d, c, b, a) = (g, f, e, d &+ first, c, b, a, first &+ Word.big0.applied(to: a) &+ majority)
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

/// The constants of SHA-512. They are the first 64 bits of the fractional parts of the cube roots
/// of the first 80 primes. The upper halves of the first 64 are those of SHA-256.
enum SHA2Constants {
    static let words: [UInt64] = [
        0x428a_2f98_d728_ae22, 0x7137_4491_23ef_65cd, 0xb5c0_fbcf_ec4d_3b2f, 0xe9b5_dba5_8189_dbbc,
        0x3956_c25b_f348_b538, 0x59f1_11f1_b605_d019, 0x923f_82a4_af19_4f9b, 0xab1c_5ed5_da6d_8118,
        0xd807_aa98_a303_0242, 0x1283_5b01_4570_6fbe, 0x2431_85be_4ee4_b28c, 0x550c_7dc3_d5ff_b4e2,
        0x72be_5d74_f27b_896f, 0x80de_b1fe_3b16_96b1, 0x9bdc_06a7_25c7_1235, 0xc19b_f174_cf69_2694,
        0xe49b_69c1_9ef1_4ad2, 0xefbe_4786_384f_25e3, 0x0fc1_9dc6_8b8c_d5b5, 0x240c_a1cc_77ac_9c65,
        0x2de9_2c6f_592b_0275, 0x4a74_84aa_6ea6_e483, 0x5cb0_a9dc_bd41_fbd4, 0x76f9_88da_8311_53b5,
        0x983e_5152_ee66_dfab, 0xa831_c66d_2db4_3210, 0xb003_27c8_98fb_213f, 0xbf59_7fc7_beef_0ee4,
        0xc6e0_0bf3_3da8_8fc2, 0xd5a7_9147_930a_a725, 0x06ca_6351_e003_826f, 0x1429_2967_0a0e_6e70,
        0x27b7_0a85_46d2_2ffc, 0x2e1b_2138_5c26_c926, 0x4d2c_6dfc_5ac4_2aed, 0x5338_0d13_9d95_b3df,
        0x650a_7354_8baf_63de, 0x766a_0abb_3c77_b2a8, 0x81c2_c92e_47ed_aee6, 0x9272_2c85_1482_353b,
        0xa2bf_e8a1_4cf1_0364, 0xa81a_664b_bc42_3001, 0xc24b_8b70_d0f8_9791, 0xc76c_51a3_0654_be30,
        0xd192_e819_d6ef_5218, 0xd699_0624_5565_a910, 0xf40e_3585_5771_202a, 0x106a_a070_32bb_d1b8,
        0x19a4_c116_b8d2_d0c8, 0x1e37_6c08_5141_ab53, 0x2748_774c_df8e_eb99, 0x34b0_bcb5_e19b_48a8,
        0x391c_0cb3_c5c9_5a63, 0x4ed8_aa4a_e341_8acb, 0x5b9c_ca4f_7763_e373, 0x682e_6ff3_d6b2_b8a3,
        0x748f_82ee_5def_b2fc, 0x78a5_636f_4317_2f60, 0x84c8_7814_a1f0_ab72, 0x8cc7_0208_1a64_39ec,
        0x90be_fffa_2363_1e28, 0xa450_6ceb_de82_bde9, 0xbef9_a3f7_b2c6_7915, 0xc671_78f2_e372_532b,
        0xca27_3ece_ea26_619c, 0xd186_b8c7_21c0_c207, 0xeada_7dd6_cde0_eb1e, 0xf57d_4f7f_ee6e_d178,
        0x06f0_67aa_7217_6fba, 0x0a63_7dc5_a2c8_98a6, 0x113f_9804_bef9_0dae, 0x1b71_0b35_131c_471b,
        0x28db_77f5_2304_7d84, 0x32ca_ab7b_40c7_2493, 0x3c9e_be0a_15c9_bebc, 0x431d_67c4_9c10_0d4c,
        0x4cc5_d4be_cb3e_42b6, 0x597f_299c_fc65_7e2a, 0x5fcb_6fab_3ad6_faec, 0x6c44_198c_4a47_5817,
    ]
}
