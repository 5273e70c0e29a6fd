import CoreData
import TestSupport

/// A root, a child and a grandchild over pieces in rooms, with every kind of value that stores
/// treat in a way of its own, and over countries in a store that cannot be written; beside what
/// they should show.
final class ExhibitionWorld {
    /// A step of a sequence. What it does depends on what is there.
    struct Step: CustomStringConvertible {
        enum Action: CaseIterable {
            case insertPiece, insertPieceInRoom, insertRoom, insertTheme, name, code, swapCodes, duplicateCode, image,
                width, unit, size
            case label, room, arrangeRoom, arrangeThemes, assignTheme, delete, renameCountry, keepCountry, refresh
            case undo, redo, save, saveUp, rollback
        }

        let level: Int
        let action: Action
        let numbers: [Int]

        /// More often what others rest on, rarely what ends everything else or keeps saves from
        /// succeeding.
        private static let actions: [Action] =
            Action.allCases.filter { ![.rollback, .renameCountry, .duplicateCode, .label].contains($0) }
            + Action.allCases
            + [
                .insertPieceInRoom, .insertPieceInRoom, .room, .delete, .arrangeRoom, .arrangeRoom, .arrangeThemes,
                .undo, .undo, .undo,
                .redo, .saveUp, .saveUp, .keepCountry,
            ]

        init(using random: inout SeededGenerator) {
            level = Int.random(in: 0..<3, using: &random)
            action = Self.actions.randomElement(using: &random) ?? .saveUp
            numbers = (0..<4).map { _ in Int.random(in: 0..<1000, using: &random) }
        }

        var description: String { "\(action)(level: \(level), \(numbers))" }
    }

    /// A difference from the reference.
    struct Difference: Error, CustomStringConvertible { let description: String }

    typealias View = ExhibitionReference.View
    typealias Value = ExhibitionReference.Value
    typealias Kind = ExhibitionReference.Kind

    let url: URL
    let kind: StoreKind
    let coordinator: NSPersistentStoreCoordinator
    let levels: [NSManagedObjectContext]
    private(set) var reference: ExhibitionReference
    private(set) var counts: [String: Int] = [:]
    private let folder: TemporaryFolder
    private let managers: [UndoManager]
    private var lastID = 10

