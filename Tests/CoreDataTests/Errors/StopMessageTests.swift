import CoreData
import TestSupport
import Testing

/// What a program says when a mistake in it stops it: in release builds too, where the standard library keeps such messages back.
struct StopMessageTests {
    private func message(of result: ExitTest.Result?) -> String {
        String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    }

    @Test func aWrongPredicateFormatIsShown() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = NSPredicate(format: "name ==")
        }
        #expect(message(of: result).contains("This is not a predicate format"), "\(message(of: result))")
        #expect(message(of: result).contains("name =="), "\(message(of: result))")
    }

    @Test func aModelThatIsChangedInUseIsNamed() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let entity = NSEntityDescription("Ship", [NSAttributeDescription("name", .stringAttributeType)])
            _ = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel([entity]))
            entity.name = "Boat"
        }
        #expect(message(of: result).contains("Ship"), "\(message(of: result))")
        #expect(message(of: result).contains("NSEntityDescription.swift"), "\(message(of: result))")
    }

    @Test func anUnknownKeyIsNamed() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = try TestStack([NSEntityDescription("Ship", [NSAttributeDescription("name", .stringAttributeType)])])
            let ship = NSManagedObject(entity: stack.entity("Ship"), insertInto: stack.context)
            ship.setValue(1, forKey: "tonnage")
        }
        #expect(message(of: result).contains("tonnage"), "\(message(of: result))")
    }
}
