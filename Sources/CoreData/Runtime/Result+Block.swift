extension Result {
    /// What a block returns or throws.
    init(running block: () throws(Failure) -> Success) {
        do {
            self = .success(try block())
        } catch {
            self = .failure(error)
        }
    }
}
