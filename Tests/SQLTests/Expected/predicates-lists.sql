-- Employee: age IN {30, 60}
t0."age" IN ($1, $2)
-- Employee: NOT (age IN {30, 60})
((t0."age" IN ($1, $2)) IS NOT TRUE)
-- Employee: age IN {}
FALSE
-- Employee: age IN %@
t0."age" = ANY($1)
-- Employee: rating IN %@
t0."rating" = ANY($1)
-- Employee: name IN %@
t0."name" = ANY($1)
-- Employee: name IN[c] {'a', 'b'}
(ocd_fold(t0."name", 1) = ocd_fold($1, 1) OR ocd_fold(t0."name", 1) = ocd_fold($2, 1))
-- Employee: name IN %@
t0."name" = ANY($1)
-- Employee: badge IN %@
t0."badge" = ANY($1)
-- Employee: notes IN %@
t0."notes" = ANY($1)
-- Employee: salary IN %@
t0."salary" = ANY($1)
-- Employee: active IN {YES, NO}
(CAST(t0."active" AS integer) = $1 OR CAST(t0."active" AS integer) = $2)
-- Employee: age IN {1, nil, 3}
(t0."age" IN ($1, $2) OR t0."age" IS NULL)
-- Employee: age IN {shoes, 3}
(t0."age" IN ($1) OR t0."age" IS NOT DISTINCT FROM t0."shoes")
-- Employee: age IN {1, 'two', 3.5}
(t0."age" IN ($1, $2) OR t0."age" = ocd_number($3))
-- Employee: hired IN %@
t0."hired" = ANY($1)
-- Employee: {1, 2} CONTAINS age
t0."age" IN ($1, $2)
-- Employee: ANY {1, 2} == age
(t0."age" = $1 OR t0."age" = $2)
-- Employee: ALL {1, 2} < age
(t0."age" > $1 AND t0."age" > $2)
-- Employee: address.city IN {'Bern'}
t0."address_city" IN ($1)
