import Predicates

extension ModelElementReader {
    func fetchRequest(from element: ModelElement, entity owner: String?) throws -> FetchRequestTemplate {
        let entityName = element.text("entity") ?? ""
        var template = FetchRequestTemplate(entityName: entityName)
        if let text = element.text("predicateString") {
            template.predicate = try predicate(text, at: element, entity: owner)
        }
        template.fetchLimit = try count("fetchLimit", of: element, entity: owner ?? entityName) ?? 0
        template.fetchBatchSize = try count("fetchBatchSize", of: element, entity: owner ?? entityName) ?? 0
        template.resultType = try count("resultType", of: element, entity: owner ?? entityName).map(UInt.init) ?? 0
        template.includesSubentities = element.flag("includeSubentities", default: true)
        template.includesPropertyValues = element.flag("includePropertyValues", default: true)
        template.includesPendingChanges = element.flag("includesPendingChanges", default: true)
        template.returnsObjectsAsFaults = element.flag("returnObjectsAsFaults", default: true)
        template.returnsDistinctResults = element.flag("returnDistinctResults")
        return template
    }

    func predicate(_ text: String, at element: ModelElement, entity: String?) throws -> NSPredicate {
        do {
            return try NSPredicate.parse(text)
        } catch let failure {
            throw error(
                "The predicate '\(text)' cannot be read: \(failure.message).", "Correct it.", at: element,
                entity: entity, property: element.text("name"))
        }
    }

    func expression(_ text: String, at element: ModelElement, entity: String?) throws -> NSExpression {
        do {
            return DerivationExpression.compiled(try NSExpression.parse(text))
        } catch let failure {
            throw error(
                "The expression '\(text)' cannot be read: \(failure.message).", "Correct it.", at: element,
                entity: entity, property: element.text("name"))
        }
    }

    func userInfo(of element: ModelElement) -> [AnyHashable: Any] {
        var info: [AnyHashable: Any] = [:]
        for entry in element.children("userInfo").flatMap({ $0.children("entry") }) {
            info[entry.text("key") ?? ""] = entry.attributes["value"] ?? ""
        }
        return info
    }

    func error(
        _ problem: String, _ advice: String, at element: ModelElement, entity: String? = nil, property: String? = nil
    ) -> ModelReadingError {
        ModelReadingError(
            .inconsistent, problem, advice: advice, file: file, line: element.line, entity: entity, property: property)
    }
}
