import Foundation

/// A snapshot of sections and items as the delegate of a fetched results controller gets it.
///
/// `snapshot as NSDiffableDataSourceSnapshot<String, NSManagedObjectID>` gives the typed form.
///
/// Source: <https://developer.apple.com/documentation/uikit/nsdiffabledatasourcesnapshotreference>
///
/// ```swift
/// let typed = snapshot as NSDiffableDataSourceSnapshot<String, NSManagedObjectID>
/// for section in typed.sectionIdentifiers {
///     print(section, typed.itemIdentifiers(inSection: section).count)
/// }
/// ```
public final class NSDiffableDataSourceSnapshotReference: NSObject, NSCopying {
    typealias Storage = NSDiffableDataSourceSnapshot<AnyHashable, AnyHashable>

    private var filled: Storage?
    private var make: (() -> Storage)?

    /// A snapshot that is filled when it is first used.
    init(make: @escaping () -> Storage) { self.make = make }

    /// A snapshot without sections.
    public override init() { filled = Storage() }

    /// The sections and items, made at the first access.
    var storage: Storage {
        get {
            fill()
            return filled ?? Storage()
        }
        set { (filled, make) = (newValue, nil) }
    }

    func fill() {
        guard let make else { return }
        (filled, self.make) = (make(), nil)
    }

    // MARK: Looking

    /// The number of items.
    public var numberOfItems: Int { storage.numberOfItems }
    /// The number of sections.
    public var numberOfSections: Int { storage.numberOfSections }
    /// The sections, in order.
    public var sectionIdentifiers: [Any] { storage.sectionIdentifiers.map(\.base) }
    /// The items of all sections, in order.
    public var itemIdentifiers: [Any] { storage.itemIdentifiers.map(\.base) }
    /// The sections that were marked to be shown again.
    public var reloadedSectionIdentifiers: [Any] { storage.reloadedSectionIdentifiers.map(\.base) }
    /// The items that were marked to be shown again.
    public var reloadedItemIdentifiers: [Any] { storage.reloadedItemIdentifiers.map(\.base) }
    /// The items that were marked to be shown again in the views that they have.
    public var reconfiguredItemIdentifiers: [Any] { storage.reconfiguredItemIdentifiers.map(\.base) }

    /// The number of items in a section.
    public func numberOfItems(inSection identifier: Any) -> Int { storage.numberOfItems(inSection: key(identifier)) }
    /// The items of a section, in order.
    public func itemIdentifiersInSection(withIdentifier identifier: Any) -> [Any] {
        storage.itemIdentifiers(inSection: key(identifier)).map(\.base)
    }
    /// The section of an item; nil if the item is not in the snapshot.
    public func sectionIdentifier(forSectionContainingItemIdentifier identifier: Any) -> Any? {
        storage.sectionIdentifier(containingItem: key(identifier))?.base
    }
    /// The place of an item among those of all sections; `NSNotFound` if it is not in the snapshot.
    public func index(ofItemIdentifier identifier: Any) -> Int { storage.indexOfItem(key(identifier)) ?? NSNotFound }
    /// The place of a section; `NSNotFound` if it is not in the snapshot.
    public func index(ofSectionIdentifier identifier: Any) -> Int {
        storage.indexOfSection(key(identifier)) ?? NSNotFound
    }

    // MARK: Items

    /// Adds items at the end of the last section.
    public func appendItems(withIdentifiers identifiers: [Any]) { storage.appendItems(keys(identifiers)) }
    /// Adds items at the end of a section.
    public func appendItems(withIdentifiers identifiers: [Any], intoSectionWithIdentifier section: Any) {
        storage.appendItems(keys(identifiers), toSection: key(section))
    }
    /// Adds items before another.
    public func insertItems(withIdentifiers identifiers: [Any], beforeItemWithIdentifier item: Any) {
        storage.insertItems(keys(identifiers), beforeItem: key(item))
    }
    /// Adds items after another.
    public func insertItems(withIdentifiers identifiers: [Any], afterItemWithIdentifier item: Any) {
        storage.insertItems(keys(identifiers), afterItem: key(item))
    }
    /// Removes items.
    public func deleteItems(withIdentifiers identifiers: [Any]) { storage.deleteItems(keys(identifiers)) }
    /// Removes all items and all sections.
    public func deleteAllItems() { storage.deleteAllItems() }
    /// Moves an item before another.
    public func moveItem(withIdentifier identifier: Any, beforeItemWithIdentifier item: Any) {
        storage.moveItem(key(identifier), beforeItem: key(item))
    }
    /// Moves an item after another.
    public func moveItem(withIdentifier identifier: Any, afterItemWithIdentifier item: Any) {
        storage.moveItem(key(identifier), afterItem: key(item))
    }
    /// Marks items to be shown again.
    public func reloadItems(withIdentifiers identifiers: [Any]) { storage.reloadItems(keys(identifiers)) }
    /// Marks items to be shown again in the views that they have.
    public func reconfigureItems(withIdentifiers identifiers: [Any]) { storage.reconfigureItems(keys(identifiers)) }

