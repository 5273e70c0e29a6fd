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

    /// The entity of the model used last that the class alone stands for.
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
    /// The layouts of the entity's model, which live as long as somebody keeps them.
    var modelLayouts: ModelLayout {
        guard let model = owningModel else {
            preconditionFailure("The entity \(name ?? "without a name") belongs to no model: add it to one before making objects.")
        }
        return model.layout()
    }

    /// The entity's layout; makes the model's layouts, and with them freezes the model, on first use.
    var resolvedLayout: EntityLayout {
        if let layout = cachedLayout { return layout }
        guard let layout = modelLayouts.layoutByName[name ?? ""] else {
            preconditionFailure("The entity \(name ?? "without a name") is not among its model's entities.")
        }
        return layout
    }
}
