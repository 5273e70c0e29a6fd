import Foundation

// Positions in lists of sections: code for results in sections expects these members, which
// Foundation on Linux lacks.
extension IndexPath {
    /// The index path of an item in a section.
    ///
    /// ```swift
    /// let path = IndexPath(item: 3, section: 0)
    /// print(path.section, path.item)
    /// ```
    public init(item: Int, section: Int) { self = [section, item] }

    /// The index path of a row in a section.
    public init(row: Int, section: Int) { self = [section, row] }

    /// The section: the first index.
    ///
    /// - Precondition: the path has two indexes.
    public var section: Int {
        get { self[0] }
        set { self[0] = newValue }
    }

    /// The position in the section: the second index.
    ///
    /// - Precondition: the path has two indexes.
    public var item: Int {
        get { self[1] }
        set { self[1] = newValue }
    }

    /// The position in the section: the second index.
    ///
    /// - Precondition: the path has two indexes.
    public var row: Int {
        get { self[1] }
        set { self[1] = newValue }
    }
}
