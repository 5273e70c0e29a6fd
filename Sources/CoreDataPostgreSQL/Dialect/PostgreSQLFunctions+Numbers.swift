import CoreData

// Functions on numbers, by the rules of predicates.
//
// A calculation gives a whole number or, where that overflows, a floating-point one. PostgreSQL's
// types do not change like that. A computed number is therefore a `numeric` whose scale tells its
// kind:
//
//     0              a whole number of 64 bits
//     1 to 999       a decimal
//     1000, infinite a floating-point number, by its shortest digits, or exactly where it is
//                    whole and has less than 64 bits
//
// So whole and floating-point numbers compare by their exact values.
extension PostgreSQLFunctions {
    static var numbers: [String] { conversions + arithmetic + comparisons + functionsOfPredicates }

    private static let least = "-9223372036854775808"
    private static let most = "9223372036854775807"

    // MARK: Conversions

    private static var conversions: [String] {
        [
            // A floating-point number as a computed one.
            function(
                "ocd_double(x double precision)", "numeric",
                """
                BEGIN
                    IF x = 'NaN' THEN RETURN NULL; END IF;
                    IF x >= -9223372036854775808.0 AND x < 9223372036854775808.0 AND x = trunc(x) THEN
                        RETURN round(CAST(CAST(x AS bigint) AS numeric), 1000);
                    END IF;
                    IF abs(x) = 'Infinity' THEN RETURN CAST(CAST(x AS text) AS numeric); END IF;
                    RETURN round(CAST(CAST(x AS text) AS numeric), 1000);
                END
                """),
            // A decimal as a computed number.
            expression("ocd_decimal(x numeric)", "numeric", "round(x, greatest(scale(x), 1))"),
            // A computed number as a decimal, with the digits that a floating-point one is written
            // with.
            function(
                "ocd_plain(x numeric)", "numeric",
                """
                BEGIN
                    IF scale(x) < 1000 THEN RETURN trim_scale(x); END IF;
                    IF abs(x) = 'Infinity' THEN RETURN NULL; END IF;
                    RETURN trim_scale(CAST(CAST(CAST(x AS double precision) AS text) AS numeric));
                END
                """),
            // A number as an integer column takes it: without its fraction, and limited to the
            // range of 64 bits.
            expression(
                "ocd_integer(x numeric)", "bigint",
                "CASE WHEN x IS NOT NULL THEN CAST(trunc(least(greatest(x, \(least)), \(most))) AS bigint) END"),
            // A number without its fraction, as bit operators take it; NULL outside the range of 64
            // bits.
            function(
                "ocd_whole(x numeric)", "bigint",
                """
                BEGIN
                    IF scale(x) > 0 AND scale(x) < 1000 THEN x := CAST(CAST(x AS double precision) AS text); END IF;
                    x := trunc(x);
                    RETURN CASE WHEN x BETWEEN \(least) AND \(most) THEN CAST(x AS bigint) END;
                END
                """),
            // The number that a text represents; NULL for other texts.
            function(
                "ocd_number(t text)", "numeric",
                #"""
                DECLARE
                    x numeric;
                    y double precision;
                BEGIN
                    IF t COLLATE "C" !~ '^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$' OR length(t) > 2000 \#
                THEN RETURN NULL; END IF;
                    IF t COLLATE "C" ~ '^[+-]?[0-9]+$' THEN
                        x := CAST(t AS numeric);
                        IF x BETWEEN -9223372036854775808 AND 9223372036854775807 THEN RETURN x; END IF;
                    END IF;
                    IF t COLLATE "C" ~ '[eE][+-]?0*[0-9]{5}' THEN
                        IF t COLLATE "C" !~ '^[^eE]*[1-9]' OR t COLLATE "C" ~ '[eE]-' THEN RETURN round(0.0, 1000); \#
                END IF;
                        RETURN NULL;
                    END IF;
                    x := CAST(t AS numeric);
                    IF abs(x) >= 1.797693134862315807937e308 THEN RETURN NULL; END IF;
                    IF abs(x) <= 2.4703282292062327208e-324 THEN RETURN round(0.0, 1000); END IF;
                    y := CAST(x AS double precision);
                    IF y = trunc(y) AND y >= -9223372036854775808.0 AND y < 9223372036854775808.0 THEN
                        RETURN round(CAST(CAST(y AS bigint) AS numeric), 1000);
                    END IF;
                    RETURN round(CAST(CAST(y AS text) AS numeric), 1000);
                END
                """#),
            // A computed number in the form that texts of predicates have.
            expression(
                "ocd_text(x numeric)", "text",
                "CASE WHEN scale(x) < 1000 THEN CAST(trim_scale(x) AS text) ELSE ocd_text(CAST(x AS double "
                    + "precision)) END"
            ),
            // Seconds since 2001 as a time; NULL outside the range of times.
            expression(
                "ocd_date(seconds double precision)", "timestamp with time zone",
                "CASE WHEN seconds > -210000000000 AND seconds < 9223000000000 THEN to_timestamp(seconds + "
                    + "978307200) END"
            ),
        ]
    }

    // MARK: Arithmetic

    /// PostgreSQL raises an error where a floating-point result is infinite or too small. For
    /// predicates that is no error.
    private static var arithmetic: [String] {
        [
            function(
                "ocd_calculate(operation text, a double precision, b double precision)", "double precision",
                """
                DECLARE
                    result double precision;
                    scaled double precision;
                BEGIN
                    CASE operation
                        WHEN '+', '-' THEN
                            IF operation = '-' THEN b := -b; END IF;
                            IF (abs(a) > 8e307 OR abs(b) > 8e307) AND abs(a) < 'Infinity' AND abs(b) < 'Infinity'
                                AND abs(a / 2 + b / 2) >= 8.98846567431157953865e307
                            THEN RETURN CASE WHEN a > 0 THEN 'Infinity' ELSE '-Infinity' END; END IF;
                            result := a + b;
                        WHEN '*' THEN
                            IF a <> 0 AND b <> 0 AND abs(a) < 'Infinity' AND abs(b) < 'Infinity' THEN
                                IF abs(a) > 1e150 OR abs(b) > 1e150 THEN
                                    IF abs(a) > 1 AND abs(b) > 1 AND abs((a * power(float8 '2', -540)) * (b * \
                power(float8 '2', -500))) >= power(float8 '2', -16)
                                    THEN RETURN sign(a) * sign(b) * CAST('Infinity' AS double precision); END IF;
                                ELSIF abs(a) < 1e-150 OR abs(b) < 1e-150 THEN
                                    IF abs(a) < 1 AND abs(b) < 1 AND abs((a * power(float8 '2', 540)) * (b * \
                power(float8 '2', 500))) <= power(float8 '2', -35)
                                    THEN RETURN 0; END IF;
                                END IF;
                            END IF;
                            result := a * b;
                        WHEN '/' THEN
                            IF b = 0 THEN RETURN NULL; END IF;
                            IF a <> 0 AND abs(a) < 'Infinity' AND abs(b) < 'Infinity' THEN
                                IF abs(b) < 1 AND abs(a) > 1 AND (abs(a) > 1e150 OR abs(b) < 1e-150) THEN
                                    scaled := abs((a * power(float8 '2', -540)) / (b * power(float8 '2', 500)));
                                    IF scaled >= power(float8 '2', -16)
                                    THEN RETURN sign(a) * sign(b) * CAST('Infinity' AS double precision); END IF;
                                ELSIF abs(b) > 1 AND abs(a) < 1 AND (abs(b) > 1e150 OR abs(a) < 1e-150) THEN
                                    scaled := abs((a * power(float8 '2', 540)) / (b * power(float8 '2', -500)));
                                    IF scaled <= power(float8 '2', -35) THEN RETURN 0; END IF;
                                END IF;
                            END IF;
                            result := a / b;
                    END CASE;
                    RETURN CASE WHEN result = 'NaN' THEN NULL ELSE result END;
                END
                """),
            // A decimal with no more digits than 128 bits hold; NULL for one that is too large.
            function(
                "ocd_fit(x numeric)", "numeric",
                """
                DECLARE
                    digits numeric;
                    place integer;
                BEGIN
                    x := trim_scale(x);
                    digits := abs(x) * CAST('1e' || scale(x) AS numeric);
                    IF digits >= 340282366920938463463374607431768211456 THEN
                        place := length(CAST(trunc(digits) AS text)) - 39;
                        IF div(digits, CAST('1e' || place AS numeric)) >= 340282366920938463463374607431768211456 THEN
                            place := place + 1;
                        END IF;
                        x := trunc(x, scale(x) - place);
                    END IF;
                    IF abs(x) >= 1e128 AND length(CAST(x AS text)) - length(rtrim(CAST(x AS text), '0')) > 127 THEN \
                RETURN NULL; END IF;
                    RETURN CASE WHEN scale(x) > 128 THEN trunc(x, 128) ELSE x END;
                END
                """),
            function(
                "ocd_calculate(operation text, a numeric, b numeric)", "numeric",
                """
                DECLARE
                    first integer := coalesce(scale(a), 1000);
                    second integer := coalesce(scale(b), 1000);
                    zeros integer;
                    result numeric;
                    x numeric := a;
                    y numeric := b;
                BEGIN
                    IF operation = '/' AND b = 0 THEN RETURN NULL; END IF;
                    IF first = 0 AND second = 0 THEN
                        result := CASE operation WHEN '+' THEN a + b WHEN '-' THEN a - b WHEN '*' THEN a * b ELSE \
                div(a, b) END;
                        IF result BETWEEN \(least) AND \(most) THEN RETURN result; END IF;
                    ELSIF first BETWEEN 1 AND 999 OR second BETWEEN 1 AND 999 THEN
                        -- A floating-point number counts as the decimal that it is written as, if there is one.
                        IF first = 1000 AND abs(a) < 'Infinity' THEN x := trim_scale(CAST(CAST(CAST(a AS double \
                precision) AS text) AS numeric)); END IF;
                        IF second = 1000 AND abs(b) < 'Infinity' THEN y := trim_scale(CAST(CAST(CAST(b AS double \
                precision) AS text) AS numeric)); END IF;
                        x := trim_scale(x);
                        y := trim_scale(y);
                        IF abs(x) < 1e144 AND abs(y) < 1e144 AND scale(x) <= 128 AND scale(y) <= 128 AND scale(x) + \
                scale(y) < 100 THEN
                            CASE operation
                                WHEN '+' THEN result := x + y;
                                WHEN '-' THEN result := x - y;
                                WHEN '*' THEN result := x * y;
                                ELSE
                                    -- As many digits as the operands' digits give behind 38 zeros, whatever their \
                zeros at the end.
                                    first := CASE WHEN scale(x) > 0 THEN scale(x)
                                        ELSE length(rtrim(CAST(x AS text), '0')) - length(CAST(x AS text)) END;
                                    second := CASE WHEN scale(y) > 0 THEN scale(y)
                                        ELSE length(rtrim(CAST(y AS text), '0')) - length(CAST(y AS text)) END;
                                    zeros := CASE WHEN abs(y) * CAST('1e' || second AS numeric) >= 1e37 THEN 76 ELSE \
                38 END;
                                    result := sign(x) * sign(y) * CAST('1e' || second - first - zeros AS numeric)
                                        * div(abs(x) * CAST('1e' || first + zeros AS numeric), abs(y) * CAST('1e' || \
                second AS numeric));
                            END CASE;
                            result := ocd_fit(result);
                            IF result IS NOT NULL THEN RETURN round(result, greatest(scale(result), 1)); END IF;
                        END IF;
                    END IF;
                    RETURN ocd_double(ocd_calculate(operation, CAST(a AS double precision), CAST(b AS double \
                precision)));
                END
                """),
            // A shift to the left by 64 bits or more gives 0; one to the right leaves the sign. A
            // negative shift goes the other way.
            function(
                "ocd_shift(number bigint, places bigint, rightwards boolean)", "bigint",
                """
                BEGIN
                    IF rightwards AND places > -64 THEN
                        places := -places;
                    ELSIF rightwards THEN
                        RETURN 0;
                    END IF;
                    IF places >= 64 THEN RETURN 0; END IF;
                    IF places <= -64 THEN RETURN CASE WHEN number < 0 THEN -1 ELSE 0 END; END IF;
                    RETURN CASE WHEN places >= 0 THEN number << CAST(places AS integer) ELSE number >> CAST(-places \
                AS integer) END;
                END
                """),
        ]
    }

    // MARK: Comparisons

    private static var comparisons: [String] {
        [
            // Compared with a floating-point number, a decimal counts as the floating-point number
            // nearest to it, unless it is a whole number of 64 bits.
            function(
                "ocd_compare(a numeric, b double precision)", "integer",
                """
                BEGIN
                    IF a <> trunc(a) OR a NOT BETWEEN \(least) AND \(most) THEN
                        RETURN CASE WHEN CAST(a AS double precision) < b THEN -1 WHEN CAST(a AS double precision) = b \
                THEN 0 ELSE 1 END;
                    END IF;
                    IF abs(b) = 'Infinity' THEN RETURN CASE WHEN b > 0 THEN -1 ELSE 1 END; END IF;
                    RETURN CAST(sign(a - ocd_double(b)) AS integer);
                END
                """),
            // The order of two computed numbers.
            function(
                "ocd_order(a numeric, b numeric)", "integer",
                """
                BEGIN
                    IF scale(a) BETWEEN 1 AND 999 AND coalesce(scale(b), 1000) >= 1000 THEN
                        RETURN ocd_compare(a, CAST(b AS double precision));
                    END IF;
                    IF scale(b) BETWEEN 1 AND 999 AND coalesce(scale(a), 1000) >= 1000 THEN
                        RETURN -ocd_compare(b, CAST(a AS double precision));
                    END IF;
                    RETURN CASE WHEN a < b THEN -1 WHEN a = b THEN 0 ELSE 1 END;
                END
                """),
            // Bounds of the decimals that equal a floating-point number, so that an index finds
            // them.
            expression(
                "ocd_below(x double precision)", "numeric",
                "CAST(CAST(x AS text) AS numeric) - CASE WHEN abs(x) < 'Infinity' THEN abs(CAST(CAST(x AS text) AS "
                    + "numeric)) * 1e-15 ELSE 0 END"
            ),
            expression(
                "ocd_above(x double precision)", "numeric",
                "CAST(CAST(x AS text) AS numeric) + CASE WHEN abs(x) < 'Infinity' THEN abs(CAST(CAST(x AS text) AS "
                    + "numeric)) * 1e-15 ELSE 0 END"
            ),
        ]
    }

    // MARK: Functions of predicates

    private static var functionsOfPredicates: [String] {
        [
            expression("ocd_sqrt(x double precision)", "double precision", "CASE WHEN x >= 0 THEN sqrt(x) END"),
            expression(
                "ocd_ln(x double precision)", "double precision",
                "CASE WHEN x > 0 THEN ln(x) WHEN x = 0 THEN CAST('-Infinity' AS float8) END"),
            expression(
                "ocd_log(x double precision)", "double precision",
                "CASE WHEN x > 0 THEN log(x) WHEN x = 0 THEN CAST('-Infinity' AS float8) END"),
            expression(
                "ocd_exp(x double precision)", "double precision",
                "CASE WHEN x > 709.782712893383973 THEN CAST('Infinity' AS float8) WHEN x < -745.1332191019411 THEN "
                    + "0 ELSE exp(x) END"
            ),
            function(
                "ocd_power(a numeric, b numeric)", "numeric",
                """
                DECLARE
                    x double precision := CAST(a AS double precision);
                    y double precision := CAST(b AS double precision);
                    result double precision;
                BEGIN
                    IF x = 0 AND y < 0 THEN RETURN CAST('Infinity' AS numeric); END IF;
                    IF x < 0 AND x > '-Infinity' AND abs(y) < 'Infinity' AND y <> trunc(y) THEN RETURN NULL; END IF;
                    IF x <> 0 AND abs(x) < 'Infinity' AND abs(y) < 'Infinity' AND y * ln(abs(x)) > 709.7827128933839 \
                THEN
                        result := CASE WHEN x < 0 AND y / 2 <> trunc(y / 2) THEN '-Infinity' ELSE 'Infinity' END;
                    ELSIF x <> 0 AND abs(x) < 'Infinity' AND abs(y) < 'Infinity' AND y * ln(abs(x)) < -745.13 THEN
                        result := 0;
                    ELSE
                        result := power(x, y);
                    END IF;
                    IF scale(a) = 0 AND scale(b) = 0 AND b >= 0 AND abs(result) < 9007199254740992 THEN RETURN \
                CAST(result AS bigint); END IF;
                    RETURN ocd_double(result);
                END
                """),
            expression(
                "ocd_abs(x numeric)", "numeric",
                "CASE WHEN scale(x) = 0 AND x = \(least) THEN round(-x, 1000) ELSE abs(x) END"),
            function(
                "ocd_round(rule text, x numeric)", "numeric",
                """
                DECLARE
                    y double precision := CAST(x AS double precision);
                BEGIN
                    IF scale(x) = 0 THEN RETURN x; END IF;
                    RETURN ocd_double(CASE rule WHEN 'floor' THEN floor(y) WHEN 'ceil' THEN ceil(y) ELSE trunc(y) END);
                END
                """),
        ]
    }
}
