import Foundation

/// The differences between the entities of a store and those of the model that is to open it.
package struct ModelDifference {
    /// In the model, not in the store.
    var added: [String] = []
    /// In the store, not in the model.
    var removed: [String] = []
    /// In both, with different version hashes.
    var changed: [String] = []
    /// The differences in each changed entity, if the store's own model is known.
    var details: [String: [String]] = [:]

    package var isEmpty: Bool { added.isEmpty && removed.isEmpty && changed.isEmpty }

    package init(stored: [String: Data], current: [String: Data]) {
        added = current.keys.filter { stored[$0] == nil }.sorted()
        removed = stored.keys.filter { current[$0] == nil }.sorted()
        changed = current.compactMap { name, hash in
            guard let other = stored[name], other != hash else { return nil }
            return name
        }.sorted()
    }

    package mutating func explain(storedModel: NSManagedObjectModel, currentModel: NSManagedObjectModel) {
        let stored = storedModel.entitiesByName
        let current = currentModel.entitiesByName
        for name in changed {
            guard let old = stored[name], let new = current[name] else { continue }
            let differences = EntityDifference.texts(from: old, to: new)
            if !differences.isEmpty { details[name] = differences }
        }
    }

    /// One sentence for each entity that differs.
    package var text: String {
        var parts: [String] = []
        if !added.isEmpty { parts.append("The store lacks \(Self.list(added)).") }
        if !removed.isEmpty { parts.append("The model lacks \(Self.list(removed)), which the store has.") }
        for name in changed {
            guard let details = details[name] else {
                parts.append("The entity '\(name)' was changed since the store was made.")
                continue
            }
            parts.append(
                "The entity '\(name)' was changed since the store was made: \(details.joined(separator: "; ")).")
        }
        return parts.joined(separator: " ")
    }

    private static func list(_ names: [String]) -> String {
        (names.count == 1 ? "the entity " : "the entities ") + names.map { "'\($0)'" }.joined(separator: ", ")
    }
}

/// Texts about the differences between two versions of an entity that version hashes cover.
package enum EntityDifference {
    static func texts(from old: NSEntityDescription, to new: NSEntityDescription) -> [String] {
        var texts: [String] = []
        if old.superentity?.name != new.superentity?.name {
            texts.append("its superentity was \(quoted(old.superentity?.name)), now \(quoted(new.superentity?.name))")
        }
        if old.isAbstract != new.isAbstract { texts.append(new.isAbstract ? "it became abstract" : "it was abstract") }
        if old.uniquenessConstraintNames != new.uniquenessConstraintNames {
            texts.append("its uniqueness constraints were \(constraints(of: old)), now \(constraints(of: new))")
        }
        if old.versionHashModifier != new.versionHashModifier { texts.append("its version hash modifier differs") }
        let oldProperties = stored(old)
        let newProperties = stored(new)
        for name in Set(oldProperties.keys).union(newProperties.keys).sorted() {
            switch (oldProperties[name], newProperties[name]) {
            case (nil, let property?): texts.append("the \(kind(property)) '\(name)' was added")
            case (let property?, nil): texts.append("the \(kind(property)) '\(name)' was removed")
            case (let before?, let after?) where before.versionHash != after.versionHash:
                let changes = PropertyDifference.texts(from: before, to: after)
                texts.append(
                    "the \(kind(after)) '\(name)' " + (changes.isEmpty ? "differs" : changes.joined(separator: " and "))
                )
            default: break
            }
        }
        return texts
    }

    private static func stored(_ entity: NSEntityDescription) -> [String: NSPropertyDescription] {
        entity.propertiesByName.filter { !$0.value.isTransient && !($0.value is NSFetchedPropertyDescription) }
    }

    package static func kind(_ property: NSPropertyDescription) -> String {
        property is NSRelationshipDescription ? "relationship" : "attribute"
    }

    private static func constraints(of entity: NSEntityDescription) -> String {
        let names = entity.uniquenessConstraintNames.map { "(\($0.joined(separator: ", ")))" }
        return names.isEmpty ? "none" : names.joined(separator: ", ")
    }

    static func quoted(_ name: String?) -> String { name.map { "'\($0)'" } ?? "none" }
}

