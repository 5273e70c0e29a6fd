import Foundation

/// Creates the elements of a `.xcdatamodel`'s `contents` file: the counterpart of
/// `ModelElementReader`.
struct ModelElementWriter {
    /// The facts that the file cannot express, in sentences.
    private(set) var omissions: [String] = []

    /// The composites that attributes refer to, by name. Their elements do not contain the name.
    var composites: [String: ModelElementText] = [:]
    /// The names of composites, by their text, which does not contain the name.
    var namesOfComposites: [String: String] = [:]

    mutating func omit(_ place: String, _ problem: String) {
        omissions.append("\(place): \(problem)")
    }

    /// Records an omission for characters that were left out of an element.
    mutating func checked(_ element: ModelElementText, _ place: String) -> ModelElementText {
        if element.lostCharacters { omit(place, "characters that XML files cannot hold are left out.") }
        return element
    }

    mutating func document(of model: NSManagedObjectModel) -> ModelElementText {
        // The file has the form that these versions write.
        var root = ModelElementText(
            "model", ("type", "com.apple.IDECoreDataModeler.DataModel"), ("documentVersion", "1.0"),
            ("lastSavedToolsVersion", "22758"), ("systemVersion", "23E224"), ("minimumToolsVersion", "Automatic"),
            ("sourceLanguage", "Swift"), ("userDefinedModelVersionIdentifier", identifier(of: model)))
        for entity in model.entities.sorted(by: { VersionHash.ascending($0.name ?? "", $1.name ?? "") }) {
            root.children.append(element(of: entity))
        }
        root.children += compositeElements
        for (name, template) in model.fetchRequestTemplates.sorted(by: { VersionHash.ascending($0.key, $1.key) }) {
            root.children.append(element(of: template, named: name, place: "fetch request template '\(name)'"))
        }
        for name in model.configurations.sorted(by: VersionHash.ascending) {
            let members = (model.entities(forConfigurationName: name) ?? []).compactMap(\.name)
            let parts = members.sorted(by: VersionHash.ascending).map { ModelElementText("memberEntity", ("name", $0)) }
            let configuration = ModelElementText("configuration", ("name", name), children: parts)
            root.children.append(checked(configuration, "configuration '\(name)'"))
        }
        if model.localizationDictionary?.isEmpty == false {
            omit("model", "the localized texts belong into .strings files.")
        }
        return checked(root, "model")
    }

    private mutating func identifier(of model: NSManagedObjectModel) -> String? {
        let identifiers = model.versionIdentifiers.compactMap { $0.base as? String }.sorted(by: VersionHash.ascending)
        if model.versionIdentifiers.count > min(identifiers.count, 1) {
            omit("model", "of several version identifiers, or one that is no text, only the first text is written.")
        }
        return identifiers.first
    }

    // MARK: Entities

    private mutating func element(of entity: NSEntityDescription) -> ModelElementText {
        let name = entity.name ?? ""
        var element = ModelElementText("entity", ("name", name))
        let className = entity.managedObjectClassName ?? ""
        element.add("representedClassName", className == "NSManagedObject" ? nil : className)
        element.add("isAbstract", if: entity.isAbstract)
        element.add("parentEntity", entity.superentity?.name)
        element.add("versionHashModifier", entity.versionHashModifier)
        element.add("elementID", entity.renamingIdentifier == entity.name ? nil : entity.renamingIdentifier)
        element.add("syncable", "YES")
        let properties = entity.ownProperties.sorted { first, second in
            let ranks = (Self.rank(of: first), Self.rank(of: second))
            return ranks.0 == ranks.1 ? VersionHash.ascending(first.name, second.name) : ranks.0 < ranks.1
        }
        for property in properties { element.children.append(self.element(of: property, in: entity)) }
        for index in entity.indexes { element.children.append(self.element(of: index, in: name)) }
        let constraints = lists(
            entity.uniquenessConstraintNames, ("uniquenessConstraints", "uniquenessConstraint", "constraint"))
        let compounds = lists(
            entity.compoundIndexes.map { $0.compactMap { $0 as? String ?? ($0 as? NSPropertyDescription)?.name } },
            ("compoundIndexes", "compoundIndex", "index"))
        element.children += [constraints, compounds, userInfo(entity.userInfo, name)].compactMap { $0 }
        if entity.coreSpotlightDisplayNameExpression != nil {
            omit(name, "the expression for Spotlight's display name is not written.")
        }
        return checked(element, name)
    }

    /// Attributes, then relationships, then the rest, as Xcode lists them.
    private static func rank(of property: NSPropertyDescription) -> Int {
        switch property {
        case is NSAttributeDescription: 0
        case is NSRelationshipDescription: 1
        default: 2
        }
    }

    private func lists(_ lists: [[String]], _ names: (outer: String, list: String, item: String)) -> ModelElementText? {
        guard !lists.isEmpty else { return nil }
        let children = lists.map { items in
            ModelElementText(names.list, children: items.map { ModelElementText(names.item, ("value", $0)) })
        }
        return ModelElementText(names.outer, children: children)
    }

    mutating func userInfo(_ info: [AnyHashable: Any]?, _ place: String) -> ModelElementText? {
        var entries: [(key: String, value: String)] = []
        for (key, value) in info ?? [:] {
            if let key = key.base as? String, let value = value as? String {
                entries.append((key, value))
            } else {
                omit(place, "the user information '\(key)' is no text.")
            }
        }
        guard !entries.isEmpty else { return nil }
        let elements = entries.sorted { VersionHash.ascending($0.key, $1.key) }.map { entry in
            checked(ModelElementText("entry", ("key", entry.key), ("value", entry.value)), place)
        }
        return ModelElementText("userInfo", children: elements)
    }

    // MARK: Indexes

    private mutating func element(of index: NSFetchIndexDescription, in entity: String) -> ModelElementText {
        let place = "\(entity), index '\(index.name)'"
        var element = ModelElementText("fetchIndex", ("name", index.name))
        if let predicate = index.partialIndexPredicate {
            element.add("partialIndexPredicate", text(of: predicate, place))
        }
        element.children = index.elements.map { part in
            var child = ModelElementText("fetchIndexElement")
            if let expression = part.property as? NSExpressionDescription {
                let text = expression.expression.flatMap(DerivationExpression.editableText)
                if text == nil { omit(place, "the expression of an element cannot be written.") }
                child.add("expression", text)
                if expression.expressionResultType != .undefinedAttributeType {
                    child.add("expressionType", expression.expressionResultType.name)
                }
            } else {
                child.add("property", part.propertyName)
            }
            child.add("type", part.collationType == .rTree ? "RTree" : "Binary")
            child.add("order", part.isAscending ? "ascending" : "descending")
            return child
        }
        return checked(element, place)
    }
}
