-- Employee: age + 10 == 40
ocd_calculate('+', CAST(t0."age" AS numeric), CAST($1 AS numeric)) = CAST($2 AS numeric)
-- Employee: age - shoes * 2 > steps / 3
ocd_calculate('-', CAST(t0."age" AS numeric), CAST((CAST(t0."shoes" AS bigint) * CAST($1 AS bigint)) AS numeric)) > CAST((CAST(t0."steps" AS bigint) / NULLIF(CAST($2 AS bigint), 0)) AS numeric)
-- Employee: rating / 2 > 1
ocd_calculate('/', CAST(t0."rating" AS double precision), CAST($1 AS double precision)) > $2
-- Employee: modulus:by:(age, 3) == 1
(CAST(t0."age" AS bigint) % NULLIF(CAST($1 AS bigint), 0)) = $2
-- Employee: bitwiseAnd:with:(age, 3) == 1
(CAST(t0."age" AS bigint) & CAST($1 AS bigint)) = $2
-- Employee: bitwiseOr:with:(age, 3) == 1
(CAST(t0."age" AS bigint) | CAST($1 AS bigint)) = $2
-- Employee: leftshift:by:(age, 3) == 1
ocd_shift(CAST(t0."age" AS bigint), CAST($1 AS bigint), FALSE) = $2
-- Employee: rightshift:by:(age, 3) == 1
ocd_shift(CAST(t0."age" AS bigint), CAST($1 AS bigint), TRUE) = $2
-- Employee: bitwiseXor:with:(age, 3) == 1
(CAST(t0."age" AS bigint) # CAST($1 AS bigint)) = $2
-- Employee: onesComplement:(age) == 1
(~CAST(t0."age" AS bigint)) = $1
-- Employee: abs:(age) == 1
ocd_abs(CAST(t0."age" AS numeric)) = CAST($1 AS numeric)
-- Employee: sqrt:(rating) == 1
ocd_sqrt(CAST(t0."rating" AS double precision)) = $1
-- Employee: floor:(rating) == 1
floor(CAST(t0."rating" AS double precision)) = $1
-- Employee: ceiling:(age) == 1
t0."age" = $1
-- Employee: trunc:(rating) == 1
trunc(CAST(t0."rating" AS double precision)) = $1
-- Employee: exp:(rating) == 1
ocd_exp(CAST(t0."rating" AS double precision)) = $1
-- Employee: ln:(rating) == 1
ocd_ln(CAST(t0."rating" AS double precision)) = $1
-- Employee: log:(rating) == 1
ocd_log(CAST(t0."rating" AS double precision)) = $1
-- Employee: age ** 2 == 4
ocd_power(CAST(t0."age" AS numeric), CAST($1 AS numeric)) = ocd_double($2)
-- Employee: salary + 1 == 2.5
ocd_order(ocd_calculate('+', ocd_decimal(t0."salary"), CAST($1 AS numeric)), ocd_double($2)) = 0
-- Employee: salary * 2 > salary
ocd_order(ocd_calculate('*', ocd_decimal(t0."salary"), CAST($1 AS numeric)), ocd_decimal(t0."salary")) > 0
-- Employee: salary / 3 == 0.1
ocd_order(ocd_calculate('/', ocd_decimal(t0."salary"), CAST($1 AS numeric)), ocd_double($2)) = 0
-- Employee: uppercase:(name) == 'ANNA'
(ocd_upper(t0."name") COLLATE "C") = $1
-- Employee: lowercase:(name) == 'anna'
(ocd_lower(t0."name") COLLATE "C") = $1
-- Employee: canonical:(name) == 'anna'
(ocd_canonical(t0."name") COLLATE "C") = $1
-- Employee: length:(name) == 4
ocd_length(t0."name") = $1
-- Employee: length:(age) == 4
ocd_length((CAST(t0."age" AS text) COLLATE "C")) = $1
-- Employee: noindex:(age) == 4
(t0."age") = $1
-- Employee: hired + 60 > hired
ocd_calculate('+', CAST(EXTRACT(EPOCH FROM t0."hired") - 978307200 AS double precision), CAST($1 AS double precision)) > CAST(EXTRACT(EPOCH FROM t0."hired") - 978307200 AS double precision)
-- Employee: hired - hired > 60
ocd_calculate('-', CAST(EXTRACT(EPOCH FROM t0."hired") - 978307200 AS double precision), CAST(EXTRACT(EPOCH FROM t0."hired") - 978307200 AS double precision)) > $1
-- Employee: TERNARY(age > 3, name, 'none') == 'x'
(CASE WHEN t0."age" > $1 THEN t0."name" ELSE $2 END COLLATE "C") = $3
-- Employee: TERNARY(age > 3, age, rating) == 1
CASE WHEN t0."age" > $1 THEN CAST(t0."age" AS numeric) ELSE ocd_double(t0."rating") END = ocd_double($2)
-- Employee: TERNARY(age > 3, salary + 1, 2) == 1
ocd_order(CASE WHEN t0."age" > $1 THEN ocd_calculate('+', ocd_decimal(t0."salary"), CAST($2 AS numeric)) ELSE CAST($3 AS numeric) END, ocd_decimal($4)) = 0
-- Employee: TERNARY(age > 3, department, nil) == department
CASE WHEN t0."age" > $1 THEN t0."department_id" ELSE NULL END IS NOT DISTINCT FROM t0."department_id"
-- Employee: modulus:by:(rating, 3) == 1
(ocd_whole(ocd_double(t0."rating")) % NULLIF(CAST($1 AS bigint), 0)) = $2
-- Employee: photo == noindex:(notes)
t0."photo" IS NOT DISTINCT FROM (t0."notes")
