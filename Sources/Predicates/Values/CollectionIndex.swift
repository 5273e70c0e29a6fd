/// The words that `collection[...]` accepts in place of a number.
enum CollectionIndex: String {
    case first = "FIRST"
    case last = "LAST"
    case size = "SIZE"
}