    // MARK: Sections

    /// Adds empty sections at the end.
    public func appendSections(withIdentifiers identifiers: [Any]) { storage.appendSections(keys(identifiers)) }
    /// Adds empty sections before another.
    public func insertSections(withIdentifiers identifiers: [Any], beforeSectionWithIdentifier section: Any) {
        storage.insertSections(keys(identifiers), beforeSection: key(section))
    }
    /// Adds empty sections after another.
    public func insertSections(withIdentifiers identifiers: [Any], afterSectionWithIdentifier section: Any) {
        storage.insertSections(keys(identifiers), afterSection: key(section))
    }
    /// Removes sections with their items.
    public func deleteSections(withIdentifiers identifiers: [Any]) { storage.deleteSections(keys(identifiers)) }
    /// Moves a section with its items before another.
    public func moveSection(withIdentifier identifier: Any, beforeSectionWithIdentifier section: Any) {
        storage.moveSection(key(identifier), beforeSection: key(section))
    }
    /// Moves a section with its items after another.
    public func moveSection(withIdentifier identifier: Any, afterSectionWithIdentifier section: Any) {
        storage.moveSection(key(identifier), afterSection: key(section))
    }
    /// Marks sections to be shown again.
    public func reloadSections(withIdentifiers identifiers: [Any]) { storage.reloadSections(keys(identifiers)) }

    // MARK: Copies and identifiers

    public func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSDiffableDataSourceSnapshotReference()
        copy.storage = storage
        return copy
    }

    private func key(_ identifier: Any) -> AnyHashable {
        guard let key = identifier as? AnyHashable else {
            preconditionFailure("An identifier of a section or an item must be Hashable: \(identifier) is not.")
        }
        return key
    }

    private func keys(_ identifiers: [Any]) -> [AnyHashable] { identifiers.map(key) }
}

// Lets `as` turn one form into the other, as on a Mac.
extension NSDiffableDataSourceSnapshot: _ObjectiveCBridgeable {
    public func _bridgeToObjectiveC() -> NSDiffableDataSourceSnapshotReference {
        let reference = NSDiffableDataSourceSnapshotReference()
        reference.storage =
            mapped({ AnyHashable($0) }, { AnyHashable($0) }) ?? NSDiffableDataSourceSnapshot<AnyHashable, AnyHashable>()
        return reference
    }

    public static func _conditionallyBridgeFromObjectiveC(
        _ source: NSDiffableDataSourceSnapshotReference, result: inout NSDiffableDataSourceSnapshot?
    ) -> Bool {
        result = source.storage.mapped({ $0.base as? SectionIdentifierType }, { $0.base as? ItemIdentifierType })
        return result != nil
    }

    public static func _forceBridgeFromObjectiveC(
        _ source: NSDiffableDataSourceSnapshotReference, result: inout NSDiffableDataSourceSnapshot?
    ) {
        if _conditionallyBridgeFromObjectiveC(source, result: &result) { return }
        preconditionFailure(
            "The identifiers of the snapshot are not of the types \(SectionIdentifierType.self) and "
                + "\(ItemIdentifierType.self)."
        )
    }

    public static func _unconditionallyBridgeFromObjectiveC(
        _ source: NSDiffableDataSourceSnapshotReference?
    ) -> NSDiffableDataSourceSnapshot {
        var result: NSDiffableDataSourceSnapshot?
        if let source { _forceBridgeFromObjectiveC(source, result: &result) }
        return result ?? NSDiffableDataSourceSnapshot()
    }

    /// The snapshot with converted identifiers; nil if an identifier cannot be converted.
    private func mapped<Section: Hashable, Item: Hashable>(
        _ section: (SectionIdentifierType) -> Section?, _ item: (ItemIdentifierType) -> Item?
    ) -> NSDiffableDataSourceSnapshot<Section, Item>? {
        var result = NSDiffableDataSourceSnapshot<Section, Item>()
        for identifier in sectionIdentifiers {
            guard let name = section(identifier) else { return nil }
            let items = itemIdentifiers(inSection: identifier)
            let mapped = items.compactMap(item)
            if mapped.count != items.count { return nil }
            result.appendSections([name])
            result.appendItems(mapped, toSection: name)
        }
        result.reloadSections(reloadedSectionIdentifiers.compactMap(section))
        result.reloadItems(reloadedItemIdentifiers.compactMap(item))
        result.reconfigureItems(reconfiguredItemIdentifiers.compactMap(item))
        return result
    }
}
