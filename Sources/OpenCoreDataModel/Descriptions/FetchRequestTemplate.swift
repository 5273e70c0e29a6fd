import Foundation
import Predicates

/// A fetch request as a model stores it: in its list of templates or in a fetched property.
@dynamicMemberLookup
package struct FetchRequestTemplate {
    /// The name of the entity to fetch.
    package var entityName: String
    package var settings: FetchSettings

    package init(entityName: String, settings: FetchSettings = FetchSettings()) {
        self.entityName = entityName
        self.settings = settings
    }

    package subscript<Value>(dynamicMember path: WritableKeyPath<FetchSettings, Value>) -> Value {
        get { settings[keyPath: path] }
        set { settings[keyPath: path] = newValue }
    }

    /// The order of the results; empty for none, also where it was nil.
    package var sortDescriptors: [NSSortDescriptor] {
        get { settings.sortDescriptors ?? [] }
        set { settings.sortDescriptors = newValue.isEmpty ? nil : newValue }
    }

    /// Returns the template with the variables of its predicates replaced; `NSNull` stands for nil.
    ///
    /// A variable without a value stays, and a fetch with it throws an error.
    package func substituting(_ variables: [String: Any]) -> FetchRequestTemplate {
        var template = self
        template.predicate = settings.predicate?.withSubstitutionVariables(variables)
        template.havingPredicate = settings.havingPredicate?.withSubstitutionVariables(variables)
        return template
    }
}
