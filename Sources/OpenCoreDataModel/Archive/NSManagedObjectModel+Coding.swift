import Foundation

extension NSManagedObjectModel {
    /// True: reading a model creates model descriptions and plain values only.
    public class var supportsSecureCoding: Bool { true }

    static let codingKey = "OpenCoreDataModel"

    /// Writes the model into an archive of the application's own, as one block of data.
    ///
    /// A model whose predicates hold closures cannot be archived; nothing is written for it. Not
    /// written are default values of the application's own classes, names for Spotlight, and the
    /// columns, groups and prefetched relationships of fetch request templates.
    ///
    /// ```swift
    /// let data = try NSKeyedArchiver.archivedData(
    ///     withRootObject: model, requiringSecureCoding: true)
    /// let again = try NSKeyedUnarchiver.unarchivedObject(
    ///     ofClass: NSManagedObjectModel.self, from: data)
    /// ```
    public func encode(with coder: NSCoder) {
        guard let data = try? archivedModel() else { return }
        coder.encode(data as NSData, forKey: Self.codingKey)
    }
}
