/// Which element `collection[...]` means when it is not a number.
enum CollectionIndex: String {
    case first = "FIRST"
    case last = "LAST"
    case size = "SIZE"
}
