import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import OpenCoreDataModel

@Suite("SHA-2")
struct SHA2Tests {
    private func hex(_ bytes: [UInt8]) -> String {
        bytes.map { String(UInt16($0) + 0x100, radix: 16).dropFirst() }.joined()
    }

    /// The examples of FIPS 180-4's companion documents.
    @Test func sha256GivesThePublishedDigests() {
        var empty = SHA256()
        empty.update("")
        #expect(hex(empty.finalize()) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
        var abc = SHA256()
        abc.update("a")
        abc.update("bc")
        #expect(hex(abc.finalize()) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        var two = SHA256()
        two.update("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")
        #expect(hex(two.finalize()) == "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1")
    }

    @Test(.long) func sha256GivesThePublishedDigestOfAMillionLetters() {
        var long = SHA256()
        long.update([UInt8](repeating: 0x61, count: 1_000_000))
        #expect(hex(long.finalize()) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
    }

    @Test func sha512GivesThePublishedDigests() {
        var abc = SHA512()
        abc.update("abc")
        #expect(
            hex(abc.finalize())
                == "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
                + "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f")
        var two = SHA512()
        two.update(
            "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmno"
                + "ijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu")
        #expect(
            hex(two.finalize())
                == "8e959b75dae313da8cf4f72814fc143f8f7779c6eb9f7fa17299aeadb6889018"
                + "501d289e4900f7e4331b99dec4b5433ac7d329eeb6dd26545e96e55b874be909")
    }

    @Test(arguments: 0..<300)
    func lengthsAroundBlockBordersArePadded(length: Int) {
        let message = [UInt8](repeating: 7, count: length)
        var whole = SHA256()
        whole.update(message)
        var pieces = SHA256()
        for byte in message { pieces.update([byte]) }
        #expect(whole.finalize() == pieces.finalize())
    }
}
