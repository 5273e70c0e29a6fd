import Foundation

// Places in lists of sections, which code for results in sections takes for granted and Foundation on Linux lacks.
extension IndexPath {
    /// The place of an item in a section.
    ///
    /// ```swift
    /// let path = IndexPath(item: 3, section: 0)
    /// print(path.section, path.item)
    /// ```
    public init(item: Int, section: Int) { self = [section, item] }

    /// The place of a row in a section.
    public init(row: Int, section: Int) { self = [section, row] }

    /// The section: the first index.
    ///
    /// - Precondition: the path has two indexes.
    public var section: Int {
        get { self[0] }
        set { self[0] = newValue }
    }

    /// The place in the section: the second index.
    ///
    /// - Precondition: the path has two indexes.
    public var item: Int {
        get { self[1] }
        set { self[1] = newValue }
    }

    /// The place in the section: the second index.
    ///
    /// - Precondition: the path has two indexes.
    public var row: Int {
        get { self[1] }
        set { self[1] = newValue }
    }
}
