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
refused: The PostgreSQL store cannot evaluate 'name IN {"n1\x00", "n2\x00", "n3\x00", "n4\x00", "n5\x00", "n6\x00", "n7\x00", "n8\x00", "n9\x00", "n10\x00", "n11\x00", "n12\x00", "n13\x00", "n14\x00", "n15\x00", "n16\x00", "n17\x00", "n18\x00", "n19\x00", "n20\x00"}': a text with U+0000 cannot be bound, and is in no text of the store. Change the request, or filter and sort in memory.
-- Employee: badge IN %@
t0."badge" = ANY($1)
-- Employee: notes IN %@
t0."notes" = ANY($1)
-- Employee: salary IN %@
t0."salary" = ANY($1)
-- Employee: active IN {YES, NO}
t0."active" IN ($1, $2)
-- Employee: age IN {1, nil, 3}
(t0."age" IN ($1, $2) OR t0."age" IS NULL)
-- Employee: age IN {shoes, 3}
(t0."age" IN ($1) OR t0."age" IS NOT DISTINCT FROM t0."shoes")
-- Employee: age IN {1, 'two', 3.5}
(t0."age" IN ($1) OR CAST(t0."age" AS numeric) = ocd_number($2) OR CAST(t0."age" AS numeric) = ocd_double($3))
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
