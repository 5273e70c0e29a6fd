/// The place where an entity stores its layout, outside of the entity itself.
///
/// Another module reads it for each new object. Swift would check each access to a stored property
/// of the entity itself for exclusivity. The cell is as safe as an unchecked property: it is set
/// while the layouts are made, and cleared when they are released.
@usableFromInline
struct LayoutCell {
    @usableFromInline let address: UnsafeMutablePointer<Unretained<AnyObject>?>

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
    package final var layoutReference: Unretained<AnyObject>? {
        get { layoutCell.address.pointee }
        set { layoutCell.address.pointee = newValue }
    }
}
