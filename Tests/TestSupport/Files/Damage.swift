import Foundation

/// Ways to damage a file.
public enum Damage {
    /// The bytes with some random damage: bits turned, bytes changed, removed, doubled or swapped,
    /// or the end cut off.
    public static func some(to data: Data, _ generator: inout SeededGenerator) -> Data {
        var bytes = [UInt8](data)
        for _ in 0..<Int.random(in: 1...4, using: &generator) {
            guard !bytes.isEmpty else { break }
            let place = Int.random(in: 0..<bytes.count, using: &generator)
            let other = Int.random(in: 0..<bytes.count, using: &generator)
            let length = min(Int.random(in: 1...40, using: &generator), bytes.count - place)
            switch Int.random(in: 0..<10, using: &generator) {
            case 0...3: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            case 4, 5: bytes[place] = UInt8.random(in: 0...255, using: &generator)
            case 6: bytes.swapAt(place, other)
            case 7: bytes.removeSubrange(place..<place + length)
            case 8: bytes.insert(contentsOf: bytes[place..<place + length], at: other)
            default: bytes.removeLast(Int.random(in: 0..<bytes.count, using: &generator))
            }
        }
        return Data(bytes)
    }
}
