struct PortingEdit: Equatable {
    let range: Range<Int>
    let replacement: String
    /// The line to show, in which the replaced bytes begin.
    let line: Int
    let summary: String
}

/// A place that a person has to change.
struct PortingRemainder: Equatable {
    let line: Int
    let rule: String
}

struct PortedFile {
    let edits: [PortingEdit]
    let remainders: [PortingRemainder]
    let bytes: [UInt8]

    init(_ source: SwiftSource, classes: ManagedClasses) {
        var rules = PortingRules(source: source, classes: classes)
        rules.run()
        edits = rules.edits.sorted { $0.range.lowerBound < $1.range.lowerBound }
        remainders = rules.remainders.sorted { ($0.line, $0.rule) < ($1.line, $1.rule) }
        var result: [UInt8] = []
        var place = 0
        for edit in edits {
            result += source.bytes[place..<edit.range.lowerBound]
            result += Array(edit.replacement.utf8)
            place = edit.range.upperBound
        }
        bytes = result + source.bytes[place...]
    }
}

/// The managed object classes of all files, by name, and the facts about their properties that the
/// porter needs.
struct ManagedClasses {
    private(set) var names: Set<String> = ["NSManagedObject"]
    /// Classes of Core Data that are not managed objects, and their subclasses.
    private(set) var frameworkNames = PortingRules.frameworkClasses
    /// The classes among `frameworkNames` whose `init()` is required.
    private(set) var requiringNames = PortingRules.classesOfRequiredInitializers
    /// Properties whose type is a set class of Foundation.
    private(set) var setProperties: Set<String> = []
    /// The set class of each property whose name is unambiguous in all files.
    private(set) var setClasses: [String: String] = [:]
    private(set) var properties: Set<String> = []
    private(set) var testNames: Set<String> = ["XCTestCase"]
    /// Classes nested in other types, and classes that other files do not see.
    private(set) var nestedNames: Set<String> = []
    private(set) var hiddenNames: Set<String> = []
    /// The superclasses of classes, and the members that extensions of classes declare.
    private var superclasses: [String: String] = [:]
    private var extensionMembers: [String: Set<String>] = [:]

    init(_ sources: [SwiftSource]) {
        // The attributes on a Mac, and those after an earlier run.
        let marks: Set<String> = ["NSManaged", "Managed", "ManagedAccessor"]
        var parents: [(name: String, parent: String)] = []
        for source in sources {
            for scope in source.scopes where scope.kind == .type {
                if let parent = scope.inherited.first { parents.append((scope.name, parent)) }
            }
            for (index, token) in source.tokens.enumerated()
            where marks.contains(token.text) && source.word(index - 1) == "@" {
                // Only a managed object class has such properties, wherever its superclass is
                // declared.
                if let scope = source.scope(around: index) { names.insert(scope.name) }
                guard let keyword = source.declaration(from: index - 1), source.word(keyword) == "var" else { continue }
                properties.insert(source.word(keyword + 1))
                guard source.word(keyword + 2) == ":",
                    ["NSSet", "NSOrderedSet", "NSMutableSet", "NSMutableOrderedSet"].contains(source.word(keyword + 3))
                else { continue }
                setProperties.insert(source.word(keyword + 1))
                setClasses[source.word(keyword + 1)] = source.word(keyword + 3)
            }
        }
        Self.addSubclasses(to: &names, parents)
        Self.addSubclasses(to: &frameworkNames, parents)
        Self.addSubclasses(to: &requiringNames, parents)
        Self.addSubclasses(to: &testNames, parents)
        superclasses = Dictionary(parents, uniquingKeysWith: { first, _ in first })
        for source in sources { noteDeclarations(source) }
        for name in PortingRules.arrayProperties { setClasses[name] = nil }
        for source in sources { leaveOutAmbiguousSets(source) }
    }

    /// Records the classes without a plain name at run time, and the members that extensions
    /// declare.
    private mutating func noteDeclarations(_ source: SwiftSource) {
        for scope in source.scopes {
            guard
                let keyword = (0..<scope.body.lowerBound).last(where: {
                    source.word($0) == "class" && source.word($0 + 1) == scope.name
                })
            else { continue }
            let modifiers = source.modifiers(of: keyword)
            let isLocal = source.brace(around: keyword) != nil && !source.isMember(keyword)
            if isLocal || modifiers.contains("private") || modifiers.contains("fileprivate") {
                hiddenNames.insert(scope.name)
            } else if source.isMember(keyword) {
                nestedNames.insert(scope.name)
            }
        }
        for scope in source.scopes where scope.kind == .extension {
            for place in scope.body where ["var", "func"].contains(source.word(place)) {
                guard source.brace(around: place) == scope.body.lowerBound else { continue }
                extensionMembers[scope.name, default: []].insert(source.word(place + 1))
            }
        }
    }

    /// Returns the superclass in whose extension a member is declared that a class overrides; nil
    /// if there is none.
    func classExtended(with member: String, above name: String) -> String? {
        var next = superclasses[name]
        var count = 0
        while let current = next, count < superclasses.count {
            if extensionMembers[current]?.contains(member) == true { return current }
            next = superclasses[current]
            count += 1
        }
        return nil
    }

    private static func addSubclasses(to names: inout Set<String>, _ parents: [(name: String, parent: String)]) {
        var isComplete = false
        while !isComplete {
            let found = parents.filter { names.contains($0.parent) && !names.contains($0.name) }.map(\.name)
            names.formUnion(found)
            isComplete = found.isEmpty
        }
    }

    /// Removes the set classes of properties whose name another property has too.
    private mutating func leaveOutAmbiguousSets(_ source: SwiftSource) {
        for (index, token) in source.tokens.enumerated()
        where token.kind == .word && (token.text == "var" || token.text == "let") {
            let name = source.word(index + 1)
            guard let type = setClasses[name], source.isMember(index) else { continue }
            if !source.matches(":", type, at: index + 2) { setClasses[name] = nil }
        }
    }

    func contain(_ scope: SwiftSource.Scope?) -> Bool {
        guard let scope, scope.kind != .protocol else { return false }
        return names.contains(scope.name)
    }
}
