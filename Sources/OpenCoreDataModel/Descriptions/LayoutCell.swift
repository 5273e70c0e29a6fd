/// The place where an entity keeps its layout, beside the entity.
///
/// It is read for each object that is made, by another module: the access to a stored property of the entity itself would be checked for
/// exclusivity each time. It is as safe as that would be unchecked: set while the layouts are made, cleared when they go.
@usableFromInline
package struct LayoutCell {
    @usableFromInline package let address: UnsafeMutablePointer<Unmanaged<AnyObject>?>

    init() {
        address = .allocate(capacity: 1)
        address.initialize(to: nil)
    }

    /// Called in the entity's deinit.
    func deallocate() { address.deallocate() }
}

extension NSEntityDescription {
    /// The entity's layout in rows, unretained and opaque here, while the model's layouts exist.
    @inlinable
    package final var layoutReference: Unmanaged<AnyObject>? {
        get { layoutCell.address.pointee }
        set { layoutCell.address.pointee = newValue }
    }
}
