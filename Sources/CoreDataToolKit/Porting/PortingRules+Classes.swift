/// Rules for Core Data's own classes, their extensions and their subclasses.
extension PortingRules {
    /// Classes whose `init()` is required, so that a subclass without it can have no other
    /// designated initializer.
    static let classesOfRequiredInitializers: Set<String> = [
        "NSAsynchronousFetchRequest", "NSAttributeDescription", "NSBatchDeleteRequest", "NSBatchInsertRequest",
        "NSBatchUpdateRequest",
        "NSCompositeAttributeDescription", "NSDerivedAttributeDescription", "NSEntityDescription",
        "NSExpressionDescription",
        "NSFetchRequest", "NSFetchedPropertyDescription", "NSManagedObjectModel", "NSPersistentStoreDescription",
        "NSPersistentStoreRequest", "NSPropertyDescription", "NSRelationshipDescription", "NSSaveChangesRequest",
        "NSSecureUnarchiveFromDataTransformer", "ValueTransformer",
    ]

    /// Classes that are not managed objects.
    static let frameworkClasses: Set<String> = classesOfRequiredInitializers.union([
        "NSAtomicStore", "NSComparisonPredicate", "NSCompoundPredicate", "NSExpression", "NSFetchedResultsController",
        "NSFetchIndexDescription", "NSFetchIndexElementDescription", "NSIncrementalStore", "NSManagedObjectContext",
        "NSManagedObjectID",
        "NSMappingModel", "NSMergePolicy", "NSPersistentContainer", "NSPersistentStore", "NSPersistentStoreCoordinator",
        "NSPredicate",
        "NSQueryGenerationToken", "NSSortDescriptor",
    ])

    /// Properties of Core Data's and Foundation's classes that take arrays.
    static let arrayProperties: Set<String> = [
        "affectedStores", "arguments", "compoundIndexes", "elements", "entities", "indexes", "properties",
        "propertiesToFetch",
        "propertiesToGroupBy", "relationshipKeyPathsForPrefetching", "sortDescriptors", "subentities",
        "uniquenessConstraints",
    ]

    /// Checks a transformer, request or description with its own designated initializer.
    mutating func lookAtClass(_ index: Int) {
        guard classes.requiringNames.contains(source.word(index + 1)),
            let scope = source.scopes.first(where: {
                $0.body.lowerBound > index && $0.name == source.word(index + 1) && $0.kind == .type
            })
        else { return }
        var hasDesignated = false
        for place in scope.body
        where source.word(place) == "init" && source.declaration(from: place) == place && source.word(place - 1) != "."
            && source.brace(around: place) == scope.body.lowerBound
        {
            if source.matches("(", ")", at: place + 1) { return }
            let modifiers = source.modifiers(of: place)
            if !modifiers.contains("convenience") { hasDesignated = true }
        }
        if hasDesignated {
            leave(
                index, "'\(scope.name)' has a designated initializer of its own: it must have 'required init()', too.")
        }
    }

    /// Checks `self.init(…)` in a static method of an extension.
    mutating func lookAtInitializerCall(_ index: Int) {
        guard source.matches("self", ".", at: index - 2), source.word(index + 1) == "(", source.word(index + 2) != ")",
            let scope = source.scope(around: index), scope.kind == .extension,
            Self.frameworkClasses.contains(scope.name),
            let member = source.member(around: index)
        else { return }
        let modifiers = source.modifiers(of: member)
        guard modifiers.contains("static") || modifiers.contains("class") else { return }
        leave(index, "self.init(…) in a static method takes required initializers only: write \(scope.name)(…).")
    }

    static let noClassForCoder = "A class has no classForCoder() here: write the class itself, as in Person.self."

    /// Reports `Person()`, which on a Mac is an object without an entity.
    mutating func lookAtManagedClass(_ word: String, _ index: Int) {
        guard source.matches("(", ")", at: index + 1), ![".", "func", "case"].contains(source.word(index - 1)) else {
            return
        }
        leave(
            index,
            "\(word)() has no entity on a Mac and does not exist here: write \(word)(entity: \(word).entity(), "
                + "insertInto: nil)."
        )
    }

    /// Changes `Person.classForCoder()`, which here only objects have.
    mutating func portClassForCoder(_ index: Int) {
        guard source.matches("(", ")", at: index + 1), source.word(index - 1) != "func" else { return }
        let isOfSelf = source.matches("self", ".", at: index - 2) && source.word(index - 3) == "."
        let name = isOfSelf ? index - 4 : index - 2
        guard source.word(index - 1) == ".", name >= 0, source.tokens[name].kind == .word,
            source.word(name).first?.isUppercase == true,
            ![".", "?", "!"].contains(source.word(index + 3))
        else { return leave(index, Self.noClassForCoder) }
        if isOfSelf {
            replace((index - 1)..<(index + 3), by: "")
        } else {
            replace(index..<(index + 3), by: "self")
        }
    }

    /// Changes `(context.mergePolicy as AnyObject).mergeType`.
    mutating func portMergeType(_ index: Int) {
        guard source.matches("as", "AnyObject", ")", ".", at: index - 4) else { return }
        if ["!", "?"].contains(source.word(index + 1)) {
            return leave(
                index, "AnyObject has no members here: write (context.mergePolicy as? NSMergePolicy)?.mergeType.")
        }
        replace((index - 4)..<(index - 1), by: "as? NSMergePolicy)?")
    }

    // MARK: Sets

    /// Changes `person.cars = [car]` if `cars` is an `NSSet`.
    mutating func portSetLiteral(_ index: Int) {
        guard source.matches("=", "[", at: index + 1), !["var", "let"].contains(source.word(index - 1)) else { return }
        let word = source.word(index)
        guard source.word(index - 1) == ".", let type = classes.setClasses[word], let close = source.closing(index + 2),
            !isDictionary((index + 3)..<close), endsStatement(close)
        else {
            return leave(
                index, "'\(word)' is a set of Foundation, which takes no literal here: write NSSet(array: […]).")
        }
        insert("\(type)(array: ", at: source.tokens[index + 2].range.lowerBound)
        insert(")", at: source.tokens[close].range.upperBound)
    }

    private func isDictionary(_ range: Range<Int>) -> Bool {
        var depth = 0
        for place in range where source.tokens[place].kind == .symbol {
            if ["(", "[", "{"].contains(source.word(place)) { depth += 1 }
            if [")", "]", "}"].contains(source.word(place)) { depth -= 1 }
            if depth == 0, source.word(place) == ":" { return true }
        }
        return false
    }

    private func endsStatement(_ index: Int) -> Bool {
        guard source.tokens.indices.contains(index + 1) else { return true }
        if ["}", ";"].contains(source.word(index + 1)) { return true }
        return startsLine(index + 1) && source.tokens[index + 1].kind != .symbol
            && !["as", "is"].contains(source.word(index + 1))
    }
}
