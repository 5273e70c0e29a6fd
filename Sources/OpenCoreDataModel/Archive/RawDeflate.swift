import CZlib
import Foundation

/// The compression that stores use for their model: DEFLATE without zlib's header (window bits
/// -15).
enum RawDeflate {
    /// Far more than any model needs, far less than memory.
    static let sizeLimit = 64 << 20

    /// - Throws: `ModelReadingError` when the data is damaged or unfolds to more than `sizeLimit`.
    static func inflate(_ data: Data) throws -> Data {
        var stream = z_stream()
        guard inflateInit2_(&stream, -15, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
            throw ModelReadingError.damagedArchive("The decompressor could not be started.")
        }
        defer { inflateEnd(&stream) }
        var input = [UInt8](data)
        var output = [UInt8](repeating: 0, count: 64 << 10)
        var result = Data()
        return try input.withUnsafeMutableBufferPointer { input in
            stream.next_in = input.baseAddress
            stream.avail_in = UInt32(truncatingIfNeeded: input.count)
            while true {
                let (status, produced) = output.withUnsafeMutableBufferPointer { output in
                    stream.next_out = output.baseAddress
                    stream.avail_out = UInt32(output.count)
                    let status = CZlib.inflate(&stream, Z_NO_FLUSH)
                    return (status, output.count - Int(stream.avail_out))
                }
                result.append(contentsOf: output[..<produced])
                if status == Z_STREAM_END { return result }
                guard status == Z_OK, produced > 0 || stream.avail_in > 0, result.count <= sizeLimit else {
                    throw ModelReadingError.damagedArchive("The compressed model is damaged, cut off or far too large.")
                }
            }
        }
    }

    /// - Throws: `ModelReadingError` when there is not enough memory.
    static func deflate(_ data: Data) throws -> Data {
        var stream = z_stream()
        let started = deflateInit2_(
            &stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
            Int32(MemoryLayout<z_stream>.size))
        guard started == Z_OK else {
            throw ModelReadingError.damagedArchive("The compressor could not be started.")
        }
        defer { deflateEnd(&stream) }
        var input = [UInt8](data)
        var output = [UInt8](repeating: 0, count: Int(deflateBound(&stream, UInt(data.count))))
        let written: Int? = input.withUnsafeMutableBufferPointer { input in
            output.withUnsafeMutableBufferPointer { output in
                stream.next_in = input.baseAddress
                stream.avail_in = UInt32(truncatingIfNeeded: input.count)
                stream.next_out = output.baseAddress
                stream.avail_out = UInt32(truncatingIfNeeded: output.count)
                guard CZlib.deflate(&stream, Z_FINISH) == Z_STREAM_END else { return nil }
                return output.count - Int(stream.avail_out)
            }
        }
        guard let written else { throw ModelReadingError.damagedArchive("The model could not be compressed.") }
        return Data(output[..<written])
    }
}
