/// A queue whose elements leave it in constant time on average.
package struct FirstInFirstOut<Element> {
    private var elements: [Element] = []
    private var start = 0

    package init() {}

    var first: Element? { start < elements.count ? elements[start] : nil }

    package mutating func append(_ element: Element) { elements.append(element) }

    package mutating func removeFirst() -> Element? {
        guard let first else { return nil }
        start += 1
        if start == elements.count {
            elements.removeAll(keepingCapacity: true)
            start = 0
        } else if start > 32, start * 2 > elements.count {
            elements.removeFirst(start)
            start = 0
        }
        return first
    }
}
