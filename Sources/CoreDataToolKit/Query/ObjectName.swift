import CoreData

/// The identity of an object as the command shows it: `Maker/p12`.
struct ObjectName: Equatable {
    let text: String
    /// The primary key; nil for an object that was never saved.
    let key: Int64?

    init(_ objectID: NSManagedObjectID) {
        // The URI is the only public access to the key.
        let uri = objectID.uriRepresentation().absoluteString
        let reference = uri.utf8.lastIndex(of: UInt8(ascii: "/")).map { uri[uri.index(after: $0)...] } ?? ""
        text = "\(objectID.entity.name ?? "")/\(reference)"
        key = reference.first == "p" ? Int64(reference.dropFirst()) : nil
    }
}
