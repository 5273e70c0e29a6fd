/// Attributes, modifiers and initializers of managed object classes.
extension PortingRules {
    mutating func portAttribute(_ index: Int) {
        switch source.word(index + 1) {
        case "NSManaged": portManaged(index)
        case "objc": portObjC(index)
        case "objcMembers": portObjCMembers(index)
        case "NSCopying", "IBOutlet", "IBAction", "IBInspectable", "GKInspectable", "NSApplicationMain",
            "UIApplicationMain":
            leave(index, "@\(source.word(index + 1)) does not exist here.")
        default: break
        }
    }

    private mutating func portManaged(_ index: Int) {
        guard let keyword = source.declaration(from: index) else { return }
        switch source.word(keyword) {
        case "var":
            replace(index..<(index + 2), by: "@Managed")
            if declaresSeveral(keyword) { leave(keyword, "@Managed stands on one property: declare each by itself.") }
        case "func":
            let name = source.word(keyword + 1)
            if ["addTo", "removeFrom", "insertInto", "replace"].contains(where: { name.hasPrefix($0) }) {
                return replace(index..<(index + 2), by: "@ManagedAccessor")
            }
            guard let key = relationship(ofMethod: name) else {
                leave(
                    keyword,
                    "The relationship cannot be told from the name '\(name)': write @ManagedAccessor(key: \"…\").")
                return replace(index..<(index + 2), by: "@ManagedAccessor")
            }
            replace(index..<(index + 2), by: "@ManagedAccessor(key: \"\(key)\")")
        default: leave(index, "@NSManaged stands neither on a property nor on a method.")
        }
    }

    /// Returns `cars` for `addCars` and `addCarsObject`, if classes have such a property.
    private func relationship(ofMethod name: String) -> String? {
        guard let verb = ["add", "remove", "insert"].first(where: { name.hasPrefix($0) }) else { return nil }
        let rest = String(name.dropFirst(verb.count))
        let candidates = [rest] + (rest.hasSuffix("Object") ? [String(rest.dropLast("Object".count))] : [])
        return candidates.map { $0.prefix(1).lowercased() + $0.dropFirst() }.first { classes.properties.contains($0) }
    }

    /// Whether a comma follows on the line of `var`, outside brackets.
    private func declaresSeveral(_ keyword: Int) -> Bool {
        var depth = 0
        var place = keyword + 1
        while place < source.tokens.count, !startsLine(place), source.word(place) != "{" {
            if ["<", "(", "["].contains(source.word(place)) { depth += 1 }
            if [">", ")", "]"].contains(source.word(place)) { depth -= 1 }
            if source.word(place) == ",", depth == 0 { return true }
            place += 1
        }
        return false
    }

    /// Whether the declaration with an attribute belongs to a managed object class or another class
    /// of Core Data, or is an enumeration.
    private func isOfOwnClass(_ index: Int, _ keyword: Int) -> Bool {
        switch source.word(keyword) {
        case "enum": true
        case "class", "extension": isOwnClass(declaredName(keyword)) || isInOwnClass(index)
        default: isInOwnClass(index)
        }
    }

    /// Whether a name belongs to a managed object class, another class of Core Data, or a test
    /// class.
    private func isOwnClass(_ name: String) -> Bool {
        classes.names.contains(name) || classes.frameworkNames.contains(name) || classes.testNames.contains(name)
    }

    private func isInOwnClass(_ index: Int) -> Bool {
        source.scope(around: index).map { $0.kind != .protocol && isOwnClass($0.name) } ?? false
    }

    /// Returns the last part of a declared name: `Inner` for `extension Outer.Inner`.
    private func declaredName(_ keyword: Int) -> String {
        var place = keyword + 1
        while source.word(place + 1) == "." { place += 2 }
        return source.word(place)
    }

    private mutating func portObjC(_ index: Int) {
        guard let keyword = source.declaration(from: index) else { return }
        var end = index + 2
        var name: String?
        if source.word(end) == "(", source.isAttached(end), let close = source.closing(end) {
            name = source.text(ofTokens: (end + 1)..<close)
            end = close + 1
        }
        guard isOfOwnClass(index, keyword) else {
            leave(
                index,
                "@objc does not exist here: remove it, and what depends on it (selectors, protocols of Objective-C).")
            skip(to: end)
            return
        }
        remove(index..<end)
        let isManaged = source.modifiers(of: keyword).contains("NSManaged")
        switch source.word(keyword) {
        case "class":
            let declared = declaredName(keyword)
            if let name, name != declared {
                leave(
                    index, "The class was '\(name)' in Objective-C: where the model says so, write \(declared) there.")
            }
        case "var" where !isManaged && isInManagedClass(index):
            leave(
                index,
                "'\(source.word(keyword + 1))' has no name at run time: value(forKey:) finds it only through "
                    + "value(forUndefinedKey:)."
            )
        default: break
        }
    }

