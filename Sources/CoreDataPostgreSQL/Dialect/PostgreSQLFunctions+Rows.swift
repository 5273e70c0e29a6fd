import CoreData

// What serves programs that write rows without this package.
extension PostgreSQLFunctions {
    /// Gives the next key of a table, by the name of its root entity, to who inserts a row without one.
    static let nextKey = "ocd_next_key"

    /// The function, and the trigger of each table, that records transactions and tells who listens.
    static let telling = "ocd_tell"

    /// The function of the triggers that raise the versions of rows.
    static let raisingVersion = "ocd_raise_version"

    /// The setting by which triggers know connections of this package, which raise versions and record transactions themselves.
    static let writerSetting = "ocd.writer"

    /// They work for roles that have no right to the tables which they write. What holds a transaction's turn, or the counter of keys, is let
    /// go when the transaction ends; the turn is taken last, when it is committed.
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
            SELECT \(PostgreSQLTransactions.lastNumber) + 1, gen_random_uuid(), clock_timestamp() FROM \(PostgreSQLHousekeeping.storeTable) s \
            RETURNING number INTO last; \
            PERFORM pg_notify(\(PostgreSQLTransactions.channel), last::text || ' others'); RETURN NULL;
            """),
        writingFunction("\(raisingVersion)()", "trigger", "", "NEW.version := NEW.version + 1; RETURN NEW;"),
    ]

    private static func writingFunction(_ signature: String, _ result: String, _ variables: String, _ body: String) -> String {
        "CREATE OR REPLACE FUNCTION \(signature) RETURNS \(result) LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$ "
            + "DECLARE \(variables) BEGIN \(body) END $$"
    }

    // MARK: Triggers

    private static let isOthers = "current_setting('\(writerSetting)', true) IS DISTINCT FROM 'on'"

    /// Has transactions of others that write rows of a table told. Each row waits for the commit, and the first one speaks for all.
    static func tellingTrigger(_ table: String) -> String {
        "CREATE CONSTRAINT TRIGGER \(telling) AFTER INSERT OR UPDATE OR DELETE ON \(table) DEFERRABLE INITIALLY DEFERRED "
            + "FOR EACH ROW WHEN (\(isOthers)) EXECUTE FUNCTION \(telling)()"
    }

    /// Raises the version of a row that others have changed without. Its name is before those of the triggers that look at versions.
    static func versionTrigger(_ table: String) -> String {
        "CREATE TRIGGER \"_\(raisingVersion)\" BEFORE UPDATE ON \(table) FOR EACH ROW "
            + "WHEN (NEW.version = OLD.version AND \(isOthers)) EXECUTE FUNCTION \(raisingVersion)()"
    }
}
