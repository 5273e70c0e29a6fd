-- Employee: age > 30
t0."age" > $1
-- Employee: age >= 30 AND age <= 50
(t0."age" >= $1 AND t0."age" <= $2)
-- Employee: age < shoes
t0."age" < t0."shoes"
-- Employee: 30 < age
t0."age" > $1
-- Employee: name < 'M'
t0."name" < $1
-- Employee: name >=[c] 'm'
ocd_fold(t0."name", 1) >= ocd_fold($1, 1)
-- Employee: hired < %@
t0."hired" < $1
-- Employee: hired < 5
CAST(CAST(EXTRACT(EPOCH FROM t0."hired") - 978307200 AS double precision) AS double precision) < CAST($1 AS double precision)
-- Employee: salary <= 99.99
(t0."salary" <= ocd_above($1) AND ocd_compare(t0."salary", $1) <= 0)
-- Employee: rating > nil
FALSE
-- Employee: age BETWEEN {30, 40}
t0."age" BETWEEN $1 AND $2
-- Employee: name BETWEEN {'a', 'b'}
t0."name" BETWEEN $1 AND $2
-- Employee: name BETWEEN[c] {'a', 'b'}
(ocd_fold(t0."name", 1) >= ocd_fold($1, 1) AND ocd_fold(t0."name", 1) <= ocd_fold($2, 1))
-- Employee: age BETWEEN {shoes, steps + 1}
t0."age" BETWEEN t0."shoes" AND (CAST(t0."steps" AS bigint) + CAST($1 AS bigint))
-- Employee: age < name
CAST(t0."age" AS numeric) < ocd_number(t0."name")
-- Employee: active > 0
t0."active" > $1
-- Employee: hired > active
CAST(CAST(EXTRACT(EPOCH FROM t0."hired") - 978307200 AS double precision) AS double precision) > CAST(CAST(t0."active" AS integer) AS double precision)
