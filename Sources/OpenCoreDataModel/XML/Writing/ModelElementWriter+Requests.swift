import Predicates

extension ModelElementWriter {
    mutating func element(of template: FetchRequestTemplate, named name: String, place: String) -> ModelElementText {
        var element = ModelElementText("fetchRequest", ("name", name), ("entity", template.entityName))
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
        for (subject, isSet) in [
            ("the order of its results has", !template.sortDescriptors.isEmpty),
            ("its fetch offset has", template.fetchOffset > 0),
            ("the properties that it fetches have", template.propertiesToFetch != nil),
            ("the properties that it groups by have", template.propertiesToGroupBy != nil),
            ("the condition on its groups has", template.havingPredicate != nil),
            ("its prefetching has", template.relationshipKeyPathsForPrefetching != nil),
        ] where isSet { omit(place, "\(subject) no place in model files.") }
        return checked(element, place)
    }

    /// Returns the predicate's text; nil when reading it would not give the predicate again.
    mutating func text(of predicate: NSPredicate, _ place: String) -> String? {
        let text = predicate.parsableFormat
        if let again = try? NSPredicate.parse(text), again.parsableFormat == text { return text }
        omit(place, "the predicate '\(text)' cannot be written.")
        return nil
    }
}
