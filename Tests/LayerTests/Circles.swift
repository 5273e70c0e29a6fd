/// The circles of a graph: its strongly connected components of more than one node.
struct Circles {
    /// The largest first.
    private(set) var found: [Set<String>] = []

    private let successors: [String: Set<String>]
    /// The order in which nodes were met, and the earliest that each leads back to.
    private var order: [String: (met: Int, earliest: Int)] = [:]
    private var path: [String] = []
    private var isOnPath: Set<String> = []

    init(_ successors: [String: Set<String>]) {
        self.successors = successors
        for node in successors.keys.sorted() where order[node] == nil { visit(node) }
        found.sort { ($0.count, $1.min() ?? "") > ($1.count, $0.min() ?? "") }
    }

    private mutating func visit(_ node: String) {
        var earliest = order.count
        let met = earliest
        order[node] = (met, earliest)
        path.append(node)
        isOnPath.insert(node)
        for next in successors[node] ?? [] {
            if order[next] == nil { visit(next) }
            if isOnPath.contains(next) { earliest = min(earliest, order[next]?.earliest ?? earliest) }
        }
        order[node] = (met, earliest)
        guard earliest == met, let start = path.lastIndex(of: node) else { return }
        let circle = Set(path[start...])
        path.removeSubrange(start...)
        isOnPath.subtract(circle)
        if circle.count > 1 { found.append(circle) }
    }
}
