import Foundation
import Synchronization

/// The layouts of all entities of a frozen model.
package final class ModelLayout: @unchecked Sendable {
    // Sendable: set up completely in `init`, then only read. Companions are attached under a lock,
    // before they are read.

    // Unchecked exclusivity: set while the layouts are made, and then only read, for each row.
    @exclusivity(unchecked) package private(set) var layouts: [EntityLayout] = []
    package private(set) var layoutByName: [String: EntityLayout] = [:]
    /// Whether any entity has a composite attribute.
    private(set) var hasComposites = false

    /// The model, kept alive by its layouts.
    package let model: NSManagedObjectModel

    /// Data that the object layer keeps for the model, opaque to rows; nil until `attach` was
    /// called.
    private(set) var companion: AnyObject?
    /// The companions of the layouts.
    private var companions: [AnyObject] = []
    /// Guards the attaching, which several threads may request at once. True once it is done.
    private let attaching = Mutex(false)

    /// Creates the data of the object layer, unless it exists.
    ///
    /// - Parameters:
    ///   - ofEntity: creates the companion of a layout.
    ///   - ofModel: creates the companion of the model, after those of the layouts.
    func attach(ofEntity: (EntityLayout) -> AnyObject, ofModel: () -> AnyObject) {
        attaching.withLock { isDone in
            if isDone { return }
            companions = layouts.map(ofEntity)
            for (layout, companion) in zip(layouts, companions) { layout.companion = Unretained(companion) }
            companion = ofModel()
            isDone = true
        }
    }

    deinit {
        // Another thread may make the next layouts of the model meanwhile, which must stay.
        model.currentLayout.withLock { _ in
            for layout in layouts where layout.entity.cachedLayout === layout { layout.entity.cachedLayout = nil }
        }
    }

    /// Resolves every property of the model's entities. The model must be frozen.
    init(model: NSManagedObjectModel) {
        self.model = model
        var ordered: [NSEntityDescription] = []
        func visit(_ entity: NSEntityDescription) {
            ordered.append(entity)
            for child in entity.subentities.sorted(by: { ($0.name ?? "") < ($1.name ?? "") }) { visit(child) }
        }
        let roots = model.entities.filter { $0.superentity == nil }
        for root in roots.sorted(by: { ($0.name ?? "") < ($1.name ?? "") }) { visit(root) }

        var indexByName: [String: Int] = [:]
        for (index, entity) in ordered.enumerated() { indexByName[entity.name ?? ""] = index }

        // The slot numbers of every entity come first, because an inverse may be in an entity that
        // comes later.
        let sources = ordered.map(Self.sourcesInSlotOrder)
        let slotNumbers = sources.map { sources in
            Dictionary(sources.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        }
        for (index, entity) in ordered.enumerated() {
            let storedCount = sources[index].prefix(while: \.isStored).count
            var nextWord = storedCount
            var slots: [PropertySlot] = []
            for (slot, source) in sources[index].enumerated() {
                let relationship = source.property as? NSRelationshipDescription
                let destination = relationship?.destinationEntity?.name.flatMap { indexByName[$0] } ?? -1
                var entityWord = -1
                if relationship != nil, slot < storedCount, destination >= 0, !ordered[destination].subentities.isEmpty
                {
                    entityWord = nextWord
                    nextWord += 1
                }
                let inverse = relationship?.inverseRelationship
                let isElement = source.property !== source.declared
                var composite: CompositeLayout?
                if !source.declared.isTransient, let attribute = source.property as? NSCompositeAttributeDescription {
                    composite = CompositeLayout(attribute, path: source.name) { slotNumbers[index][$0] }
                    hasComposites = true
                }
                let made = PropertySlot(
                    index: slot, source: source, composite: composite,
                    compositeSlot: isElement ? slotNumbers[index][source.declared.name] ?? -1 : -1,
                    entityWord: entityWord, destinationIndex: destination,
                    inverseSlot: inverse.flatMap { destination >= 0 ? slotNumbers[destination][$0.name] : nil } ?? -1)
                slots.append(made)
            }
            let layout = EntityLayout(
                entity: entity, name: entity.name ?? "", index: index,
                rootIndex: indexByName[entity.rootEntity.name ?? ""] ?? index,
                superIndex: entity.superentity?.name.flatMap { indexByName[$0] } ?? -1, slots: slots,
                storedCount: storedCount, wordCount: nextWord, model: self)
            layouts.append(layout)
            entity.cachedLayout = layout
            layoutByName[layout.name] = layout
        }
        for layout in layouts {
            var family: [Int] = []
            for candidate in layouts where candidate.isKind(of: layout) { family.append(candidate.index) }
            layout.familyIndexes = family
        }
    }

    /// Returns the stored properties by name, with a composite attribute replaced by its elements,
    /// then the other properties by name.
    private static func sourcesInSlotOrder(_ entity: NSEntityDescription) -> [SlotSource] {
        let sorted = entity.propertiesByName.values.sorted { $0.name < $1.name }
        return sorted.flatMap(SlotSource.stored) + sorted.map(SlotSource.init).filter { !$0.isStored }
    }

    static func kind(of property: NSPropertyDescription) -> ValueKind {
        if let relationship = property as? NSRelationshipDescription {
            if !relationship.isToMany { return .toOne }
            return relationship.isOrdered ? .orderedToMany : .toMany
        }
        guard let attribute = property as? NSAttributeDescription else { return .fetched }
        switch attribute.attributeType {
        case .integer16AttributeType: return .int16
        case .integer32AttributeType: return .int32
        case .integer64AttributeType: return .int64
        case .booleanAttributeType: return .boolean
        case .doubleAttributeType: return .double
        case .floatAttributeType: return .float
        case .dateAttributeType: return .date
        case .decimalAttributeType: return .decimal
        case .stringAttributeType: return .string
        case .binaryDataAttributeType: return .data
        case .UUIDAttributeType: return .uuid
        case .URIAttributeType: return .uri
        case .transformableAttributeType: return .transformable
        case .compositeAttributeType: return .composite
        default: return .undefined
        }
    }
}

extension NSManagedObjectModel {
    /// Returns the layouts of all entities, created on the first call, which freezes the model.
    /// They keep the model alive.
    package func layout() -> ModelLayout {
        freeze()
        let layout = currentLayout.withLock { current -> AnyObject in
            if let layout = current.object { return layout }
            let made = ModelLayout(model: self)
            current.object = made
            return made
        }
        // No other object is ever assigned there.
        return unsafeDowncast(layout, to: ModelLayout.self)
    }
}

extension NSEntityDescription {
    /// The entity's layout while the model's layouts exist; `ModelLayout` sets and clears it.
    final var cachedLayout: EntityLayout? {
        // Only layouts are ever assigned there.
        get { layoutReference.map { unsafeDowncast($0.object, to: EntityLayout.self) } }
        set { layoutReference = newValue.map { Unretained($0) } }
    }
}
