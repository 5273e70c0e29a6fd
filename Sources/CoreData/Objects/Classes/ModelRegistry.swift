import Foundation
import Synchronization

/// The models that coordinators of this process use, so that a class can find its entity.
final class ModelRegistry: Sendable {
    static let shared = ModelRegistry()

    private struct WeakLayout {
        weak var layout: ModelLayout?
    }

    /// Guards the list of layouts in use, newest last.
    private let layouts = Mutex<[WeakLayout]>([])

    func add(_ layout: ModelLayout) {
        layouts.withLock { layouts in
            layouts.removeAll { $0.layout == nil || $0.layout === layout }
            layouts.append(WeakLayout(layout: layout))
        }
    }

    /// The entity whose class this is, if one entity alone has it, in the most recently used model.
    func entity(for objectClass: NSManagedObject.Type) -> NSEntityDescription? {
        let alive = layouts.withLock { $0.compactMap(\.layout) }
        for layout in alive.reversed() {
            if let indexes = layout.layoutsByClass[ObjectIdentifier(objectClass)], indexes.count == 1 {
                return layout.layouts[indexes[0]].entity
            }
        }
        return nil
    }
}

extension NSEntityDescription {
    /// The layouts of the entity's model. They live only as long as a caller keeps them.
    var modelLayouts: ModelLayout {
        guard let model = owningModel else {
            preconditionFailure(
                "The entity \(name ?? "without a name") belongs to no model: add it to one before making objects.")
        }
        return model.objectLayouts()
    }

    /// The layout that objects refer to; nil until the model's layouts are ready.
    @inline(__always)
    final var objectLayoutReference: Unretained<ObjectLayout>? {
        guard let layoutReference else { return nil }
        return layoutReference.withObject { layout -> Unretained<ObjectLayout>? in
            // Only layouts are ever stored there, and only object layouts are attached to them.
            guard let companion = unsafeDowncast(layout, to: EntityLayout.self).companion else { return nil }
            return Unretained(pointer: companion.pointer)
        }
    }

    /// Makes the model's layouts ready for objects.
    // Never inlined: few objects come here, and all other objects would pay for its variables.
    @inline(never)
    final func makeObjectLayout(keptAliveBy layouts: inout ModelLayout?) -> Unretained<ObjectLayout> {
        layouts = modelLayouts
        return Unretained(resolvedLayout.objects)
    }

    /// The class of the entity's objects; found by its name if it was not set.
    package var objectClass: NSManagedObject.Type {
        objectLayoutReference?.object.managedObjectClass
            ?? ManagedObjectClasses.managedObjectClass(for: self)
    }

    /// Sets the class of the entity's objects, and with it `managedObjectClassName`.
    package func setManagedObjectClass(_ objectClass: NSManagedObject.Type) { give(objectClass) }

    /// The entity's layout. On first use makes the model's layouts, which freezes the model.
    var resolvedLayout: EntityLayout {
        if let layout = cachedLayout, layout.companion != nil { return layout }
        guard let layout = modelLayouts.layoutByName[name ?? ""] else {
            preconditionFailure("The entity \(name ?? "without a name") is not among its model's entities.")
        }
        return layout
    }
}
