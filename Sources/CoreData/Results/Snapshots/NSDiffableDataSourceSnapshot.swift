/// Sections and the items in them, by their identifiers, in order.
///
/// It has the shape of the type of that name in UIKit and AppKit, for the delegates of fetched
/// results controllers; it drives no view. It contains each identifier once: adding one again, and
/// naming one that is not there, are programming errors.
///
/// Source: <https://developer.apple.com/documentation/uikit/nsdiffabledatasourcesnapshot>
///
/// ```swift
/// var snapshot = NSDiffableDataSourceSnapshot<String, Int>()
/// snapshot.appendSections(["open"])
/// snapshot.appendItems([3, 5], toSection: "open")
/// ```
public struct NSDiffableDataSourceSnapshot<SectionIdentifierType: Hashable, ItemIdentifierType: Hashable> {
    /// The sections, in order.
    public var sectionIdentifiers: [SectionIdentifierType] { order.map(\.identifier) }
    private var order: [SectionKey<SectionIdentifierType>] = []
    private var items: [SectionKey<SectionIdentifierType>: [ItemIdentifierType]] = [:]
    private var sections: [ItemIdentifierType: SectionKey<SectionIdentifierType>] = [:]
    /// The sections that were marked to be shown again.
    public private(set) var reloadedSectionIdentifiers: [SectionIdentifierType] = []
    /// The items that were marked to be shown again; from a fetched results controller, the changed
    /// items.
    public private(set) var reloadedItemIdentifiers: [ItemIdentifierType] = []
    /// The items that were marked to be shown again in the views that they have.
    public private(set) var reconfiguredItemIdentifiers: [ItemIdentifierType] = []

    /// A snapshot without sections.
    public init() {}

    // MARK: Looking

    /// The items of all sections, in order.
    ///
    /// Cost: O(number of items).
    public var itemIdentifiers: [ItemIdentifierType] { order.flatMap { items[$0] ?? [] } }

    /// The number of items.
    public var numberOfItems: Int { sections.count }

    /// The number of sections.
    public var numberOfSections: Int { order.count }

    /// The number of items in a section.
    public func numberOfItems(inSection identifier: SectionIdentifierType) -> Int {
        itemIdentifiers(inSection: identifier).count
    }

    /// The items of a section, in order.
    public func itemIdentifiers(inSection identifier: SectionIdentifierType) -> [ItemIdentifierType] {
        guard let items = items[SectionKey(identifier)] else {
            Self.stop("There is no section \(identifier) in the snapshot.")
        }
        return items
    }

    /// The section of an item; nil if the item is not in the snapshot.
    public func sectionIdentifier(containingItem identifier: ItemIdentifierType) -> SectionIdentifierType? {
        sections[identifier]?.identifier
    }

    /// The place of an item among those of all sections. Takes time for each section.
    public func indexOfItem(_ identifier: ItemIdentifierType) -> Int? {
        guard let section = sections[identifier] else { return nil }
        var index = 0
        for other in order {
            if other == section { break }
            index += items[other]?.count ?? 0
        }
        return items[section]?.firstIndex(of: identifier).map { index + $0 }
    }

    /// The place of a section.
    public func indexOfSection(_ identifier: SectionIdentifierType) -> Int? {
        order.firstIndex(of: SectionKey(identifier))
    }

    // MARK: Items

    /// Adds items at the end of a section, or of the last section if none is named.
    ///
    /// Cost: O(number of items added).
    ///
    /// ```swift
    /// snapshot.appendSections(["open", "done"])
    /// snapshot.appendItems([3, 5], toSection: "open")
    /// snapshot.appendItems([8])                               // to "done", the last section
    /// ```
    public mutating func appendItems(
        _ identifiers: [ItemIdentifierType], toSection section: SectionIdentifierType? = nil
    ) {
        guard let section = section.map({ SectionKey($0) }) ?? order.last else {
            Self.stop("The snapshot has no section to add items to.")
        }
        add(identifiers, to: section, at: itemIdentifiers(inSection: section.identifier).count)
    }

    /// Adds items before another.
    public mutating func insertItems(_ identifiers: [ItemIdentifierType], beforeItem item: ItemIdentifierType) {
        let (section, index) = place(of: item)
        add(identifiers, to: section, at: index)
    }

    /// Adds items after another.
    public mutating func insertItems(_ identifiers: [ItemIdentifierType], afterItem item: ItemIdentifierType) {
        let (section, index) = place(of: item)
        add(identifiers, to: section, at: index + 1)
    }

    /// Removes items. Items that are not in the snapshot are ignored.
    ///
    /// Cost: O(number of items in the sections concerned).
    public mutating func deleteItems(_ identifiers: [ItemIdentifierType]) {
        var gone: [SectionKey<SectionIdentifierType>: Set<ItemIdentifierType>] = [:]
        for identifier in identifiers {
            if let section = sections.removeValue(forKey: identifier) { gone[section, default: []].insert(identifier) }
        }
        for (section, identifiers) in gone { items[section]?.removeAll { identifiers.contains($0) } }
        reloadedItemIdentifiers.removeAll { sections[$0] == nil }
        reconfiguredItemIdentifiers.removeAll { sections[$0] == nil }
    }

    /// Removes all items and all sections.
    public mutating func deleteAllItems() { self = NSDiffableDataSourceSnapshot() }

    /// Moves an item before another, also into another section.
    ///
    /// ```swift
    /// snapshot.moveItem(5, beforeItem: 3)
    /// ```
    public mutating func moveItem(_ identifier: ItemIdentifierType, beforeItem item: ItemIdentifierType) {
        move(identifier, to: item, offset: 0)
    }

