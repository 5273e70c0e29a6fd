/// The cases of enumerations that do not list them by `CaseIterable`.
package enum EnumerationCases {
    /// Returns all values of an enumeration without associated values; empty for other types. The
    /// number of cases is read from the type's description, whose layout Swift's ABI fixes. Without
    /// associated values, a value is the number of its case, in as many bytes as the number needs.
    package static func all<Value>(of type: Value.Type) -> [Value] {
        guard _isPOD(type) else { return [] }
        // A metatype is a pointer to metadata. The metadata begins with its kind; in enumerations
        // the description follows.
        let metadata = unsafeBitCast(type as Any.Type, to: UnsafePointer<UInt>.self)
        guard metadata[0] == enumerationKind, let description = UnsafePointer<UInt32>(bitPattern: metadata[1]) else {
            return []
        }
        let withPayload = description[payloadCasesField] & 0x00FF_FFFF
        guard withPayload == 0 else { return [] }
        return (0..<description[emptyCasesField]).compactMap { number in
            switch MemoryLayout<Value>.size {
            case 0: unsafeBitCast((), to: type)
            case 1: unsafeBitCast(UInt8(truncatingIfNeeded: number), to: type)
            case 2: unsafeBitCast(UInt16(truncatingIfNeeded: number), to: type)
            default: nil
            }
        }
    }

    private static let enumerationKind: UInt = 0x201
    /// The fields of the description are 32 bits wide. Before these two fields come flags, parent,
    /// name, access function and fields.
    private static let payloadCasesField = 5
    private static let emptyCasesField = 6
}
