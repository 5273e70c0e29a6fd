import CoreData

// Functions and triggers for programs that write rows without this package.
extension PostgreSQLFunctions {
    /// The function that gives the next key of a table to a row that is inserted without a key.
    ///
    /// The table is given by the name of its root entity.
    static let nextKey = "ocd_next_key"

    /// The function that records transactions and notifies listeners, and the trigger of each table
    /// that calls it.
    static let telling = "ocd_tell"

    /// The function of the triggers that raise the versions of rows.
    static let raisingVersion = "ocd_raise_version"

    /// The setting by which triggers recognize connections of this package, which raise versions
    /// and record transactions themselves.
    static let writerSetting = "ocd.writer"

    /// Functions that work for roles without rights to the tables that the functions write.
    ///
    /// The locks for the number of a transaction, and for the counter of keys, are released when
    /// the transaction ends. The number is taken last, at the commit.
    static let rows = [
        writingFunction(
            "\(nextKey)(text, regclass)", "bigint", "highest int8; taken int8;",
            """
            EXECUTE format('SELECT max(id) FROM %s', $2) INTO highest; \
            UPDATE \(PostgreSQLHousekeeping.entityTable) SET last_key = GREATEST(last_key, COALESCE(highest, 0)) + 1 \
            WHERE name = $1 RETURNING last_key INTO taken; RETURN taken;
            """),
        writingFunction(
            "\(telling)()", "trigger", "own text := pg_current_xact_id()::text; last int8;",
            """
            IF current_setting('ocd.told', true) IS NOT DISTINCT FROM own THEN RETURN NULL; END IF; \
            PERFORM set_config('ocd.told', own, true); \
            PERFORM 1 FROM \(PostgreSQLHousekeeping.storeTable) FOR NO KEY UPDATE; \
            INSERT INTO \(PostgreSQLHousekeeping.transactionTable) (number, save, at) \
            SELECT \(PostgreSQLTransactions.lastNumber) + 1, gen_random_uuid(), clock_timestamp() FROM \
            \(PostgreSQLHousekeeping.storeTable) s \
            RETURNING number INTO last; \
            PERFORM pg_notify(\(PostgreSQLTransactions.channel), last::text || ' others'); RETURN NULL;
            """),
        writingFunction("\(raisingVersion)()", "trigger", "", "NEW.version := NEW.version + 1; RETURN NEW;"),
    ]

    private static func writingFunction(_ signature: String, _ result: String, _ variables: String, _ body: String)
        -> String
    {
        "CREATE OR REPLACE FUNCTION \(signature) RETURNS \(result) LANGUAGE plpgsql SECURITY DEFINER SET search_path "
            + "FROM CURRENT AS $$ "
            + "DECLARE \(variables) BEGIN \(body) END $$"
    }

    // MARK: Triggers

    private static let isOthers = "current_setting('\(writerSetting)', true) IS DISTINCT FROM 'on'"

    /// Returns a trigger that notifies of transactions by other programs that write rows of a
    /// table.
    ///
    /// It is deferred to the commit for each row, and the first call notifies for all rows.
    static func tellingTrigger(_ table: String) -> String {
        "CREATE CONSTRAINT TRIGGER \(telling) AFTER INSERT OR UPDATE OR DELETE ON \(table) DEFERRABLE INITIALLY "
            + "DEFERRED "
            + "FOR EACH ROW WHEN (\(isOthers)) EXECUTE FUNCTION \(telling)()"
    }

    /// Returns a trigger that raises the version of a row when another program changes the row and
    /// not the version.
    ///
    /// Its name sorts before those of the triggers that read versions.
    static func versionTrigger(_ table: String) -> String {
        "CREATE TRIGGER \"_\(raisingVersion)\" BEFORE UPDATE ON \(table) FOR EACH ROW "
            + "WHEN (NEW.version = OLD.version AND \(isOthers)) EXECUTE FUNCTION \(raisingVersion)()"
    }
}
