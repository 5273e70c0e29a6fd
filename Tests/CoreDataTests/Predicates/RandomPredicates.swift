import CoreData
import TestSupport

/// Makes random predicates on `RandomThings`: formats with arguments, so that parsing and binding
/// take part.
struct RandomPredicates {
    /// A format and its arguments; objects are named by entity and number, as each store has its
    /// own.
    struct Description {
        var format: String
        var arguments: [Argument] = []

        static func + (left: Description, right: Description) -> Description {
            Description(format: left.format + right.format, arguments: left.arguments + right.arguments)
        }

        static func + (left: Description, right: String) -> Description {
            Description(format: left.format + right, arguments: left.arguments)
        }

        static func + (left: String, right: Description) -> Description {
            Description(format: left + right.format, arguments: right.arguments)
        }

        func predicate(on side: RandomThings.Side) throws -> NSPredicate {
            try NSPredicate.parse(
                format,
                arguments: arguments.map { argument in
                    switch argument {
                    case .value(let value): value
                    case .object(let entity, let number): side.objects[entity]?[number]
                    case .objectID(let entity, let number): side.objects[entity]?[number].objectID
                    case .objects(let entity, let numbers): numbers.compactMap { side.objects[entity]?[$0] }
                    }
                })
        }
    }

    enum Argument {
        case value(Any?)
        case object(String, Int)
        case objectID(String, Int)
        case objects(String, [Int])
    }

    private var random: SeededGenerator

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    private mutating func chance(_ of: Int) -> Bool { Int.random(in: 0..<of, using: &random) == 0 }
    private mutating func pick<Value>(_ values: [Value]) -> Value {
        values[Int.random(in: 0..<values.count, using: &random)]
    }
    private func value(_ value: Any?) -> Description { Description(format: "%@", arguments: [.value(value)]) }
    private func text(_ format: String) -> Description { Description(format: format) }

    // MARK: Predicates

    mutating func next() -> Description { predicate(3) }

    private mutating func predicate(_ depth: Int) -> Description {
        if depth > 0 {
            switch Int.random(in: 0..<12, using: &random) {
            case 0, 1: return "(" + predicate(depth - 1) + " AND " + predicate(depth - 1) + ")"
            case 2, 3: return "(" + predicate(depth - 1) + " OR " + predicate(depth - 1) + ")"
            case 4: return "NOT (" + predicate(depth - 1) + ")"
            default: break
            }
        }
        switch Int.random(in: 0..<20, using: &random) {
        case 0..<5: return numbers(depth)
        case 5..<11: return strings(depth)
        case 11: return dates(depth)
        case 12: return opaque()
        case 13: return objects()
        case 14, 15: return quantified()
        case 16: return subquery(depth)
        case 17: return mixed()
        case 18: return nils(depth)
        default: return pick([text("TRUEPREDICATE"), text("FALSEPREDICATE"), text("flag == YES"), text("flag != NO")])
        }
    }

    private static let orders = ["==", "!=", "<", "<=", ">", ">="]

    private mutating func numbers(_ depth: Int) -> Description {
        let left = number(depth)
        switch Int.random(in: 0..<8, using: &random) {
        case 0: return left + " IN {" + number(0) + ", " + number(0) + ", " + numberConstant() + "}"
        case 1: return left + " IN " + value((0..<pick([1, 3, 20])).map { _ in pick(RandomThings.longIntegers) })
        case 2: return left + " BETWEEN {" + number(0) + ", " + number(depth) + "}"
        default: return left + " \(pick(Self.orders)) " + number(depth)
        }
    }

    private mutating func strings(_ depth: Int) -> Description {
        let options = pick(["", "", "[c]", "[d]", "[cd]", "[n]", "[cn]"])
        let left = string(depth)
        switch Int.random(in: 0..<10, using: &random) {
        case 0: return left + " IN\(options) {" + stringConstant() + ", " + string(0) + ", " + stringConstant() + "}"
        case 1: return left + " IN\(options) " + value((0..<pick([1, 3, 20])).map { _ in pick(RandomThings.texts) })
        case 2: return left + " BETWEEN\(options) {" + string(0) + ", " + string(0) + "}"
        case 3: return left + " IN\(options) " + string(0)
        case 4: return left + " MATCHES\(options) " + value(pick(Self.patterns))
        case 5: return left + " LIKE\(options) " + wildcards()
        default:
            let operation = pick(
                Self.orders + ["CONTAINS", "BEGINSWITH", "ENDSWITH", "LIKE", "CONTAINS", "BEGINSWITH", "ENDSWITH"])
            return left + " \(operation)\(options) " + string(depth)
        }
    }