    /// Moves an item after another, also into another section.
    public mutating func moveItem(_ identifier: ItemIdentifierType, afterItem item: ItemIdentifierType) {
        move(identifier, to: item, offset: 1)
    }

    /// Marks items to be shown again.
    public mutating func reloadItems(_ identifiers: [ItemIdentifierType]) {
        for identifier in identifiers { _ = section(of: identifier) }
        reloadedItemIdentifiers += identifiers
    }

    /// Marks items to be shown again in the views that they have.
    public mutating func reconfigureItems(_ identifiers: [ItemIdentifierType]) {
        for identifier in identifiers { _ = section(of: identifier) }
        reconfiguredItemIdentifiers += identifiers
    }

    private mutating func add(
        _ identifiers: [ItemIdentifierType], to section: SectionKey<SectionIdentifierType>, at index: Int
    ) {
        for identifier in identifiers where sections.updateValue(section, forKey: identifier) != nil {
            Self.stop("The item \(identifier) is in the snapshot already.")
        }
        items[section]?.insert(contentsOf: identifiers, at: index)
    }

    private mutating func move(_ identifier: ItemIdentifierType, to item: ItemIdentifierType, offset: Int) {
        if identifier == item { Self.stop("The item \(item) cannot be moved before or after itself.") }
        let former = place(of: identifier)
        _ = place(of: item)
        items[former.section]?.remove(at: former.index)
        let next = place(of: item)
        items[next.section]?.insert(identifier, at: next.index + offset)
        sections[identifier] = next.section
    }

    private func section(of item: ItemIdentifierType) -> SectionKey<SectionIdentifierType> {
        guard let section = sections[item] else { Self.stop("There is no item \(item) in the snapshot.") }
        return section
    }

    private func place(of item: ItemIdentifierType) -> (section: SectionKey<SectionIdentifierType>, index: Int) {
        let section = section(of: item)
        return (section, items[section]?.firstIndex(of: item) ?? 0)
    }

    // MARK: Sections

    /// Adds empty sections at the end.
    public mutating func appendSections(_ identifiers: [SectionIdentifierType]) { add(identifiers, at: order.count) }

    /// Adds empty sections before another.
    public mutating func insertSections(
        _ identifiers: [SectionIdentifierType], beforeSection section: SectionIdentifierType
    ) {
        add(identifiers, at: index(of: section))
    }

    /// Adds empty sections after another.
    public mutating func insertSections(
        _ identifiers: [SectionIdentifierType], afterSection section: SectionIdentifierType
    ) {
        add(identifiers, at: index(of: section) + 1)
    }

    /// Removes sections with their items. Sections that are not in the snapshot are ignored.
    public mutating func deleteSections(_ identifiers: [SectionIdentifierType]) {
        for section in identifiers.map({ SectionKey($0) }) {
            deleteItems(items[section] ?? [])
            items[section] = nil
            order.removeAll { $0 == section }
            reloadedSectionIdentifiers.removeAll { SectionKey($0) == section }
        }
    }

    /// Moves a section with its items before another.
    public mutating func moveSection(_ identifier: SectionIdentifierType, beforeSection section: SectionIdentifierType)
    {
        move(identifier, to: section, offset: 0)
    }

    /// Moves a section with its items after another.
    public mutating func moveSection(_ identifier: SectionIdentifierType, afterSection section: SectionIdentifierType) {
        move(identifier, to: section, offset: 1)
    }

    /// Marks sections to be shown again.
    public mutating func reloadSections(_ identifiers: [SectionIdentifierType]) {
        for identifier in identifiers { _ = index(of: identifier) }
        reloadedSectionIdentifiers += identifiers
    }

    private mutating func add(_ identifiers: [SectionIdentifierType], at index: Int) {
        for identifier in identifiers where items.updateValue([], forKey: SectionKey(identifier)) != nil {
            Self.stop("The section \(identifier) is in the snapshot already.")
        }
        order.insert(contentsOf: identifiers.map { SectionKey($0) }, at: index)
    }

    private mutating func move(_ identifier: SectionIdentifierType, to section: SectionIdentifierType, offset: Int) {
        if SectionKey(identifier) == SectionKey(section) {
            Self.stop("The section \(section) cannot be moved before or after itself.")
        }
        let former = index(of: identifier)
        _ = index(of: section)
        let key = order.remove(at: former)
        order.insert(key, at: index(of: section) + offset)
    }

    private func index(of section: SectionIdentifierType) -> Int {
        guard let index = indexOfSection(section) else { Self.stop("There is no section \(section) in the snapshot.") }
        return index
    }

    private static func stop(_ message: String) -> Never { preconditionFailure(message) }
}

extension NSDiffableDataSourceSnapshot: Sendable where SectionIdentifierType: Sendable, ItemIdentifierType: Sendable {}

extension NSDiffableDataSourceSnapshot: Equatable {}

/// The identifier of a section in a hashable form. Texts are compared by their code points, because
/// the names of sections are values.
struct SectionKey<Identifier: Hashable>: Hashable {
    let identifier: Identifier

    init(_ identifier: Identifier) { self.identifier = identifier }

    static func == (left: SectionKey, right: SectionKey) -> Bool {
        guard left.identifier == right.identifier else { return false }
        guard let text = left.identifier as? String, let other = right.identifier as? String else { return true }
        return LiteralText.areSame(text, other)
    }

    // Texts with the same code points have the same hash as strings, too.
    func hash(into hasher: inout Hasher) { hasher.combine(identifier) }
}

extension SectionKey: Sendable where Identifier: Sendable {}
