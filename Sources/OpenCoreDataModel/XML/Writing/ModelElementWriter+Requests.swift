import Predicates

/// Writing fetch requests, predicates and expressions.
extension ModelElementWriter {
    mutating func element(of template: FetchRequestTemplate, named name: String, place: String) -> ModelElementText {
        var element = ModelElementText("fetchRequest")
        element.add("name", name)
        element.add("entity", template.entityName)
        if let predicate = template.predicate { element.add("predicateString", text(of: predicate, place)) }
        if template.fetchLimit > 0 { element.add("fetchLimit", "\(template.fetchLimit)") }
        if template.fetchBatchSize > 0 { element.add("fetchBatchSize", "\(template.fetchBatchSize)") }
        if template.resultType > 0 { element.add("resultType", "\(template.resultType)") }
        for (attribute, isSet) in [
            ("includeSubentities", template.includesSubentities),
            ("includePropertyValues", template.includesPropertyValues),
            ("includesPendingChanges", template.includesPendingChanges),
            ("returnObjectsAsFaults", template.returnsObjectsAsFaults),
        ] where !isSet { element.add(attribute, "NO") }
        element.add("returnDistinctResults", if: template.returnsDistinctResults)
        if !template.sortDescriptors.isEmpty { omit(place, "the order of its results has no place in model files.") }
        if template.fetchOffset > 0 { omit(place, "its fetch offset has no place in model files.") }
        if template.propertiesToFetch != nil { omit(place, "the properties that it fetches have no place in model files.") }
        if template.propertiesToGroupBy != nil { omit(place, "the properties that it groups by have no place in model files.") }
        if template.havingPredicate != nil { omit(place, "the condition on its groups has no place in model files.") }
        if template.relationshipKeyPathsForPrefetching != nil { omit(place, "its prefetching has no place in model files.") }
        return checked(element, place)
    }

    /// Returns the predicate's text.
    ///
    /// nil, and an omission is recorded, when reading the text would not give the predicate again.
    mutating func text(of predicate: NSPredicate, _ place: String) -> String? {
        let text = predicate.parsableFormat
        if let again = try? NSPredicate.parse(text), again.parsableFormat == text { return text }
        omit(place, "the predicate '\(text)' cannot be written.")
        return nil
    }
}
