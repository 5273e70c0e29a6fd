import Foundation
import Testing

@testable import CoreData
@testable import OpenCoreDataModel

/// The texts of default values and limits that real model files have.
struct DefaultValueTextTests {
    private func attribute(_ type: String, _ text: String) throws -> NSAttributeDescription {
        let document =
            "<model><entity name=\"A\"><attribute name=\"x\" attributeType=\"\(type)\" \(text)/></entity></model>"
        let root = try ModelElementParser.parse(Data(document.utf8), file: "contents")
        let model = try ModelElementReader.model(from: root, file: "contents")
        return try #require(model.entitiesByName["A"]?.attributesByName["x"])
    }

    private func number(_ type: String, _ text: String) throws -> NSNumber? {
        try attribute(type, "defaultValueString=\"\(text)\"").defaultValue as? NSNumber
    }

    @Test(arguments: ["Integer 16", "Integer 32", "Integer 64", "Decimal", "Double", "Float"])
    func aNumbersDefaultMayBeATruthValue(_ type: String) throws {
        for text in ["NO", "no", "false", "False", " NO "] { #expect(try number(type, text) == 0) }
        for text in ["YES", "yes", "true", "TRUE", "YES "] { #expect(try number(type, text) == 1) }
    }

    @Test(
        arguments: ["Integer 16", "Integer 32", "Integer 64"],
        [("0.0", 0), ("1.0", 1), (" 7 ", 7), ("+3", 3), ("-0", 0), ("1e2", 100), ("2.9", 2), ("-2.9", -2)])
    func anIntegersDefaultMayBeWrittenAsAFraction(_ type: String, _ text: (String, Int)) throws {
        #expect(try number(type, text.0)?.intValue == text.1)
    }

    @Test(arguments: [
        (" 1.5 ", "1.5"), ("0", "0"), ("0.0", "0"), ("1e-3", "0.001"),
        ("12345678901234567890.125", "12345678901234567890.125"),
    ])
    func aDecimalsDefaultKeepsItsDigits(_ text: String, _ value: String) throws {
        #expect(try number("Decimal", text) as? NSDecimalNumber == NSDecimalNumber(string: value))
    }

    @Test(arguments: ["YES", "yes", "1", "true", "Y", " YES", "2", "01"]) func aBooleansDefaultIsTrue(_ text: String)
        throws
    {
        #expect(try number("Boolean", text) == true)
    }

    @Test(arguments: ["NO", "no", "0", "false", "N", " NO ", "0.0", "00"]) func aBooleansDefaultIsFalse(_ text: String)
        throws
    {
        #expect(try number("Boolean", text) == false)
    }

    @Test(arguments: ["Integer 16", "Integer 64", "Decimal", "Double", "Boolean"], ["", " "])
    func anEmptyTextIsNoDefault(_ type: String, _ text: String) throws {
        #expect(try number(type, text) == nil)
    }

    @Test func aDatesDefaultIsASpanOfTime() throws {
        for (text, seconds) in [("-978307200", -978_307_200), (" 60 ", 60), ("0.5", 0.5), ("6.9E8", 6.9e8)]
            as [(String, Double)]
        {
            #expect(
                try attribute("Date", "defaultDateTimeInterval=\"\(text)\"").defaultValue as? Date
                    == Date(timeIntervalSinceReferenceDate: seconds))
        }
    }

    /// Editors keep the text of the attribute's former type.
    @Test(arguments: ["Date", "Binary", "Transformable", "UUID"]) func textsThatSuchTypesCannotHaveAreNoDefault(
        _ type: String
    ) throws {
        #expect(try attribute(type, "defaultValueString=\"NO\"").defaultValue == nil)
    }

    @Test(arguments: [
        ("Integer 32", "many"), ("Double", "nan"), ("Double", "inf"), ("Integer 64", "1e30"), ("Decimal", "abc"),
        ("Float", "1,5"),
    ])
    func otherTextsAreNamed(_ type: String, _ text: String) throws {
        let error = #expect(throws: ModelReadingError.self) { try number(type, text) }
        #expect(error?.problem.contains("'\(text)'") == true)
        #expect(error?.entity == "A")
        #expect(error?.property == "x")
    }

    @Test func limitsMayHaveSpacesAndFractions() throws {
        let lengths = try attribute("String", "minValueString=\" 1 \" maxValueString=\"20.0\"")
        #expect(lengths.validationPredicates.map(\.predicateFormat) == ["length >= 1", "length <= 20"])
        #expect(
            try attribute("Integer 16", "minValueString=\"0.0\" maxValueString=\" 9\"").validationPredicates.count == 2)
    }
}
