/// The numbered transactions of a store.
enum PostgreSQLTransactions {
    /// Takes the next number, records the transaction and tells who listens: the save's UUID, its author and the context's name.
    ///
    /// The row with the last number stays locked until the commit, so that numbers are in the order of commits.
    static let record = """
        WITH n AS (UPDATE \(PostgreSQLHousekeeping.storeTable) SET last_transaction = last_transaction + 1 RETURNING last_transaction), \
        t AS (INSERT INTO \(PostgreSQLHousekeeping.transactionTable) (number, save, at, author, context_name) \
        SELECT n.last_transaction, $1, clock_timestamp(), $2, $3 FROM n RETURNING number) \
        SELECT pg_notify('ocd_' || md5(current_schema()), t.number::text) FROM t
        """
}