    private static let patterns = [
        ".*", ".", "..", "a.c", "[aA].*", "(a|b)+", "É", "\\d+", "e.", "s+", "[[:upper:]].*", "\\\\", ".*é.*",
        "(?i)abc", "a\\x{0}b",
    ]

    private mutating func wildcards() -> Description {
        let parts = (0..<Int.random(in: 0...3, using: &random)).map { _ in
            pick(RandomThings.texts + ["*", "*", "?", "?", "??", "\\*", "\\?"])
        }
        return value(parts.joined())
    }

    private mutating func dates(_ depth: Int) -> Description {
        if chance(4) { return date(0) + " BETWEEN {" + date(0) + ", " + date(0) + "}" }
        if chance(4) { return date(0) + " IN {" + date(0) + ", " + dateConstant() + "}" }
        if chance(4) { return "made - sold \(pick(Self.orders)) " + numberConstant() }
        return date(depth) + " \(pick(Self.orders)) " + date(depth)
    }

    private mutating func opaqueConstant(_ key: String) -> Description {
        switch key {
        case "code": value(pick(RandomThings.ids))
        case "link": value(pick(RandomThings.links))
        default: value(pick(RandomThings.data.map { Data($0) } + [Data(repeating: 1, count: 150_000)]))
        }
    }

    /// UUIDs, data and URLs.
    private mutating func opaque() -> Description {
        let key = pick(["code", "link", "bytes", "photo", "parent.photo", "parent.code"])
        let kind = key.split(separator: ".").last.map(String.init) ?? key
        switch Int.random(in: 0..<4, using: &random) {
        case 0:
            let (first, second) = (opaqueConstant(kind), opaqueConstant(kind))
            return text(key + " IN {") + first + ", " + second + "}"
        case 1:
            return text(
                pick(["bytes == photo", "parent.code == code", "photo == parent.photo", "link == parent.link"]))
        default:
            let order = pick(Self.orders)
            return text(key + " \(order) ") + opaqueConstant(kind)
        }
    }

    private mutating func objects() -> Description {
        func any(_ entity: String, _ count: Int, _ random: inout SeededGenerator) -> Description {
            let number = Int.random(in: 0..<count, using: &random)
            return Description(
                format: "%@",
                arguments: [Bool.random(using: &random) ? .object(entity, number) : .objectID(entity, number)])
        }
        let owner = any("Owner", RandomThings.ownerCount, &random)
        let thing = any("Thing", RandomThings.thingCount, &random)
        let tag = any("Tag", RandomThings.tagCount, &random)
        let some = (0..<4).map { _ in Int.random(in: 0..<RandomThings.ownerCount, using: &random) }
        let list = Description(format: "%@", arguments: [.objects("Owner", some)])
        let formats: [(String, Description)] = [
            ("owner == ", owner), ("owner != ", owner), ("SELF == ", thing), ("SELF != ", thing), ("parent == ", thing),
            ("owner == ", thing),
            ("SELF == ", owner), ("owner IN ", list), ("NOT owner IN ", list), ("tags CONTAINS ", tag),
            ("parent.owner == ", owner),
            ("ANY tags == ", tag), ("NONE tags == ", tag), ("ALL tags != ", tag), ("children CONTAINS ", thing),
            ("ANY children.owner == ", owner),
            ("owner.things CONTAINS ", thing), ("parent == SELF OR SELF == ", thing),
            ("owner == parent.owner AND owner != ", owner),
        ]
        if chance(formats.count + 1) { return tag + " IN tags" }
        let (format, object) = pick(formats)
        return format + object
    }

