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
(EXTRACT(EPOCH FROM t0."hired") - 978307200) < $1
-- Employee: salary <= 99.99
t0."salary" <= $1
-- Employee: rating > nil
FALSE
-- Employee: age BETWEEN {30, 40}
t0."age" BETWEEN $1 AND $2
-- Employee: name BETWEEN {'a', 'b'}
t0."name" BETWEEN $1 AND $2
-- Employee: name BETWEEN[c] {'a', 'b'}
(ocd_fold(t0."name", 1) >= ocd_fold($1, 1) AND ocd_fold(t0."name", 1) <= ocd_fold($2, 1))
-- Employee: age BETWEEN {shoes, steps + 1}
t0."age" BETWEEN t0."shoes" AND (t0."steps" + $1)
-- Employee: age < name
t0."age" < ocd_number(t0."name")
-- Employee: active > 0
CAST(t0."active" AS integer) > $1
-- Employee: hired > active
(EXTRACT(EPOCH FROM t0."hired") - 978307200) > CAST(t0."active" AS integer)
