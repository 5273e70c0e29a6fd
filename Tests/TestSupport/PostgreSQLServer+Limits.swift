import CPostgreSQL
import Foundation

// What others that speak PostgreSQL's protocol do not know, or have learned late.
extension PostgreSQLServer {
    /// Whether the server of all tests is to be one that knows less: `OPENCOREDATA_LIMITED_SERVER=1`.
    static let isLimited = ProcessInfo.processInfo.environment["OPENCOREDATA_LIMITED_SERVER"] == "1"

    /// Stands before the server of all tests, where that is to know less; nil where it cannot be had.
    static let limitingProxy: PostgreSQLProxy? = shared.flatMap { server in
        guard let proxy = try? PostgreSQLProxy(server) else { return nil }
        var conduct = PostgreSQLProxy.Conduct()
        conduct.unknownWords = ["xmin", "ctid", "pg_notify", "LISTEN ", "LOCK TABLE", "SET STORAGE", "starts_with", "row_security_active"]
        proxy.conduct = conduct
        return proxy
    }

    /// Has the server refuse constraints of uniqueness that can be deferred, and locks of programs' own.
    public func refuseWhatOthersLack() throws {
        let connection = PQconnectdb(connectionString())
        defer { PQfinish(connection) }
        let result = PQexec(connection, Self.refusals)
        defer { PQclear(result) }
        if PQresultStatus(result) != PGRES_COMMAND_OK { throw Reason(description: String(cString: PQerrorMessage(connection))) }
    }

    private static let refusals = """
        CREATE FUNCTION public.refuse_deferrable() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN \
        IF EXISTS (SELECT FROM pg_constraint WHERE contype = 'u' AND condeferrable) THEN \
        RAISE EXCEPTION 'deferrable unique constraints are not supported yet' USING ERRCODE = '0A000'; END IF; END $$; \
        CREATE EVENT TRIGGER refuse_deferrable ON ddl_command_end EXECUTE FUNCTION public.refuse_deferrable(); \
        CREATE OR REPLACE FUNCTION pg_catalog.pg_advisory_xact_lock(bigint) RETURNS void LANGUAGE plpgsql AS $$ BEGIN \
        RAISE EXCEPTION 'advisory locks are not yet implemented' USING ERRCODE = '0A000'; END $$
        """
}
