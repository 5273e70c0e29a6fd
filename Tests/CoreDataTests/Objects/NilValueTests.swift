import CoreData
import TestSupport
import Testing

final class Barometer: NSManagedObject {
    @Managed var level: Int32
    @Managed var spare: NSNumber?
    @Managed var name: String?
    @Managed var isOn: Bool
    @Managed var ratio: Double
    @Managed var next: Barometer?
    var nilKeys: [String] = []

    override func setNilValueForKey(_ key: String) {
        nilKeys.append(key)
        if key == "level" { setValue(-1, forKey: key) } else { super.setNilValueForKey(key) }
    }
}

/// `setNilValueForKey(_:)`, and nil by name in general.
@Suite(.everyStore) struct NilValueTests {
    private static func stack() throws -> TestStack {
        let barometer = NSEntityDescription(
            "Barometer", class: "Barometer",
            [
                .init("level", .integer32AttributeType, optional: false, default: 5),
                .init("spare", .integer64AttributeType, default: 7),
                .init("name", .stringAttributeType, default: "x"), .init("isOn", .booleanAttributeType, default: true),
                .init("ratio", .doubleAttributeType, optional: false, default: 1.5),
            ])
        barometer.properties.append(NSRelationshipDescription("next", to: barometer))
        return try TestStack([barometer])
    }

    @Test func aClassMayReplaceNilForAScalar() throws {
        let stack = try Self.stack()
        let barometer = Barometer(context: stack.context)
        barometer.setValue(nil, forKey: "level")
        #expect(barometer.level == -1)
        #expect(barometer.nilKeys == ["level"])
        barometer.setValue(NSNull(), forKey: "level")
        barometer.setValuesForKeys(["level": NSNull(), "name": NSNull()])
        barometer.setValue(nil as Int32?, forKeyPath: "level")
        #expect(barometer.nilKeys == ["level", "level", "level", "level"])
        #expect(barometer.name == nil)
        try stack.context.save()
        #expect(stack.stored(["level", "name"], of: "Barometer") == [["-1", nil]])
    }

    @Test func onlyWhatMayBeAScalarAsksTheClass() throws {
        let stack = try Self.stack()
        let barometer = Barometer(context: stack.context)
        barometer.next = barometer
        for key in ["spare", "name", "isOn", "next"] { barometer.setValue(nil, forKey: key) }
        #expect(barometer.nilKeys == ["spare", "isOn"])
        #expect(barometer.spare == nil)
        #expect(barometer.name == nil)
        #expect(!barometer.isOn)
        #expect(barometer.next == nil)
        barometer.setValue(3, forKey: "spare")
        #expect(barometer.nilKeys == ["spare", "isOn"])
        #expect(barometer.spare == 3)
        try stack.context.save()
        #expect(stack.stored(["spare", "isOn"], of: "Barometer") == [["3", nil]])
    }

    @Test func nilThatNobodyReplacesIsMissingWhenItIsSaved() throws {
        let stack = try Self.stack()
        let barometer = Barometer(context: stack.context)
        barometer.setValue(nil, forKey: "ratio")
        #expect(barometer.nilKeys == ["ratio"])
        #expect(barometer.value(forKey: "ratio") == nil)
        let error = #expect(throws: CocoaError.self) { try stack.context.save() }
        #expect(error?.code == .validationMissingMandatoryProperty)
    }

    @Test func theNamesOfExceptionsAreThoseOfFoundation() {
        #expect(NSExceptionName.invalidArgumentException.rawValue == "NSInvalidArgumentException")
        #expect(NSExceptionName.internalInconsistencyException.rawValue == "NSInternalInconsistencyException")
        #expect(NSExceptionName.objectInaccessibleException.rawValue == "NSObjectInaccessibleException")
        #expect(NSExceptionName.objectNotAvailableException.rawValue == "NSObjectNotAvailableException")
        #expect(NSExceptionName.undefinedKeyException.rawValue == "NSUnknownKeyException")
        #expect(NSExceptionName.genericException.rawValue == "NSGenericException")
        #expect(NSExceptionName.rangeException.rawValue == "NSRangeException")
    }
}
