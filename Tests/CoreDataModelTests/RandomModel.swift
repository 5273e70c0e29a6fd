import Foundation
import TestSupport

@testable import CoreData

/// Models of random entities and properties, in the form that reading a model file gives.
struct RandomModel {
    private var random: SeededGenerator

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    private mutating func chance(_ percent: Int = 30) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

    /// Never nil: the lists are literals.
    private mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[Int.random(in: 0..<elements.count, using: &random)]
    }

    private mutating func text() -> String {
        let pieces = ["a", "B", " ", "\"", "<", ">", "&", "'", "\n", "\t", "\r", "ä", "漢", "\u{1F600}", "\\", "$", "%"]
        return (0..<Int.random(in: 1...8, using: &random)).map { _ in pick(pieces) }.joined()
    }

    mutating func model() -> NSManagedObjectModel {
        let entities = (0..<Int.random(in: 1...5, using: &random)).map { number in entity("E\(number)") }
        for (index, entity) in entities.enumerated() where index > 0 && chance() {
            let parent = entities[Int.random(in: 0..<index, using: &random)]
            parent.subentities += [entity]
        }
        for number in 0..<Int.random(in: 0...6, using: &random) {
            connect(pick(entities), pick(entities), number)
        }
        for entity in entities { finish(entity) }
        let model = NSManagedObjectModel()
        model.entities = entities
        if chance(50) { model.versionIdentifiers = [text()] }
        if chance() {
            let members = entities.filter { _ in chance(50) }
            model.setEntities(members, forConfigurationName: text())
        }
        if chance() {
            var template = FetchRequestTemplate(entityName: entities[0].name ?? "")
            template.predicate = NSPredicate(format: "number > $LEAST AND name CONTAINS[cd] %@", text())
            template.fetchLimit = Int.random(in: 0...5, using: &random)
            template.includesSubentities = chance()
            template.returnsObjectsAsFaults = chance()
            template.returnsDistinctResults = chance()
            model.fetchRequestTemplates[text()] = template
        }
        return model
    }

    private mutating func entity(_ name: String) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        if chance() { entity.managedObjectClassName = "Module." + name }
        entity.isAbstract = chance(10)
        if chance() { entity.versionHashModifier = text() }
        if chance() { entity.renamingIdentifier = text() }
        if chance() { entity.userInfo = [text(): text(), "k": ""] }
        entity.properties = (0..<Int.random(in: 0...8, using: &random)).map { attribute("\(name.lowercased())_a\($0)") }
        return entity
    }

    private mutating func decorate(_ property: NSPropertyDescription) {
        property.isOptional = chance(50)
        if chance(20) { property.versionHashModifier = text() }
        if chance(20) { property.renamingIdentifier = text() }
        if chance(20) { property.userInfo = [text(): text()] }
        property.isIndexedBySpotlight = chance(10)
    }

    private mutating func attribute(_ name: String) -> NSAttributeDescription {
        let types = NSAttributeType.allCases.filter { ![.compositeAttributeType, .objectIDAttributeType].contains($0) }
        let type = pick(types)
        let attribute: NSAttributeDescription
        if chance(10) {
            let derived = NSDerivedAttributeDescription()
            derived.derive(from: pick(["now()", "items.@count", "items.@sum.price", "uppercase:(name)", "maker.name"]))
            attribute = derived
        } else if chance(10) {
            let composite = NSCompositeAttributeDescription()
            var elements = (0..<2).map {
                SampleModels.attribute("part\($0)", pick([.doubleAttributeType, .stringAttributeType]))
            }
            if chance() {
                let inner = NSCompositeAttributeDescription()
                inner.name = "inner"
                inner.elements = elements
                elements = [SampleModels.attribute("outer", .UUIDAttributeType), inner]
            }
            composite.elements = elements
            attribute = composite
        } else {
            attribute = NSAttributeDescription()
        }
        attribute.name = name
        attribute.attributeType = attribute is NSCompositeAttributeDescription ? .compositeAttributeType : type
        decorate(attribute)
        attribute.isTransient = chance(10)
        attribute.allowsExternalBinaryDataStorage = chance(10)
        attribute.preservesValueInHistoryOnDeletion = chance(10)
        attribute.allowsCloudEncryption = chance(10)
        if type == .transformableAttributeType, chance(50) { attribute.valueTransformerName = text() }
        addValues(to: attribute)
        return attribute
    }

    private mutating func addValues(to attribute: NSAttributeDescription) {
        var limits: [AttributeLimit] = []
        switch attribute.attributeType {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType:
            let value = NSNumber(value: Int64.random(in: -70000...70000, using: &random))
            if chance(50) { attribute.defaultValue = value }
            if chance() {
                limits = AttributeLimit.numbers(from: chance(50) ? value : nil, to: NSNumber(value: 80000 as Int64))
            }
        case .doubleAttributeType:
            let value = NSNumber(value: Double.random(in: -1e9...1e9, using: &random))
            if chance(50) { attribute.defaultValue = value }
            if chance() { limits = AttributeLimit.numbers(from: value, to: nil) }
        case .floatAttributeType:
            let value = NSNumber(value: Float.random(in: -1e9...1e9, using: &random))
            if chance(50) { attribute.defaultValue = value }
            if chance() { limits = AttributeLimit.numbers(from: nil, to: value) }
        case .decimalAttributeType:
            let digits = Int64.random(in: -1_000_000_000...1_000_000_000, using: &random)
            let value = NSDecimalNumber(decimal: Decimal(digits) / 1000)
            if chance(50) { attribute.defaultValue = value }
            if chance() { limits = AttributeLimit.numbers(from: value, to: nil) }
        case .stringAttributeType:
            if chance(50) { attribute.defaultValue = chance() ? "" : text() }
            if chance() { limits = AttributeLimit.lengths(from: 1, to: chance(50) ? 10 : nil) }
            if chance() { limits.append(AttributeLimit.pattern(pick(["[a-z]+", "\\d{1,3}\\.\"x\"", "ä&<>"]))) }
        case .booleanAttributeType: if chance(50) { attribute.defaultValue = chance(50) }
        case .dateAttributeType:
            let value = Date(timeIntervalSinceReferenceDate: Double.random(in: -1e9...1e9, using: &random))
            if chance(50) { attribute.defaultValue = value }
            if chance() { limits = AttributeLimit.dates(from: value, to: value) }
        case .UUIDAttributeType:
            if chance(50) { attribute.defaultValue = UUID(uuidString: "11111111-2222-3333-4444-555555555555") }
        case .URIAttributeType: if chance(50) { attribute.defaultValue = URL(string: "https://example.org/a?b=c&d=e") }
        default: break
        }
        attribute.setValidation(predicates: limits.map(\.predicate), warnings: limits.map { NSNumber(value: $0.code) })
    }

    private mutating func connect(_ first: NSEntityDescription, _ second: NSEntityDescription, _ number: Int) {
        let one = SampleModels.relationship("r\(number)x", to: second, max: pick([0, 0, 1, 1, 5]))
        let other = SampleModels.relationship("r\(number)y", to: first, max: pick([0, 0, 1, 1, 5]))
        for relationship in [one, other] {
            decorate(relationship)
            relationship.isIndexedBySpotlight = false
            relationship.minCount = chance() ? 1 : 0
            relationship.isOrdered = relationship.isToMany && chance()
            relationship.deleteRule = pick([
                .noActionDeleteRule, .nullifyDeleteRule, .cascadeDeleteRule, .denyDeleteRule,
            ])
        }
        if chance(80) { SampleModels.connect(one, other) }
        first.properties += [one]
        second.properties += [other]
    }

    /// Constraints, indexes and fetched properties: what needs the properties.
    private mutating func finish(_ entity: NSEntityDescription) {
        let attributes = entity.ownProperties.compactMap { $0 as? NSAttributeDescription }
        if chance() {
            let fetched = NSFetchedPropertyDescription()
            fetched.name = "fetched_" + (entity.name ?? "")
            fetched.isTransient = true
            var template = FetchRequestTemplate(entityName: entity.name ?? "")
            template.predicate = NSPredicate(format: "SELF != $FETCH_SOURCE")
            fetched.fetchRequestTemplate = template
            entity.properties += [fetched]
        }
        guard let first = attributes.first, let last = attributes.last else { return }
        if chance() { entity.uniquenessConstraints = [[first.name], [first.name, last.name]] }
        if chance() { entity.compoundIndexes = [[first.name, last.name]] }
        if chance() {
            let elements = [first, last].map { NSFetchIndexElementDescription(property: $0, collationType: .binary) }
            elements[1].isAscending = chance(50)
            let index = NSFetchIndexDescription(name: text(), elements: elements)
            if chance() { index.partialIndexPredicate = NSPredicate(format: "%K > 3", first.name) }
            entity.indexes = [index]
        }
    }
}