    private mutating func quantified() -> Description {
        let quantifier = pick(["ANY ", "ALL ", "NONE ", "SOME ", ""])
        if chance(4) { return toManyOnTheRight(pick(["", "", quantifier])) }
        switch Int.random(in: 0..<8, using: &random) {
        case 0: return "\(quantifier)tags.weight \(pick(Self.orders)) " + number(0)
        case 1: return "\(quantifier)tags.worth \(pick(Self.orders)) " + numberConstant()
        case 2: return "\(quantifier)tags.day \(pick(Self.orders)) " + date(0)
        case 3: return "\(quantifier)children.whole BETWEEN {" + numberConstant() + ", " + numberConstant() + "}"
        case 4: return "\(quantifier)children.owner.name \(pick(Self.orders))[c] " + string(0)
        case 5: return "\(quantifier)children.photo == " + value(Data(pick(RandomThings.data)))
        case 6: return text("\(pick(["ANY", "ALL", "NONE"])) text == ") + string(0)
        default:
            let operation = pick(Self.orders + ["CONTAINS", "BEGINSWITH", "ENDSWITH", "LIKE"])
            return "\(quantifier)tags.label \(operation)\(pick(["", "[c]", "[cd]"])) " + stringConstant()
        }
    }

    private mutating func toManyOnTheRight(_ quantifier: String) -> Description {
        switch Int.random(in: 0..<5, using: &random) {
        case 0:
            return text(quantifier) + number(0)
                + " \(pick(Self.orders)) \(pick(["tags.weight", "tags.worth", "children.whole"]))"
        case 1: return text(quantifier) + date(0) + " \(pick(Self.orders)) tags.day"
        case 2: return text(quantifier) + string(0) + " IN\(pick(["", "[c]"])) tags.label"
        case 3: return text("\(quantifier)owner \(pick(["==", "!=", "IN"])) children.owner")
        default:
            return text(quantifier) + string(0)
                + " \(pick(Self.orders))\(pick(["", "[c]", "[cd]"])) \(pick(["tags.label", "children.owner.name"]))"
        }
    }

    private mutating func subquery(_ depth: Int) -> Description {
        let condition: Description
        switch Int.random(in: 0..<4, using: &random) {
        case 0: condition = "$x.weight \(pick(Self.orders)) " + numberConstant()
        case 1: condition = "$x.label \(pick(Self.orders + ["CONTAINS"]))[cd] " + stringConstant()
        case 2: condition = "$x.label == nil OR $x.worth > " + numberConstant()
        default: condition = "$x.weight > 0 AND ($x.worth \(pick(Self.orders)) " + numberConstant() + ")"
        }
        if chance(4) {
            return text("SUBQUERY(children, $x, $x.owner == owner OR $x.whole > whole).@count \(pick(Self.orders)) 1")
        }
        return "SUBQUERY(tags, $x, " + condition
            + ").@count \(pick(Self.orders)) \(Int.random(in: 0..<4, using: &random))"
    }

    /// Values of different types side by side.
    private mutating func mixed() -> Description {
        let order = pick(Self.orders)
        let key: String
        switch Int.random(in: 0..<5, using: &random) {
        case 0:
            key = pick(["text", "made", "whole", "price", "flag"])
            return text("\(key) \(order) ") + numberConstant()
        case 1:
            key = pick(["whole", "price", "code", "link", "bytes", "made"])
            return text("\(key) \(order) ") + stringConstant()
        case 2:
            key = pick([
                "whole CONTAINS ", "price BEGINSWITH ", "ratio ENDSWITH ", "code CONTAINS[c] ", "link CONTAINS[c] ",
            ])
            return text(key) + stringConstant()
        case 3:
            key = pick([
                "text \(order) word", "whole \(order) price", "ratio \(order) price", "long \(order) ratio",
                "text \(order) whole",
            ])
            return chance(6) ? text("ratio \(order) ") + dateConstant() : text(key)
        default:
            key = pick(["whole", "text"])
            return text("\(key) IN {") + stringConstant() + ", " + numberConstant() + "}"
        }
    }

    private mutating func nils(_ depth: Int) -> Description {
        let key = pick([
            "text", "whole", "price", "made", "owner", "owner.name", "parent.owner", "photo", "code", "parent.photo",
            "link",
            "tags.@max.weight",
        ])
        switch Int.random(in: 0..<5, using: &random) {
        case 0: return text("\(key) \(pick(Self.orders)) nil")
        case 1: return text("nil \(pick(["==", "!="])) \(key)")
        case 2: return text("text \(pick(["==[c]", "!=[cd]", "<[c]", "CONTAINS[c]", "BEGINSWITH"])) nil")
        case 3: return text("word \(pick(["==[c]", "!=[c]", "<[c]", "==", "!=", ">="])) text")
        default: return text("\(key) \(pick(["==", "!="])) nil")
        }
    }

