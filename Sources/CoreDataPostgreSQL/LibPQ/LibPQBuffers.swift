import CPostgreSQL
import CoreData

/// The addresses of a row's columns while the row is handed out. It is reused for all rows of a
/// connection.
struct RowBuffer: ~Copyable {
    private var capacity = 0
    private var values = UnsafeMutablePointer<UnsafePointer<UInt8>?>.allocate(capacity: 0)
    private var lengths = UnsafeMutablePointer<Int32>.allocate(capacity: 0)
    private var types = UnsafeMutablePointer<UInt32>.allocate(capacity: 0)

    deinit {
        values.deallocate()
        lengths.deallocate()
        types.deallocate()
    }

    /// Prepares for the columns of a statement's result.
    mutating func begin(_ result: OpaquePointer) {
        let count = Int(PQnfields(result))
        if count > capacity {
            values.deallocate()
            lengths.deallocate()
            types.deallocate()
            capacity = max(count, 16)
            values = .allocate(capacity: capacity)
            lengths = .allocate(capacity: capacity)
            types = .allocate(capacity: capacity)
        }
        for column in 0..<count { types[column] = PQftype(result, Int32(column)) }
    }

    /// Hands out the rows of a result, or of a part of one.
    ///
    /// The addresses are those of the result itself, which lives as long as the call.
    borrowing func handOut(_ result: OpaquePointer, _ rows: (WireRow) throws -> Void) throws {
        let columns = PQnfields(result)
        for row in 0..<PQntuples(result) {
            for column in 0..<columns {
                let length = PQgetlength(result, row, column)
                lengths[Int(column)] = length
                // A length other than 0 shows that there is a value, so most values need no second
                // call.
                if length == 0, PQgetisnull(result, row, column) != 0 {
                    values[Int(column)] = nil
                } else {
                    values[Int(column)] = UnsafeRawPointer(PQgetvalue(result, row, column)).map {
                        $0.assumingMemoryBound(to: UInt8.self)
                    }
                }
            }
            try rows(WireRow(count: Int(columns), values: values, lengths: lengths, types: types))
        }
    }
}

/// The addresses of a statement's arguments while it is sent. It is reused for all statements of a
/// connection.
struct ArgumentBuffer: ~Copyable {
    private var capacity = 0
    private var values = UnsafeMutablePointer<UnsafePointer<CChar>?>.allocate(capacity: 0)
    /// As many ones, the code for the binary format.
    private var formats = UnsafeMutablePointer<Int32>.allocate(capacity: 0)

    deinit {
        values.deallocate()
        formats.deallocate()
    }

    /// Calls a function of the library with the count, types, addresses, lengths and formats of
    /// arguments.
    mutating func with<Result>(
        _ arguments: WireArguments,
        _ body: (
            Int32, UnsafePointer<UInt32>?, UnsafePointer<UnsafePointer<CChar>?>, UnsafePointer<Int32>?,
            UnsafePointer<Int32>
        ) -> Result
    ) -> Result {
        let count = arguments.count
        if count > capacity {
            values.deallocate()
            formats.deallocate()
            capacity = max(count, 16)
            values = .allocate(capacity: capacity)
            formats = .allocate(capacity: capacity)
            formats.initialize(repeating: 1, count: capacity)
        }
        return arguments.bytes.withUnsafeBytes { bytes in
            arguments.lengths.withUnsafeBufferPointer { lengths in
                arguments.offsets.withUnsafeBufferPointer { offsets in
                    // Where all values are empty there may be no bytes, but an empty value needs an
                    // address all the same.
                    let start = bytes.baseAddress ?? UnsafeRawPointer(formats)
                    for place in 0..<count {
                        values[place] =
                            lengths[place] < 0 ? nil : (start + offsets[place]).assumingMemoryBound(to: CChar.self)
                    }
                    return arguments.types.withUnsafeBufferPointer { types in
                        body(Int32(count), types.baseAddress, values, lengths.baseAddress, formats)
                    }
                }
            }
        }
    }
}