/// Texts about the differences between two versions of a property.
enum PropertyDifference {
    static func texts(from old: NSPropertyDescription, to new: NSPropertyDescription) -> [String] {
        guard EntityDifference.kind(old) == EntityDifference.kind(new) else {
            return ["was \(article(EntityDifference.kind(old)))"]
        }
        var texts: [String] = []
        if old.isOptional != new.isOptional { texts.append(new.isOptional ? "became optional" : "became required") }
        if old.versionHashModifier != new.versionHashModifier { texts.append("has another version hash modifier") }
        if let old = old as? NSAttributeDescription, let new = new as? NSAttributeDescription {
            if old.attributeType != new.attributeType {
                texts.append("was of type \(old.attributeType.displayName), now \(new.attributeType.displayName)")
            }
            if old.allowsExternalBinaryDataStorage != new.allowsExternalBinaryDataStorage {
                texts.append(
                    new.allowsExternalBinaryDataStorage ? "allows external storage now" : "allowed external storage")
            }
            if old.preservesValueInHistoryOnDeletion != new.preservesValueInHistoryOnDeletion {
                texts.append(
                    new.preservesValueInHistoryOnDeletion
                        ? "is preserved in the history on deletion now" : "was preserved in the history on deletion")
            }
            texts += derivation(from: old as? NSDerivedAttributeDescription, to: new as? NSDerivedAttributeDescription)
            if let old = old as? NSCompositeAttributeDescription, let new = new as? NSCompositeAttributeDescription {
                let elements = elements(from: old, to: new, path: new.name)
                if !elements.isEmpty {
                    texts.append(
                        "differs in the element\(elements.count == 1 ? "" : "s") " + elements.joined(separator: ", "))
                }
            }
        }
        if let old = old as? NSRelationshipDescription, let new = new as? NSRelationshipDescription {
            if old.destinationEntity?.name != new.destinationEntity?.name {
                texts.append(
                    "led to \(EntityDifference.quoted(old.destinationEntity?.name)), now to "
                        + EntityDifference.quoted(new.destinationEntity?.name))
            }
            if old.inverseRelationship?.name != new.inverseRelationship?.name {
                texts.append(
                    "had the inverse \(EntityDifference.quoted(old.inverseRelationship?.name)), now "
                        + EntityDifference.quoted(new.inverseRelationship?.name))
            }
            if old.isToMany != new.isToMany {
                texts.append(new.isToMany ? "became to-many" : "became to-one")
            } else if old.minCount != new.minCount || old.maxCount != new.maxCount {
                texts.append("had the counts \(old.minCount)...\(old.maxCount), now \(new.minCount)...\(new.maxCount)")
            }
            if old.isOrdered != new.isOrdered { texts.append(new.isOrdered ? "became ordered" : "was ordered") }
        }
        return texts
    }

    private static func derivation(from old: NSDerivedAttributeDescription?, to new: NSDerivedAttributeDescription?)
        -> [String]
    {
        guard let old, let new else {
            return old == nil && new == nil ? [] : [new != nil ? "became derived" : "was derived"]
        }
        func text(_ attribute: NSDerivedAttributeDescription) -> String {
            let expression = attribute.derivationExpression
            return EntityDifference.quoted(
                expression.map { DerivationExpression.source(of: DerivationExpression.compiled($0)) })
        }
        return text(old) == text(new) ? [] : ["was derived from \(text(old)), now from \(text(new))"]
    }

    /// Returns the differences in each element of a composite attribute, by path.
    private static func elements(
        from old: NSCompositeAttributeDescription, to new: NSCompositeAttributeDescription, path: String
    ) -> [String] {
        let (before, after) = (EntityTables.byName(old.elements), EntityTables.byName(new.elements))
        return Set(before.keys).union(after.keys).sorted().flatMap { name -> [String] in
            let path = path + "." + name
            guard let old = before[name] else { return ["'\(path)' (was added)"] }
            guard let new = after[name] else { return ["'\(path)' (was removed)"] }
            if old.versionHash == new.versionHash { return [] }
            if let old = old as? NSCompositeAttributeDescription, let new = new as? NSCompositeAttributeDescription {
                return elements(from: old, to: new, path: path)
            }
            let changes = texts(from: old, to: new)
            return ["'\(path)' (\(changes.isEmpty ? "differs" : changes.joined(separator: " and ")))"]
        }
    }

    private static func article(_ noun: String) -> String { (noun == "attribute" ? "an " : "a ") + noun }
}
