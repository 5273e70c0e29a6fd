-- Employee: age + 10 == 40
(t0."age" + $1) = $2
-- Employee: age - shoes * 2 > steps / 3
(t0."age" - (t0."shoes" * $1)) > (t0."steps" / NULLIF($2, 0))
-- Employee: rating / 2 > 1
(t0."rating" / NULLIF($1, 0)) > $2
-- Employee: modulus:by:(age, 3) == 1
(t0."age" % NULLIF($1, 0)) = $2
-- Employee: bitwiseAnd:with:(age, 3) == 1
(t0."age" & $1) = $2
-- Employee: bitwiseOr:with:(age, 3) == 1
(t0."age" | $1) = $2
-- Employee: leftshift:by:(age, 3) == 1
(t0."age" << CAST($1 AS integer)) = $2
-- Employee: rightshift:by:(age, 3) == 1
(t0."age" >> CAST($1 AS integer)) = $2
-- Employee: bitwiseXor:with:(age, 3) == 1
(t0."age" # $1) = $2
-- Employee: onesComplement:(age) == 1
(~t0."age") = $1
-- Employee: abs:(age) == 1
abs(t0."age") = $1
-- Employee: sqrt:(rating) == 1
CASE WHEN t0."rating" >= 0 THEN sqrt(t0."rating") END = $1
-- Employee: floor:(rating) == 1
floor(t0."rating") = $1
-- Employee: ceiling:(age) == 1
t0."age" = $1
-- Employee: trunc:(rating) == 1
trunc(t0."rating") = $1
-- Employee: exp:(rating) == 1
exp(t0."rating") = $1
-- Employee: ln:(rating) == 1
CASE WHEN t0."rating" > 0 THEN ln(t0."rating") END = $1
-- Employee: log:(rating) == 1
CASE WHEN t0."rating" > 0 THEN log(t0."rating") END = $1
-- Employee: age ** 2 == 4
power(t0."age", $1) = $2
-- Employee: salary + 1 == 2.5
(t0."salary" + $1) = $2
-- Employee: salary * 2 > salary
(t0."salary" * $1) > t0."salary"
-- Employee: salary / 3 == 0.1
(t0."salary" / NULLIF($1, 0)) = $2
-- Employee: uppercase:(name) == 'ANNA'
upper(t0."name" COLLATE "und-x-icu") = $1
-- Employee: lowercase:(name) == 'anna'
lower(t0."name" COLLATE "und-x-icu") = $1
-- Employee: canonical:(name) == 'anna'
ocd_fold(t0."name", 3) = $1
-- Employee: length:(name) == 4
length(t0."name") = $1
-- Employee: length:(age) == 4
length(CAST(t0."age" AS text)) = $1
-- Employee: noindex:(age) == 4
(t0."age") = $1
-- Employee: hired + 60 > hired
(t0."hired" + make_interval(secs => $1)) > t0."hired"
-- Employee: hired - hired > 60
EXTRACT(EPOCH FROM (t0."hired" - t0."hired")) > $1
-- Employee: TERNARY(age > 3, name, 'none') == 'x'
CASE WHEN t0."age" > $1 THEN t0."name" ELSE $2 END = $3
-- Employee: TERNARY(age > 3, age, rating) == 1
CASE WHEN t0."age" > $1 THEN t0."age" ELSE t0."rating" END = $2
-- Employee: TERNARY(age > 3, salary + 1, 2) == 1
CASE WHEN t0."age" > $1 THEN (t0."salary" + $2) ELSE $3 END = $4
-- Employee: TERNARY(age > 3, department, nil) == department
CASE WHEN t0."age" > $1 THEN t0."department_id" ELSE $2 END IS NOT DISTINCT FROM t0."department_id"
-- Employee: modulus:by:(rating, 3) == 1
refused: The PostgreSQL store cannot evaluate 'modulus:by:(rating, 3) == 1': the function 'modulus:by:' has no equivalent in SQL. Change the request, or filter and sort in memory.
-- Employee: photo == noindex:(notes)
t0."photo" IS NOT DISTINCT FROM (t0."notes")
