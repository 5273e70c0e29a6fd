-- Employee: name BEGINSWITH 'An'
(t0."name" >= $1 AND t0."name" < $2)
-- Employee: name BEGINSWITH ''
starts_with(t0."name", $1)
-- Employee: name BEGINSWITH 'a􏿿'
(t0."name" >= $1 AND t0."name" < $2)
-- Employee: name BEGINSWITH[cd] 'an'
starts_with(ocd_compose(t0."name", 3), ocd_compose($1, 3))
-- Employee: name ENDSWITH 'a'
right(t0."name", length($1)) = $1
-- Employee: name ENDSWITH ''
t0."name" IS NOT NULL
-- Employee: name ENDSWITH[c] 'A'
right(ocd_compose(t0."name", 1), length(ocd_compose($1, 1))) = ocd_compose($1, 1)
-- Employee: name CONTAINS 'nn'
position($1 IN t0."name") > 0
-- Employee: name CONTAINS ''
position($1 IN t0."name") > 0
-- Employee: name CONTAINS[cd] 'DRE'
position(ocd_compose($1, 3) IN ocd_compose(t0."name", 3)) > 0
-- Employee: name LIKE 'A*'
t0."name" LIKE ocd_wildcards($1)
-- Employee: name LIKE[c] '?OB'
ocd_compose(t0."name", 1) LIKE ocd_wildcards(ocd_compose($1, 1))
-- Employee: name MATCHES '[A-C].*a'
t0."name" ~ $1
-- Employee: name MATCHES[c] 'a.*'
t0."name" ~ $1
-- Employee: name BEGINSWITH site
starts_with(t0."name", t0."site")
-- Employee: age BEGINSWITH '3'
starts_with((CAST(t0."age" AS text) COLLATE "C"), $1)
-- Employee: badge CONTAINS 'A'
position($1 IN (upper(CAST(t0."badge" AS text)) COLLATE "C")) > 0
-- Employee: name IN 'Anna and others'
position(t0."name" IN $1) > 0
-- Employee: site.length > 3
refused: The PostgreSQL store cannot evaluate 'site.length > 3': 'site' of entity 'Employee' is an attribute and has no properties. Change the request, or filter and sort in memory.
-- Employee: name.length == 4
ocd_length(t0."name") = $1
-- Employee: address.city.length == 4
ocd_length(t0."address_city") = $1
-- Employee: address.city BEGINSWITH 'B'
(t0."address_city" >= $1 AND t0."address_city" < $2)
-- Employee: department.name BEGINSWITH 'L'
SELECT COUNT(*) FROM "employee" t0 LEFT OUTER JOIN "department" t1 ON t0."department_id" = t1."id" WHERE (t1."name" >= $1 AND t1."name" < $2)
-- Employee: name LIKE nil
FALSE