    private mutating func portObjCMembers(_ index: Int) {
        guard let keyword = source.declaration(from: index), isOwnClass(declaredName(keyword)) else {
            return leave(index, "@objcMembers does not exist here: remove it, and what depends on it.")
        }
        remove(index..<(index + 2))
    }

    mutating func portDynamic(_ index: Int) {
        guard let keyword = source.declaration(from: index),
            isInManagedClass(index) || source.scope(around: index).map({ classes.testNames.contains($0.name) }) == true,
            ["var", "func", "let", "init", "subscript"].contains(source.word(keyword))
        else { return }
        remove(index..<(index + 1))
    }

    // MARK: Overrides and initializers

    mutating func portOverride(_ index: Int) {
        guard let keyword = source.declaration(from: index) else { return }
        if source.word(keyword) == "init", source.matches("(", "entity", at: keyword + 1),
            let close = source.closing(keyword + 1),
            ((keyword + 1)..<close).contains(where: { source.word($0) == "insertInto" })
        {
            let modifiers = source.modifiers(of: keyword)
            if modifiers.contains("private") || modifiers.contains("fileprivate") {
                leave(index, "init(entity:insertInto:) must be required, and as accessible as its class.")
            }
            return makeRequired(index, keyword)
        }
        if source.word(keyword) == "init", source.matches("(", "persistentStoreCoordinator", at: keyword + 1) {
            return makeRequired(index, keyword)
        }
        if source.word(keyword) == "init", source.matches("(", ")", at: keyword + 1),
            let scope = source.scope(around: index),
            scope.kind == .type, classes.requiringNames.contains(scope.name)
        {
            return makeRequired(index, keyword)
        }
        let name = source.word(keyword + 1)
        if source.scope(around: index)?.kind == .extension {
            leave(index, "Nothing can be overridden in an extension: move this into the class.")
        } else if let scope = source.scope(around: index),
            let owner = classes.classExtended(with: name, above: scope.name)
        {
            leave(
                index,
                "'\(name)' is declared in an extension of \(owner), and cannot be overridden: move that one into the "
                    + "class."
            )
        }
        if source.word(keyword) == "func",
            ["willChangeValue", "didChangeValue", "willAccessValue", "didAccessValue"].contains(name)
        {
            leave(index, "\(name)(forKey:) cannot be overridden: use willSave, or the notifications of the context.")
        }
    }

    /// Replaces `override` by `required`, or removes it if `required` is already there.
    private mutating func makeRequired(_ index: Int, _ keyword: Int) {
        let isRequired = source.modifiers(of: keyword).contains("required")
        if isRequired { remove(index..<(index + 1)) } else { replace(index..<(index + 1), by: "required") }
    }

    /// Changes a class's own `init(context:)`.
    mutating func portContextInitializer(_ index: Int) {
        guard isInManagedClass(index), source.matches("(", "context", at: index + 1),
            let close = source.closing(index + 1),
            source.declaration(from: index) == index
        else { return }
        let parameter = ((index + 3)..<close).map { source.word($0) }
        guard parameter.suffix(2) == [":", "NSManagedObjectContext"], parameter.count <= 3 else { return }
        let start = source.start(ofDeclaration: index)
        let modifiers = (start..<index).map { source.word($0) }
        if modifiers.contains("required") { return }
        guard source.scope(around: index)?.kind == .type,
            let convenience = (start..<index).first(where: { source.word($0) == "convenience" }),
            !modifiers.contains("private"),
            !modifiers.contains("fileprivate")
        else {
            return leave(
                index,
                "init(context:) is a required initializer: declare it 'required convenience' in the class itself.")
        }
        if let override = (start..<index).first(where: { source.word($0) == "override" }) {
            replace(override..<(override + 1), by: "required")
        } else {
            insert("required ", at: source.tokens[convenience].range.lowerBound)
        }
    }
}
