import Foundation

extension NSManagedObject {
    /// The objects that a fetched property's request gives for this object, in order. They are kept until the object
    /// is a fault again or is refreshed.
    final func fetchedPropertyValue(_ slot: Int) -> Any? {
        guard let description = layout.slots[slot].property as? NSFetchedPropertyDescription,
            let template = description.fetchRequest, let context = registry?.context
        else { return nil }
        fireFaultIfNeeded()
        if let known = extras?.decoded(slot) { return known }
        let request = NSFetchRequest<any NSFetchRequestResult>()
        template.copyValues(to: request)
        request.predicate = template.predicate?.withSubstitutionVariables([
            "FETCH_SOURCE": self, "FETCHED_PROPERTY": description,
        ])
        do {
            let found = NSArray(array: try context.fetch(request))
            makeExtras().setDecoded(slot, found)
            return found
        } catch {
            preconditionFailure(
                "The fetched property \(layout.name).\(description.name) cannot be evaluated: \(error.localizedDescription)")
        }
    }
}
