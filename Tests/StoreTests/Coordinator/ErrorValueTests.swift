import Foundation
import Testing

@testable import CoreData

@Suite("Errors (behaviours 335, 336)")
struct ErrorValueTests {
    private func fail(_ code: CocoaError.Code, _ userInfo: [String: Any] = [:]) throws {
        throw CoreDataErrors.make(code, "It failed.", recovery: "Try again.", userInfo: userInfo)
    }

    @Test func errorsAreInTheCocoaDomainWithMessageAndAdvice() throws {
        let error = try #require(
            #expect(throws: (any Error).self) { try fail(.managedObjectMerge) } as NSError?)
        #expect(error.domain == NSCocoaErrorDomain)
        #expect(error.code == NSManagedObjectMergeError)
        #expect(error.localizedDescription == "It failed.")
        #expect(error.localizedRecoverySuggestion == "Try again.")
    }

    @Test func errorsCastToCocoaErrorAndMatchItsCodes() throws {
        do {
            try fail(.managedObjectConstraintMerge)
            Issue.record("nothing was thrown")
        } catch CocoaError.managedObjectConstraintMerge {
        }
        do {
            try fail(.persistentStoreOpen)
        } catch let error as CocoaError {
            #expect(error.code == .persistentStoreOpen)
        }
    }

    @Test func userInfoIsReadableThroughCocoaError() throws {
        let predicate = NSPredicate(format: "salary > 0")
        do {
            try fail(
                .managedObjectValidation,
                [
                    NSValidationKeyErrorKey: "salary", NSValidationValueErrorKey: -1,
                    NSValidationPredicateErrorKey: predicate, NSValidationObjectErrorKey: "object",
                    NSAffectedObjectsErrorKey: [NSObject()], NSAffectedStoresErrorKey: [NSObject(), NSObject()],
                ])
        } catch let error as CocoaError {
            #expect(error.validationKey == "salary")
            #expect(error.validationValue as? Int == -1)
            #expect(error.validationPredicate == predicate)
            #expect(error.validationObject as? String == "object")
            #expect(error.affectedObjects?.count == 1)
            #expect(error.affectedStores?.count == 2)
            #expect(error.persistentStoreSaveConflicts == nil)
        }
    }

    @Test func constantsAndCodesAgree() {
        #expect(CocoaError.Code.validationStringTooLong.rawValue == NSValidationStringTooLongError)
        #expect(CocoaError.persistentStoreIncompatibleVersionHash.rawValue == 134100)
        #expect(CocoaError.Code.sqlite.rawValue == NSSQLiteError)
    }
}
