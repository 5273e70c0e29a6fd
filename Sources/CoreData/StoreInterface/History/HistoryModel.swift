import Foundation

/// The two entities by whose properties a program asks for the history of a store.
///
/// To a SQL store they are common table expressions over its own tables, in a store in memory they
/// have rows like others: predicates and orders are those of any fetch.
///
/// They are those of Core Data. The keys of changed rows and the numbers of their entities depend
/// on the store: `HistoryPredicate` puts them in the place of object IDs and entities.
enum HistoryModel {
    /// The names by which requests know the entities.
    static let transactionName = "Transaction"
    static let changeName = "Change"

    /// The number of a transaction, in both entities.
    static let number = "transactionNumber"
    static let date = "timestamp"
    static let token = "token"
    static let changeNumber = "changeID"
    static let changedEntity = "changedEntity"
    static let changedKey = "changedID"
    static let changes = "changes"
    static let transactionOfChange = "transaction"

    /// The layouts of both entities.
    static let layouts = model().layout()
    static let transaction = layout(transactionName)
    static let change = layout(changeName)

    private static func layout(_ name: String) -> EntityLayout {
        guard let layout = layouts.layoutByName[name] else { preconditionFailure("The model has this entity.") }
        return layout
    }

    private static func model() -> NSManagedObjectModel {
        func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
            let attribute = NSAttributeDescription()
            attribute.name = name
            attribute.attributeType = type
            attribute.isOptional = true
            return attribute
        }
        func numbers(_ names: String...) -> [NSPropertyDescription] {
            names.map { attribute($0, .integer64AttributeType) }
        }
        let transaction = NSEntityDescription()
        transaction.name = transactionName
        let change = NSEntityDescription()
        change.name = changeName
        let changes = NSRelationshipDescription()
        changes.name = self.changes
        changes.destinationEntity = change
        let owner = NSRelationshipDescription()
        owner.name = transactionOfChange
        owner.destinationEntity = transaction
        owner.maxCount = 1
        owner.inverseRelationship = changes
        changes.inverseRelationship = owner
        transaction.properties =
            numbers(number, token) + [attribute(date, .dateAttributeType), changes]
            + ["author", "bundleID", "contextName", "processID"].map { attribute($0, .stringAttributeType) }
        change.properties =
            numbers(changeNumber, number, token, changedEntity, changedKey, "changeType") + [owner]
        let model = NSManagedObjectModel()
        model.entities = [transaction, change]
        return model
    }
}
