import CoreData
import TestSupport
import Testing

/// Decimals whose cells differ in the last places from the number nearest to the decimal, as in
/// files of a Mac.
struct DecimalCellTests {
    private let stack: TestStack

    init() throws {
        let book = NSEntityDescription(
            "Priced", class: "NSManagedObject",
            [.init("name", .stringAttributeType), .init("price", .decimalAttributeType)])
        stack = try TestStack([book], kind: .sqlite)
        let file = SQLiteFile(stack.url)
        let cells = [
            "3.3333333332999993", "3.3333333333", "3.3333333333000006", "3.33333333331", "3.3333333332", "3.3", "-0.1",
            "0.30000000000000004", "0.3", "5", "4.999999999999999", "NULL",
        ]
        for (number, cell) in cells.enumerated() {
            try file.run("INSERT INTO ZPRICED (Z_PK, Z_ENT, Z_OPT, ZPRICE) VALUES (\(number + 1), 1, 1, \(cell))")
        }
    }

    private func fetch(_ predicate: NSPredicate? = nil) throws -> [NSManagedObject] {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Priced")
        request.predicate = predicate
        request.sortDescriptors = [NSSortDescriptor(key: "self", ascending: true)]
        return try stack.context.fetch(request)
    }

    @Test(arguments: ["==", "!=", "<", "<=", ">", ">="]) func aFetchFindsWhatEvaluationFinds(symbol: String) throws {
        let all = try fetch()
        let constants = ["3.3333333333", "3.33333333331", "3.3", "-0.1", "0.3", "5"]
        for constant in constants.map({ NSDecimalNumber(string: $0) }) {
            for format in ["price \(symbol) %@", "%@ \(symbol) price", "NOT price \(symbol) %@"] {
                let predicate = NSPredicate(format: format, constant)
                #expect(try fetch(predicate) == all.filter(predicate.evaluate), "\(predicate)")
            }
        }
        for number in [NSNumber(value: 3.3333333333), NSNumber(value: 0.3), NSNumber(value: 5)] {
            let predicate = NSPredicate(format: "price \(symbol) %@", number)
            #expect(try fetch(predicate) == all.filter(predicate.evaluate), "\(predicate)")
        }
    }

    @Test func rangesAndListsFindThemToo() throws {
        let all = try fetch()
        let prices = ["3.3333333333", "0.3"].map { NSDecimalNumber(string: $0) }
        let predicates = [
            NSPredicate(format: "price IN %@", prices),
            NSPredicate(format: "price BETWEEN %@", [prices[1], prices[0]]),
            NSPredicate(format: "price BETWEEN %@", [prices[0], prices[0]]),
        ]
        for predicate in predicates {
            let found = try fetch(predicate)
            #expect(found == all.filter(predicate.evaluate), "\(predicate)")
            #expect(found.count >= 3)
        }
    }
}
