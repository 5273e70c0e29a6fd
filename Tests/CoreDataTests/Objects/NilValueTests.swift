import CoreData
import TestSupport
import Testing

final class Gauge: NSManagedObject {
    @Managed var level: Int32
    @Managed var spare: NSNumber?
    @Managed var name: String?
    @Managed var isOn: Bool
    @Managed var ratio: Double
    @Managed var next: Gauge?
    var nilKeys: [String] = []

    override func setNilValueForKey(_ key: String) {
        nilKeys.append(key)
        if key == "level" { setValue(-1, forKey: key) } else { super.setNilValueForKey(key) }
    }
}

/// `setNilValueForKey(_:)`, and nil by name in general.
@Suite struct NilValueTests {
    private static func stack() throws -> TestStack {
        let gauge = NSEntityDescription(
            "Gauge", class: "Gauge",
            [
                .init("level", .integer32AttributeType, optional: false, default: 5), .init("spare", .integer64AttributeType, default: 7),
                .init("name", .stringAttributeType, default: "x"), .init("isOn", .booleanAttributeType, default: true),
                .init("ratio", .doubleAttributeType, optional: false, default: 1.5),
            ])
        gauge.properties.append(NSRelationshipDescription("next", to: gauge))
        return try TestStack([gauge])
    }

    @Test func aClassMayReplaceNilForAScalar() throws {
        let stack = try Self.stack()
        let gauge = Gauge(context: stack.context)
        gauge.setValue(nil, forKey: "level")
        #expect(gauge.level == -1 && gauge.nilKeys == ["level"])
        gauge.setValue(NSNull(), forKey: "level")
        gauge.setValuesForKeys(["level": NSNull(), "name": NSNull()])
        gauge.setValue(nil as Int32?, forKeyPath: "level")
        #expect(gauge.nilKeys == ["level", "level", "level", "level"] && gauge.name == nil)
        try stack.context.save()
        #expect(stack.file.rows("SELECT ZLEVEL, ZNAME FROM ZGAUGE") == [["-1", nil]])
    }

    @Test func onlyWhatMayBeAScalarAsksTheClass() throws {
        let stack = try Self.stack()
        let gauge = Gauge(context: stack.context)
        gauge.next = gauge
        for key in ["spare", "name", "isOn", "next"] { gauge.setValue(nil, forKey: key) }
        #expect(gauge.nilKeys == ["spare", "isOn"])
        #expect(gauge.spare == nil && gauge.name == nil && !gauge.isOn && gauge.next == nil)
        gauge.setValue(3, forKey: "spare")
        #expect(gauge.nilKeys == ["spare", "isOn"] && gauge.spare == 3)
        try stack.context.save()
        #expect(stack.file.rows("SELECT ZSPARE, ZISON FROM ZGAUGE") == [["3", nil]])
    }

    @Test func nilThatNobodyReplacesIsMissingWhenItIsSaved() throws {
        let stack = try Self.stack()
        let gauge = Gauge(context: stack.context)
        gauge.setValue(nil, forKey: "ratio")
        #expect(gauge.nilKeys == ["ratio"] && gauge.value(forKey: "ratio") == nil)
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
