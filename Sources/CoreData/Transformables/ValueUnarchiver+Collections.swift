import Foundation

extension ValueUnarchiver {
    /// The maximum number of collections that a set or the keys of a dictionary may contain:
    /// collections have few different hashes, so each is compared with many others.
    private static let collectionLimit = 4096

    /// The object numbers of the elements of a collection, which are stored in one list or under
    /// one key each.
    private func elementNumbers(_ listKey: String, _ elementKey: String, of object: ObjectArchive.Object) throws
        -> [Int]
    {
        if archive.entry(listKey, of: object) != nil { return try archive.references(listKey, of: object) }
        var numbers: [Int] = []
        while let number = try archive.reference("\(elementKey).\(numbers.count)", of: object) {
            numbers.append(number)
        }
        return numbers
    }

    private func values(_ numbers: [Int], of object: ObjectArchive.Object, _ classes: [AnyClass], depth: Int) throws
        -> [Any]
    {
        var values: [Any] = []
        values.reserveCapacity(numbers.count)
        for number in numbers {
            guard let value = try value(number, classes, depth: depth) else {
                throw UnarchivingError.damaged(
                    "its object \(object.number), of the class '\(object.className)', holds nothing at a place")
            }
            values.append(value)
        }
        return values
    }

    func elements(of object: ObjectArchive.Object, _ classes: [AnyClass], depth: Int) throws -> [Any] {
        try values(elementNumbers("NS.objects", "NS.object", of: object), of: object, classes, depth: depth)
    }

    /// Elements whose hashes tell them apart.
    func members(of object: ObjectArchive.Object, _ classes: [AnyClass], depth: Int) throws -> [Any] {
        let members = try elements(of: object, classes, depth: depth)
        try checkHashing(of: members, in: object)
        return members
    }

    func dictionary(of object: ObjectArchive.Object, _ classes: [AnyClass], depth: Int) throws -> NSMutableDictionary {
        let keys = try values(elementNumbers("NS.keys", "NS.key", of: object), of: object, classes, depth: depth)
        let values = try elements(of: object, classes, depth: depth)
        guard keys.count == values.count else {
            throw UnarchivingError.damaged("a dictionary has more keys than values, or fewer")
        }
        try checkHashing(of: keys, in: object)
        let dictionary = NSMutableDictionary(capacity: keys.count)
        for (key, value) in zip(keys, values) {
            guard let key = key as? NSObject else {
                throw UnarchivingError.damaged("a dictionary has a key of the type \(type(of: key))")
            }
            // Foundation on Linux stops the program when it bridges such a dictionary to Swift, as
            // Swift's arrays and dictionaries of `Any` have no hash.
            if key is NSArray || key is NSDictionary {
                throw UnarchivingError(
                    problem:
                        "has a \(type(of: key)) as a key of a \(object.className), which Foundation cannot bridge on "
                        + "Linux"
                )
            }
            dictionary.setObject(value, forKey: key)
        }
        return dictionary
    }

    private func checkHashing(of values: [Any], in object: ObjectArchive.Object) throws {
        // Foundation on Linux recurses without end for the hash of a decimal number.
        if values.contains(where: { $0 is NSDecimalNumber }) {
            throw UnarchivingError(
                problem:
                    "holds decimal numbers in a \(object.className) where they must be hashed, which Foundation "
                    + "cannot on Linux"
            )
        }
        let collections = values.count { $0 is NSArray || $0 is NSDictionary || $0 is NSSet || $0 is NSOrderedSet }
        guard collections <= Self.collectionLimit else {
            throw UnarchivingError(
                problem: "holds more than \(Self.collectionLimit) collections in one \(object.className)")
        }
    }

    /// Reads a text with attributes.
    ///
    /// If all of it has the same attributes, they are one dictionary. Otherwise they are a list of
    /// dictionaries and the runs: each run is a length and an index in the list, encoded in seven
    /// bits per byte, the lowest bits first.
    func attributedString(_ object: ObjectArchive.Object, _ classes: [AnyClass], depth: Int) throws
        -> NSMutableAttributedString
    {
        let allowed = classes + ValueTransformers.allowedClasses
        let text = try archive.text("NSString", of: object) ?? ""
        let result = NSMutableAttributedString(string: text)
        let attributes = try archive.reference("NSAttributes", of: object).flatMap {
            try value($0, allowed, depth: depth)
        }
        guard
            let info = try archive.reference("NSAttributeInfo", of: object).flatMap({
                try value($0, allowed, depth: depth)
            })
        else {
            guard let attributes else { return result }
            result.setAttributes(try Self.attributes(attributes), range: NSRange(location: 0, length: result.length))
            return result
        }
        guard let list = attributes as? NSArray, let bytes = info as? NSData else {
            throw UnarchivingError.damaged("an attributed text has no list of attributes")
        }
        var numbers = Self.numbers(in: bytes as Data)[...]
        var location = 0
        while let length = numbers.popFirst(), let index = numbers.popFirst() {
            guard length <= result.length - location, index < list.count else {
                throw UnarchivingError.damaged("the runs of an attributed text do not fit it")
            }
            result.setAttributes(try Self.attributes(list[index]), range: NSRange(location: location, length: length))
            location += length
        }
        return result
    }

    private static func attributes(_ value: Any) throws -> [NSAttributedString.Key: Any] {
        guard let dictionary = value as? NSDictionary else {
            throw UnarchivingError.damaged("attributes of a text are no dictionary")
        }
        var result: [NSAttributedString.Key: Any] = [:]
        for (key, value) in dictionary {
            guard let key = key as? String else { throw UnarchivingError.damaged("an attribute of a text has no name") }
            result[NSAttributedString.Key(key)] = value
        }
        return result
    }

    private static func numbers(in data: Data) -> [Int] {
        var numbers: [Int] = []
        var (number, shift) = (0, 0)
        for byte in data {
            if shift < 42 { number |= Int(byte & 0x7f) << shift }
            shift += 7
            if byte < 0x80 {
                numbers.append(number)
                (number, shift) = (0, 0)
            }
        }
        return numbers
    }
}
