/* Debian and its relatives keep the header in a folder that only pkg-config knows. */
#if __has_include(<libpq-fe.h>)
#include <libpq-fe.h>
#else
#include <postgresql/libpq-fe.h>
#endif

/* Has the results of the statement that is current come in parts: of many rows where the library can do that, which is since 17. */
static inline int ocd_pq_use_partial_results(PGconn *connection) {
#ifdef LIBPQ_HAS_CHUNK_MODE
    return PQsetChunkedRowsMode(connection, 128);
#else
    return PQsetSingleRowMode(connection);
#endif
}

/* Whether a result is a part, behind which others come. */
static inline int ocd_pq_is_partial(const PGresult *result) {
#ifdef LIBPQ_HAS_CHUNK_MODE
    if (PQresultStatus(result) == PGRES_TUPLES_CHUNK) return 1;
#endif
    return PQresultStatus(result) == PGRES_SINGLE_TUPLE;
}

/* Macros and characters, which Swift does not import. */
enum {
    ocd_pq_severity = PG_DIAG_SEVERITY_NONLOCALIZED,
    ocd_pq_sqlstate = PG_DIAG_SQLSTATE,
    ocd_pq_message = PG_DIAG_MESSAGE_PRIMARY,
    ocd_pq_detail = PG_DIAG_MESSAGE_DETAIL,
    ocd_pq_hint = PG_DIAG_MESSAGE_HINT,
    ocd_pq_schema = PG_DIAG_SCHEMA_NAME,
    ocd_pq_table = PG_DIAG_TABLE_NAME,
    ocd_pq_column = PG_DIAG_COLUMN_NAME,
    ocd_pq_constraint = PG_DIAG_CONSTRAINT_NAME,
    ocd_pq_function = PG_DIAG_SOURCE_FUNCTION
};
