-- Employee: name == 'Anna'
t0."name" = $1
-- Employee: name != 'Anna'
(t0."name" <> $1 OR t0."name" IS NULL)
-- Employee: name == nil
t0."name" IS NULL
-- Employee: name != nil
t0."name" IS NOT NULL
-- Employee: 'Anna' == name
t0."name" = $1
-- Employee: name == site
t0."name" IS NOT DISTINCT FROM t0."site"
-- Employee: name != site
t0."name" IS DISTINCT FROM t0."site"
-- Employee: age == 30
t0."age" = $1
-- Employee: age != 30
(t0."age" <> $1 OR t0."age" IS NULL)
-- Employee: age == shoes
t0."age" IS NOT DISTINCT FROM t0."shoes"
-- Employee: age != shoes
t0."age" IS DISTINCT FROM t0."shoes"
-- Employee: age == rating
(CAST(t0."age" AS numeric) = ocd_double(t0."rating") OR (t0."age" IS NULL AND t0."rating" IS NULL))
-- Employee: active == YES
t0."active" = $1
-- Employee: active == 1
t0."active" = $1
-- Employee: active != NO
(t0."active" <> $1 OR t0."active" IS NULL)
-- Employee: salary == 10.5
(t0."salary" BETWEEN ocd_below($1) AND ocd_above($1) AND ocd_compare(t0."salary", $1) = 0)
-- Employee: salary != 10.5
(((t0."salary" BETWEEN ocd_below($1) AND ocd_above($1) AND ocd_compare(t0."salary", $1) = 0)) IS NOT TRUE)
-- Employee: hired == %@
t0."hired" = $1
-- Employee: hired != hired
t0."hired" IS DISTINCT FROM t0."hired"
-- Employee: hired == 5
CAST(CAST(EXTRACT(EPOCH FROM t0."hired") - 978307200 AS double precision) AS double precision) = CAST($1 AS double precision)
-- Employee: badge == %@
t0."badge" = $1
-- Employee: badge == '01020304-0506-0708-090A-0B0C0D0E0F10'
t0."badge" = $1
-- Employee: badge == 'no badge'
FALSE
-- Employee: badge != 'no badge'
((FALSE) IS NOT TRUE)
-- Employee: site == %@
t0."site" = $1
-- Employee: name == 5
ocd_number(t0."name") = CAST($1 AS numeric)
-- Employee: name == age
(ocd_number(t0."name") = CAST(t0."age" AS numeric) OR (t0."name" IS NULL AND t0."age" IS NULL))
-- Employee: age == 'thirty'
CAST(t0."age" AS numeric) = ocd_number($1)
-- Employee: age == '30'
t0."age" = $1
-- Employee: name == hired
(t0."name" IS NULL AND t0."hired" IS NULL)
-- Employee: notes == %@
t0."notes" = $1
-- Employee: photo == %@
t0."photo" = $1
-- Employee: photo == nil
t0."photo" IS NULL
-- Employee: photo != notes
t0."photo" IS DISTINCT FROM t0."notes"
-- Employee: name ==[c] 'BOB'
ocd_fold(t0."name", 1) = ocd_fold($1, 1)
-- Employee: name !=[cd] 'ANDRE'
((ocd_fold(t0."name", 3) = ocd_fold($1, 3)) IS NOT TRUE)
-- Employee: name ==[cd] site
(ocd_fold(t0."name", 3) = ocd_fold(t0."site", 3) OR (t0."name" IS NULL AND t0."site" IS NULL))
-- Employee: 1 == 1
TRUE
-- Employee: 'a' == 'b'
FALSE
