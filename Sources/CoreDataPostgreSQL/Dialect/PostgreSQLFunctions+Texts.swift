import CoreData

// Functions of texts that need no rules of a language.
extension PostgreSQLFunctions {
    static var texts: [String] {
        [
            // The number of UTF-16 code units.
            expression(
                "ocd_length(t text)", "integer",
                "CASE WHEN octet_length(t) = length(t) THEN length(t) "
                    + #"ELSE length(t) + length(regexp_replace(t COLLATE "C", '[\u0001-\uFFFF]+', '', 'g')) END"#),
            // The LIKE pattern for a pattern with stars and question marks.
            function(
                "ocd_wildcards(pattern text)", "text",
                #"""
                DECLARE
                    result text := '';
                    letter text;
                    escaped boolean := false;
                BEGIN
                    FOREACH letter IN ARRAY string_to_array(pattern, NULL) LOOP
                        IF escaped OR letter NOT IN ('*', '?', '\') THEN
                            result := result || CASE WHEN letter IN ('%', '_', '\') THEN '\' ELSE '' END || letter;
                            escaped := false;
                        ELSIF letter = '\' THEN
                            escaped := true;
                        ELSE
                            result := result || CASE letter WHEN '*' THEN '%' ELSE '_' END;
                        END IF;
                    END LOOP;
                    RETURN result || CASE WHEN escaped THEN '\\' ELSE '' END;
                END
                """#),
            // A floating-point number in the form that texts of predicates have.
            function(
                "ocd_text(number double precision)", "text",
                """
                DECLARE
                    digits text;
                BEGIN
                    IF number = 'Infinity' THEN RETURN 'inf'; END IF;
                    IF number = '-Infinity' THEN RETURN '-inf'; END IF;
                    IF number = 0 THEN RETURN CASE WHEN CAST(number AS text) = '-0' THEN '-0.0' ELSE '0.0' END; END IF;
                    IF abs(number) < 0.0001 OR abs(number) > 9007199254740992 THEN RETURN CAST(number AS text); END IF;
                    digits := CAST(CAST(CAST(number AS text) AS numeric) AS text);
                    RETURN CASE WHEN position('.' IN digits) > 0 THEN digits ELSE digits || '.0' END;
                END
                """),
        ]
    }
}
