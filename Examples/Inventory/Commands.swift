import SafeCoreData

/// What the program does for each subcommand: reads the arguments, works on the inventory, prints.
@MainActor
struct Commands {
    static let help = """
        Usage: inventory COMMAND … [--store PATH|URL]

          add NAME --cost 1.20 --price 2.50 [--stock 10] [--supplier NAME]…
          list                       show all items
          sell NAME COUNT            take pieces out of the stock
          restock NAME COUNT         put pieces into the stock
          search TEXT                items whose name or supplier holds the text
          search PREDICATE           items that match, such as 'stockCount < 5 AND unitPrice > 2'
          delete NAME
          history                    which life-cycle hooks ran, and when

        NAME may be the beginning of a name or of an item's ID.
        """

    private var operands: [String] = []
    private var options: [String: [String]] = [:]

    /// Sorts out the arguments.
    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            guard argument.hasPrefix("--") else {
                operands.append(argument)
                continue
            }
            guard ["--store", "--cost", "--price", "--stock", "--supplier", "--help"].contains(argument) else {
                throw InventoryError.usage("There is no option '\(argument)'.")
            }
            if argument == "--help" {
                operands.insert("help", at: 0)
                continue
            }
            guard let value = rest.popFirst() else { throw InventoryError.usage("\(argument) needs a value.") }
            options[argument, default: []].append(value)
        }
    }

    /// Runs the subcommand.
    func run() async throws {
        guard let command = operands.first, command != "help" else { return print(Self.help) }
        let names = ["add": 1, "list": 0, "sell": 2, "restock": 2, "search": 1, "delete": 1, "history": 0]
        guard let count = names[command] else { throw InventoryError.usage("There is no command '\(command)'.") }
        guard operands.count == count + 1 else {
            throw InventoryError.usage("'\(command)' takes \(count == 1 ? "one argument" : "\(count) arguments").")
        }
        let inventory = Inventory(storeAt: options["--store"]?.last)
        switch command {
        case "add": try await add(to: inventory)
        case "sell": try await changeStock(in: inventory, sign: -1, "Sold")
        case "restock": try await changeStock(in: inventory, sign: 1, "Restocked")
        case "search": printTable(try await inventory.search(operands[1]))
        case "delete":
            let item = try await inventory.item(named: operands[1])
            let name = item.name
            try await inventory.delete(item)
            print("Deleted '\(name)'.")
        case "history": try await printHistory(of: inventory)
        default: printTable(try await inventory.items())
        }
    }

    private func add(to inventory: Inventory) async throws {
        let item = try await inventory.add(
            name: operands[1], cost: try decimal("--cost"), price: try decimal("--price"),
            stock: try options["--stock"]?.last.map { try Self.count($0, "--stock") } ?? 0,
            suppliers: options["--supplier"] ?? [])
        print("Added '\(item.name)', \(item.stockCount) in stock, with the ID \(item.itemId).")
    }

    private func changeStock(in inventory: Inventory, sign: Int, _ verb: String) async throws {
        let item = try await inventory.item(named: operands[1])
        let count = try Self.count(operands[2], "COUNT")
        let stock = try await inventory.changeStock(of: item, by: sign * count)
        print("\(verb) \(count) of '\(item.name)': \(stock) in stock.")
    }

    // MARK: Reading arguments

    private func decimal(_ option: String) throws -> Decimal {
        guard let text = options[option]?.last else { throw InventoryError.usage("\(option) is missing.") }
        // Checked first, because Decimal takes the number at the start of any text.
        let isNumber = !text.isEmpty && text.allSatisfy { $0.isASCII && ($0.isNumber || $0 == ".") }
        guard isNumber, let value = Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")) else {
            throw InventoryError.badNumber(text, option: option)
        }
        return value
    }

    private static func count(_ text: String, _ option: String) throws -> Int {
        guard let count = Int(text), (0...1_000_000_000).contains(count) else {
            throw InventoryError.badNumber(text, option: option)
        }
        return count
    }

    // MARK: Printing

    private func printTable(_ items: [ReadOnly<Item>]) {
        if items.isEmpty { return print("No items.") }
        var table = TextTable([
            ("Name", .left), ("Stock", .right), ("Cost", .right), ("Price", .right), ("Margin", .right),
            ("Suppliers", .left), ("ID", .left),
        ])
        for item in items {
            table.add([
                item.name, "\(item.stockCount)", Self.money(item.unitCost), Self.money(item.unitPrice),
                Self.money(item.margin), item.suppliers.map(\.name).sorted().joined(separator: ", "),
                String(item.itemId.prefix(8)),
            ])
        }
        print(table.text)
    }

    private func printHistory(of inventory: Inventory) async throws {
        var table = TextTable([("Time (UTC)", .left), ("Hook", .left), ("Object", .left), ("What happened", .left)])
        for entry in try await inventory.history() {
            table.add([entry.date.ISO8601Format(), entry.event, entry.subject, entry.detail])
        }
        print(table.text)
    }

    /// An amount with two digits behind the point.
    private static func money(_ amount: Decimal) -> String {
        amount.formatted(
            .number.precision(.fractionLength(2)).grouping(.never).locale(Locale(identifier: "en_US_POSIX")))
    }
}
