import SafeCoreData
import TestSupport
import Testing

/// A class whose own limits cannot be kept.
@Entity
private final class Crate: NSManagedObject {
    @Attribute(.range(1...10)) var label: String
}

struct StopMessageTests {
    @Test func aLimitThatDoesNotFitNamesItsPropertyInEveryBuild() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = NSManagedObjectModel(entities: Crate.self)
        }
        let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(message.contains("Crate.label is not a number or a date"), "\(message)")
    }
}