    // MARK: Expressions

    private static let wholeKeys = [
        "small", "whole", "long", "flag", "owner.rank", "parent.whole", "tags.@count", "children.@count",
    ]
    private static let otherNumberKeys = [
        "ratio", "single", "price", "cost", "owner.budget", "parent.price", "tags.@sum.weight", "tags.@avg.weight",
        "tags.@min.weight",
        "tags.@max.worth", "tags.@sum.worth", "tags.@avg.worth", "children.@sum.whole", "children.@avg.whole",
        "children.@max.price",
    ]

    private mutating func number(_ depth: Int) -> Description {
        guard depth > 0, chance(2) else {
            switch Int.random(in: 0..<6, using: &random) {
            case 0, 1: return text(pick(Self.wholeKeys))
            case 2, 3: return text(pick(Self.otherNumberKeys))
            default: return numberConstant()
            }
        }
        switch Int.random(in: 0..<14, using: &random) {
        case 0..<6: return "(" + number(depth - 1) + " \(pick(["+", "-", "*", "/"])) " + number(depth - 1) + ")"
        case 6, 7:
            return "(" + whole(depth - 1) + " \(pick(["&", "|", "^", "<<", ">>"])) " + whole(depth - 1) + ")"
        case 8: return "(~" + whole(depth - 1) + ")"
        case 9: return "modulus:by:(" + whole(depth - 1) + ", " + whole(depth - 1) + ")"
        case 10: return "\(pick(["abs", "floor", "ceiling", "trunc", "sqrt", "ln", "log"]))(" + number(depth - 1) + ")"
        case 11: return "length(" + string(0) + ")"
        case 12:
            return "TERNARY(" + predicate(0) + ", " + text(pick(["whole", "long", "small"])) + ", "
                + text(pick(["whole", "nil", "5"]))
                + ")"
        default:
            return "(" + text(pick(["whole", "ratio", "price"])) + " ** " + text(pick(["2", "0", "0.5", "-1"])) + ")"
        }
    }

    private mutating func whole(_ depth: Int) -> Description {
        if chance(3) { return value(pick(RandomThings.longIntegers)) }
        if depth > 0, chance(4) {
            return "(" + whole(depth - 1) + " \(pick(["&", "|", "^"])) " + whole(depth - 1) + ")"
        }
        return text(pick(Self.wholeKeys + ["ratio", "price"]))
    }

    private mutating func numberConstant() -> Description {
        switch Int.random(in: 0..<5, using: &random) {
        case 0: return value(pick(RandomThings.doubles))
        case 1: return value(pick(RandomThings.decimals))
        case 2: return value(chance(4) ? nil : pick(RandomThings.longIntegers))
        default: return value(pick(RandomThings.integers))
        }
    }

    private mutating func string(_ depth: Int) -> Description {
        if depth > 0, chance(5) { return "\(pick(["lowercase", "uppercase", "canonical"]))(" + string(0) + ")" }
        if depth > 0, chance(9) { return "TERNARY(" + predicate(0) + ", text, " + string(0) + ")" }
        switch Int.random(in: 0..<6, using: &random) {
        case 0, 1: return text("text")
        case 2:
            return text(pick(["word", "owner.name", "parent.text", "link", "tags.@max.label", "parent.owner.name"]))
        default: return stringConstant()
        }
    }

    private mutating func stringConstant() -> Description { value(chance(20) ? nil : pick(RandomThings.texts)) }

    private mutating func date(_ depth: Int) -> Description {
        if depth > 0, chance(4) { return "(made \(pick(["+", "-"])) " + value(pick([0, 1, 0.5, 1000])) + ")" }
        return chance(2) ? text(pick(["made", "sold", "parent.made", "tags.@max.day"])) : dateConstant()
    }

    private mutating func dateConstant() -> Description {
        value(chance(20) ? nil : Date(timeIntervalSinceReferenceDate: pick(RandomThings.dates)))
    }
}
