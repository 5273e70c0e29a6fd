// Every line with a mark must be refused with an error that contains the text of the mark, and no
// other line.

import SafeCoreData

final class Item: NSManagedObject {
    @Managed var others: Set<Item>
    @Managed var parts: [Item]
}

func needsSendable<Value: Sendable>(_ value: Value) {}

func sendability(_ view: ReadOnly<Item>, _ item: Item, _ context: ReadContext) {
    needsSendable(view)  // error: conformance of 'ReadOnly<Object>' to 'Sendable' is unavailable
    needsSendable(view.others)  // error: conformance of 'ReadOnlySet<Object>' to 'Sendable' is unavailable
    needsSendable(view.parts)  // error: conformance of 'ReadOnlyArray<Object>' to 'Sendable' is unavailable
    needsSendable(context)  // error: conformance of 'ReadContext' to 'Sendable' is unavailable
    needsSendable(item)  // error: conformance of 'NSManagedObject' to 'Sendable' is unavailable
    needsSendable(view.objectID)
}
