// Every line with a mark must be refused with an error that contains the text of the mark, and no
// other line.

import SafeCoreData

final class Item: NSManagedObject, Encodable {
    @Managed var name: String
    @Managed var stockCount: Int16
    @Managed var supplier: Supplier?
    @Managed var others: Set<Item>
    @Managed var parts: [Item]
    @Managed var labels: NSSet?
    @Managed var kind: Kind
    @Managed var formerKind: Kind?
    var size: Size {
        get { Size() }
        set {}
    }

    var labelSet: NSMutableSet { mutableSetValue(forKey: "labels") }
    var byName: [String: Item] { [:] }
    var own: NSManagedObjectContext { managedObjectContext! }
    var rename: () -> Void { { self.name = "" } }
    var unsendable: Unsendable { Unsendable() }

    func sell() {}
    func encode(to encoder: any Encoder) throws {}
}

enum Kind: Int16, Codable, Sendable { case single, set }

struct Size: Codable, Sendable { var width = 0 }

final class Supplier: NSManagedObject {
    @Managed var name: String
}

final class Unsendable {
    var isWritten = false
}

// MARK: Reading compiles

func reads(_ view: ReadOnly<Item>) -> [Any?] {
    [
        view.name, view.stockCount, view.supplier?.name, view.others.count, view.parts.first?.name, view.labels.isEmpty,
        view.objectID, view.isInserted, view.entity.name, view[\.name], view.managedObjectContext != nil, view.kind,
        view.formerKind,
        view.size.width, view.others.map(\.name), view.parts.map { $0.supplier?.name ?? "none" },
    ]
}

// MARK: Writing does not

func assigning(_ argument: ReadOnly<Item>, _ supplier: Supplier, _ item: Item) {
    var view = argument
    view.name = ""  // error: views cannot be written
    argument.name = ""  // error: views cannot be written
    view.stockCount += 1  // error: views cannot be written
    view.name.append("x")  // error: views cannot be written
    view.kind = .set  // error: views cannot be written
    view.formerKind = nil  // error: views cannot be written
    view.size = Size()  // error: views cannot be written
    view.size.width = 1  // error: views cannot be written
    view.supplier = nil  // error: views cannot be written
    view.supplier = supplier  // error: views cannot be written
    view.others = [item]  // error: views cannot be written
    view.parts = [item]  // error: views cannot be written
    view.parts = argument.parts  // error: cannot
    view[\.name] = ""  // error: views cannot be written
    view[dynamicMember: \.name] = ""  // error: views cannot be written
    view[keyPath: \.name] = ""  // error: cannot assign through subscript
    let keyPath: ReferenceWritableKeyPath<Item, String> = \.name
    view[keyPath: keyPath] = ""  // error: cannot be applied
    view = argument
}

func followingRelationships(_ view: ReadOnly<Item>) {
    view.supplier!.name = ""  // error: views cannot be written
    view.supplier?.name = ""  // error: views cannot be written
    view.others.first!.name = ""  // error: views cannot be written
    view.parts[0].name = ""  // error: views cannot be written
    for var other in view.others { other.name = "" }  // error: views cannot be written
    if var supplier = view.supplier { supplier.name = "" }  // error: views cannot be written
    view.others.insert(view)  // error: cannot
    view.labels.removeAll()  // error: no member 'removeAll'
}

func reachingTheObject(_ view: ReadOnly<Item>, _ item: Item) {
    let _: Item = view  // error: cannot convert value of type 'ReadOnly<Item>'
    let _: Item = view.object  // error: no dynamic member 'object'
    let _: Item = view.self  // error: cannot convert value of type 'ReadOnly<Item>'
    let _: Item = view[dynamicMember: \.self]  // error: conform to 'ReadOnlyValue'
    let _: Item = view[\.self]  // error: conform to 'ReadOnlyValue'
    _ = view as AnyObject as Item  // error: is not convertible to 'Item'
    view.sell()  // error: instance method 'sell()'
    view.setValue(1, forKey: "stockCount")  // error: no exact matches in call to subscript
    view.mutableSetValue(forKey: "labels").add(item)  // error: no exact matches in call to subscript
}

func takingWhatCanBeChanged(_ view: ReadOnly<Item>) {
    view.labelSet.add(1)  // error: 'NSMutableSet' conform to 'ReadOnlyValue'
    _ = view.byName  // error: subscript
    _ = view.unsendable  // error: subscript
    view.rename()  // error: conform to 'ReadOnlyValue'
    _ = view["name"]  // error: subscript
}

func takingTheContext(_ view: ReadOnly<Item>, _ item: Item) throws {
    view.managedObjectContext?.delete(item)  // error: no member 'delete'
    try view.managedObjectContext?.save()  // error: no member 'save'
    view.own.reset()  // error: 'NSManagedObjectContext' conform to 'ReadOnlyValue'
    view[\.managedObjectContext]?.reset()  // error: 'NSManagedObjectContext' conform to 'ReadOnlyValue'
    view[dynamicMember: \.managedObjectContext]?.reset()  // error: 'NSManagedObjectContext' conform to 'ReadOnlyValue'
}
