extension Result {
    /// The result of a block: its return value, or the error that it throws.
    init(running block: () throws(Failure) -> Success) {
        do {
            self = .success(try block())
        } catch {
            self = .failure(error)
        }
    }
}