    init(_ kind: StoreKind) throws {
        self.kind = kind
        folder = try TemporaryFolder()
        url = folder.file("exhibition.sqlite")
        let countries = folder.file("countries.sqlite")
        let model = Self.model()
        do {
            let writer = NSPersistentStoreCoordinator(managedObjectModel: model)
            let store = try writer.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: "Fixed", at: countries)
            let context = writer.newContext()
            for id in 1...2 {
                let country = NSEntityDescription.insertNewObject(forEntityName: "Country", into: context)
                country.setValuesForKeys(["uid": id, "name": "country \(id)"])
            }
            try context.save()
            try writer.remove(store)
        }
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(
            ofType: kind.type, configurationName: "Changing",
            at: kind.url(url), options: [NSSQLitePragmasOption: ["synchronous": "OFF"]])
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: "Fixed", at: countries,
            options: [NSReadOnlyPersistentStoreOption: true])
        var levels = [coordinator.newContext()]
        for _ in 0..<2 { levels.append(levels[levels.count - 1].newChild()) }
        self.levels = levels
        managers = levels.map { context in
            let manager = UndoManager()
            manager.groupsByEvent = false
            context.undoManager = manager
            return manager
        }
        var stored: View = [:]
        for id in 1...2 { stored[id] = .init(kind: .country, fields: ["name": .text("country \(id)")]) }
        reference = ExhibitionReference(levels: 3, stored: stored)
    }

    private static func model() -> NSManagedObjectModel {
        func entity(_ name: String, _ more: [NSAttributeDescription]) -> NSEntityDescription {
            NSEntityDescription(
                name, class: "NSManagedObject", [NSAttributeDescription("uid", .integer64AttributeType)] + more)
        }
        func derived(_ name: String, _ type: NSAttributeType, _ format: String) -> NSDerivedAttributeDescription {
            let attribute = NSDerivedAttributeDescription()
            attribute.name = name
            attribute.attributeType = type
            attribute.isOptional = true
            attribute.derivationExpression = NSExpression(format: format)
            return attribute
        }
        let image = NSAttributeDescription("image", .binaryDataAttributeType)
        image.allowsExternalBinaryDataStorage = true
        let piece = entity(
            "Piece",
            [
                NSAttributeDescription("name", .stringAttributeType),
                NSAttributeDescription("code", .stringAttributeType), image,
                NSCompositeAttributeDescription(
                    "size", .init("width", .integer32AttributeType), .init("unit", .stringAttributeType)),
                derived("upperName", .stringAttributeType, "uppercase:(name)"),
            ])
        piece.uniquenessConstraints = [["code"]]
        let room = entity(
            "Room",
            [
                NSAttributeDescription("label", .stringAttributeType, optional: false),
                derived("pieceCount", .integer64AttributeType, "pieces.@count"),
            ])
        let theme = entity("Theme", [NSAttributeDescription("name", .stringAttributeType)])
        let country = entity("Country", [NSAttributeDescription("name", .stringAttributeType)])
        relate(room, "pieces", toMany: true, ordered: true, piece, inverse: "room")
        relate(piece, "themes", toMany: true, ordered: true, theme, inverse: "pieces", inverseToMany: true)
        let model = NSManagedObjectModel([piece, room, theme, country])
        model.setEntities([piece, room, theme], forConfigurationName: "Changing")
        model.setEntities([country], forConfigurationName: "Fixed")
        return model
    }

    func object(_ id: Int, in context: NSManagedObjectContext) throws -> NSManagedObject {
        for kind in Kind.allCases {
            let request = NSFetchRequest<NSManagedObject>(entityName: kind.rawValue)
            request.predicate = NSPredicate(format: "uid == %@", argumentArray: [id])
            let found = try context.fetch(request)
            if found.count > 1 { throw Difference(description: "object \(id) is fetched \(found.count) times") }
            if let found = found.first { return found }
        }
        throw Difference(description: "no object \(id) is fetched")
    }

    // MARK: - Steps

    func take(_ step: Step) throws {
        let level = step.level
        // Often nothing has been read that is not changed.
        if step.numbers[3] % 3 > 0 { levels[level].refreshAllObjects() }
        switch step.action {
        case .undo, .redo: try undoOrRedo(step)
        case .save: try save(level)
        case .saveUp: for upper in stride(from: level, through: 0, by: -1) { if !(try save(upper)) { break } }
        case .rollback:
            guard (level + 1..<levels.count).allSatisfy(reference.isClean) else { return }
            for lower in stride(from: levels.count - 1, through: level, by: -1) { levels[lower].rollback() }
            reference.rollback(level)
        case .refresh:
            guard let id = pick(nil, step.numbers[0], level) else { return }
            levels[level].refresh(try object(id, in: levels[level]), mergeChanges: true)
        case .keepCountry:
            guard let id = pick(.country, step.numbers[0], level) else { return }
            var view = reference.views[level]
            view[id] = (level == 0 ? reference.stored : reference.views[level - 1])[id]
            guard view != reference.views[level], reference.isFree(view, level) else { return }
            levels[level].refresh(try object(id, in: levels[level]), mergeChanges: false)
            managers[level].removeAllActions()
            reference.discard(level, to: view)
        default: try change(step)
        }
        counts["\(step.action)", default: 0] += 1
        for lower in levels.dropFirst(level + 1) { lower.refreshAllObjects() }
    }

    private func pick(_ kind: Kind?, _ number: Int, _ level: Int) -> Int? {
        let candidates = reference.views[level].filter { kind == nil || $0.value.kind == kind }.keys.sorted()
        return candidates.isEmpty ? nil : candidates[number % candidates.count]
    }

    private func undoOrRedo(_ step: Step) throws {
        let level = step.level
        if reference.canUndo(level), step.action == .undo || !reference.canRedo(level) {
            levels[level].undo()
            reference.undo(level)
            counts["undone", default: 0] += 1
            if step.action == .undo { return }
            for lower in levels.dropFirst(level + 1) { lower.refreshAllObjects() }
            try check()
        }
        if step.action == .redo, reference.canRedo(level) {
            levels[level].redo()
            reference.redo(level)
            counts["redone", default: 0] += 1
        } else if step.numbers[0] % 4 == 0 {
            // What other levels have done since may be in the way.
            managers[level].removeAllActions()
            reference.forgetUndo(level)
        }
    }

    /// - Returns: whether it went well, which it does unless something is there that must keep it
    ///   from that.
    @discardableResult
    private func save(_ level: Int) throws -> Bool {
        // What a child saves is not to be undone by its parent here.
        let above = level == 0 ? nil : managers[level - 1]
        above?.disableUndoRegistration()
        defer { above?.enableUndoRegistration() }
        let hasDuplicates = level == 0 && reference.hasDuplicates(0)
        let hasCountries = level == 0 && reference.hasChangedCountries
        let isRefused = reference.invalidRooms(level).areChanged || hasDuplicates || hasCountries
        var codes = hasDuplicates ? [NSManagedObjectConstraintMergeError] : []
        if reference.invalidRooms(level).exist { codes.append(NSValidationMissingMandatoryPropertyError) }
        do {
            try levels[level].save()
        } catch let error as NSError {
            counts["refused", default: 0] += 1
            if !hasCountries, !error.singleCodes.allSatisfy(codes.contains) {
                throw Difference(description: "level \(level) was not saved: \(error) \(error.userInfo)")
            }
            return false
        }
        if isRefused {
            throw Difference(
                description: "level \(level) was saved in spite of \(codes), changed countries: \(hasCountries)")
        }
        reference.save(level)
        if levels[level].hasChanges { throw Difference(description: "changes after a save of level \(level)") }
        return true
    }

    // MARK: - Changes

    private func change(_ step: Step) throws {
        let level = step.level
        let context = levels[level]
        var view = reference.views[level]
        guard let work = try work(step, &view), view != reference.views[level], reference.isFree(view, level) else {
            return
        }
        managers[level].beginUndoGrouping()
        defer { managers[level].endUndoGrouping() }
        try work(context)
        context.processPendingChanges()
        reference.change(level, to: view)
    }

    private typealias Work = (NSManagedObjectContext) throws -> Void

    /// Makes a step's change of a view, and gives that of a context.
    private func work(_ step: Step, _ view: inout View) throws -> Work? {
        let (level, numbers) = (step.level, step.numbers)
        func pick(_ kind: Kind?, _ index: Int) -> Int? { self.pick(kind, numbers[index], level) }
        func set(_ id: Int?, _ field: String, _ value: Value, _ stored: Any?) -> Work? {
            guard let id else { return nil }
            view[id]?[field] = value
            return { [unowned self] in try object(id, in: $0).setValue(stored, forKeyPath: field) }
        }
        func text(_ id: Int?, _ field: String, isOptional: Bool = true) -> Work? {
            if isOptional, numbers[1] % 5 == 0 { return set(id, field, .none, nil) }
            return set(id, field, .text("\(field) \(numbers[1])"), "\(field) \(numbers[1])")
        }
        switch step.action {
        case .insertPiece: return insert(.piece, &view, ["name": .text("new \(numbers[0])")], room: nil)
        case .insertPieceInRoom:
            return insert(.piece, &view, ["code": .text("code of \(lastID)")], room: pick(.room, 0))
        case .insertRoom: return insert(.room, &view, ["label": .text("room \(numbers[0])")], room: nil)
        case .insertTheme: return insert(.theme, &view, ["name": .text("theme \(numbers[0])")], room: nil)
        case .name: return text(pick(.piece, 0), "name")
        case .code: return text(pick(.piece, 0), "code")
        case .label: return text(pick(.room, 0), "label")
        case .renameCountry: return text(pick(.country, 0), "name")
        case .unit: return text(pick(.piece, 0), "size.unit")
        case .width: return set(pick(.piece, 0), "size.width", .number(numbers[1]), numbers[1])
        case .image:
            if numbers[1] % 4 == 0 { return set(pick(.piece, 0), "image", .none, nil) }
            let (byte, count) = (UInt8(numbers[1] % 200), numbers[2] % 2 == 0 ? 150_000 : 20)
            return set(pick(.piece, 0), "image", .bytes(byte, count: count), Data(repeating: byte, count: count))
        case .size:
            guard let id = pick(.piece, 0) else { return nil }
            let isNil = numbers[1] % 3 == 0
            view[id]?["size.width"] = isNil ? .none : .number(numbers[1])
            view[id]?["size.unit"] = isNil ? .none : .text("mm")
            let size: [String: Any]? = isNil ? nil : ["width": numbers[1], "unit": "mm"]
            return { [unowned self] in try object(id, in: $0).setValue(size, forKey: "size") }
        case .swapCodes, .duplicateCode:
            guard let first = pick(.piece, 0), let second = pick(.piece, 1), let one = view[first],
                let other = view[second]
            else {
                return nil
            }
            view[second]?["code"] = one["code"]
            if step.action == .swapCodes { view[first]?["code"] = other["code"] }
            return { [unowned self] context in
                let (piece, same) = (try object(first, in: context), try object(second, in: context))
                let code = same.value(forKey: "code")
                same.setValue(piece.value(forKey: "code"), forKey: "code")
                if step.action == .swapCodes { piece.setValue(code, forKey: "code") }
            }
        case .room:
            guard let piece = pick(.piece, 0) else { return nil }
            let room = numbers[2] % 4 == 0 ? nil : pick(.room, 1)
            if let room, view[room]?["pieces"].members.contains(piece) == true { return nil }
            remove(piece, fromRoomsOf: &view)
            if let room { Self.append(piece, to: room, &view) }
            return { [unowned self] context in
                try object(piece, in: context).setValue(try room.map { try object($0, in: context) }, forKey: "room")
            }
        case .arrangeRoom:
            guard let room = pick(.room, 0) else { return nil }
            let arrangement = Arrangement(view[room]?["pieces"].members ?? [], pick(.piece, 1), numbers)
            for piece in arrangement.after where !arrangement.before.contains(piece) {
                remove(piece, fromRoomsOf: &view)
            }
            view[room]?["pieces"] = .list(arrangement.after)
            return { [unowned self] in
                try arrangement.apply(to: object(room, in: $0), "pieces") { try object($0, in: $1) }
            }
        case .arrangeThemes:
            guard let piece = pick(.piece, 0) else { return nil }
            let arrangement = Arrangement(view[piece]?["themes"].members ?? [], pick(.theme, 1), numbers)
            view[piece]?["themes"] = .list(arrangement.after)
            return { [unowned self] in
                try arrangement.apply(to: object(piece, in: $0), "themes") { try object($0, in: $1) }
            }
        case .assignTheme:
            // From the other side, which has no order: what comes is the last.
            guard let piece = pick(.piece, 0), let theme = pick(.theme, 1), let members = view[piece]?["themes"].members
            else { return nil }
            let has = members.contains(theme)
            view[piece]?["themes"] = .list(members.filter { $0 != theme } + (has ? [] : [theme]))
            return { [unowned self] context in
                let pieces = try object(theme, in: context).mutableSetValue(forKey: "pieces")
                let object = try object(piece, in: context)
                if has { pieces.remove(object) } else { pieces.add(object) }
            }
        case .delete:
            guard let id = pick(nil, 0), view[id]?.kind != .country else { return nil }
            view[id] = nil
            for other in view.keys {
                for field in ["pieces", "themes"] {
                    guard let members = view[other]?[field].members, members.contains(id) else { continue }
                    view[other]?[field] = .list(members.filter { $0 != id })
                }
            }
            return { [unowned self] in $0.delete(try object(id, in: $0)) }
        case .keepCountry, .refresh, .undo, .redo, .save, .saveUp, .rollback: return nil
        }
    }

    private func insert(_ kind: Kind, _ view: inout View, _ fields: [String: Value], room: Int?) -> Work {
        lastID += 1
        let id = lastID
        view[id] = .init(kind: kind, fields: fields)
        if let room { Self.append(id, to: room, &view) }
        return { [unowned self] context in
            let object = NSEntityDescription.insertNewObject(forEntityName: kind.rawValue, into: context)
            object.setValue(id, forKey: "uid")
            for case (let field, .text(let text)) in fields { object.setValue(text, forKey: field) }
            if let room { object.setValue(try self.object(room, in: context), forKey: "room") }
        }
    }

    private static func append(_ piece: Int, to room: Int, _ view: inout View) {
        let members = view[room]?["pieces"].members ?? []
        view[room]?["pieces"] = .list(members + [piece])
    }

    private func remove(_ piece: Int, fromRoomsOf view: inout View) {
        for (room, node) in view where node.kind == .room && node["pieces"].members.contains(piece) {
            view[room]?["pieces"] = .list(node["pieces"].members.filter { $0 != piece })
        }
    }
}
