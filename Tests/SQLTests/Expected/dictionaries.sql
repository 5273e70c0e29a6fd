-- all attributes
SELECT t0."active", t0."age", t0."badge", t0."folded", t0."friend_count", t0."hired", t0."likes", t0."name", t0."notes", t0."photo", t0."rating", t0."salary", t0."score", t0."shoes", t0."site", t0."steps", t0."workplace", t0."address_city", t0."address_street", t0."address_place_latitude", t0."address_place_longitude" FROM "employee" t0
-- some
SELECT t0."name", t0."department_id", t0."boss_id", t0."boss_entity", t0."address_city", t0."address_street", t0."address_place_latitude", t0."address_place_longitude", t0."address_city", t0."id", t0."entity", t1."name", t0."photo", (SELECT COUNT(*) FROM "employee_tags" t2 WHERE t2."employee_id" = t0."id") FROM "employee" t0 LEFT OUTER JOIN "department" t1 ON t0."department_id" = t1."id"
-- distinct
SELECT DISTINCT t0."name", t0."age" FROM "employee" t0 ORDER BY t0."name" DESC NULLS LAST LIMIT $1 OFFSET $2
-- distinct, in another order
SELECT v0 FROM (SELECT t0."name" AS v0, ROW_NUMBER() OVER (PARTITION BY t0."name" ORDER BY t0."age" NULLS FIRST) AS turn, ROW_NUMBER() OVER ( ORDER BY t0."age" NULLS FIRST) AS place FROM "employee" t0) AS d WHERE turn = 1 ORDER BY place
-- aggregates
SELECT COUNT(t0."name"), COUNT(*), MAX(t0."age"), COALESCE(CAST(SUM(t0."age") AS bigint), 0), (CAST(SUM(t0."age") AS double precision) / NULLIF(COUNT(t0."age"), 0)), COALESCE(SUM(t0."salary"), 0), ocd_plain(ocd_calculate('/', ocd_decimal(SUM(t0."salary")), CAST(COUNT(t0."salary") AS numeric))), MIN(t0."hired"), COALESCE(CAST(SUM((SELECT COUNT(*) FROM "employee_tags" t1 WHERE t1."employee_id" = t0."id")) AS bigint), 0), COUNT(t0."photo") FROM "employee" t0
-- groups
SELECT t1."name", t0."active", COUNT(t0."name"), CAST(SUM((SELECT COUNT(*) FROM "employee_tags" t2 WHERE t2."employee_id" = t0."id")) AS bigint) FROM "employee" t0 LEFT OUTER JOIN "department" t1 ON t0."department_id" = t1."id" WHERE t0."entity" = 2 AND t0."age" > $1 GROUP BY 1, 2 HAVING (COUNT(t0."name") > $2 AND t0."active" = $3) ORDER BY COUNT(t0."name") DESC NULLS LAST, t1."name" NULLS FIRST
-- objects
SELECT t0."id", t0."entity", t0."department_id", ocd_integer(ocd_calculate('+', CAST(t0."age" AS numeric), CAST($1 AS numeric))), (ocd_upper(t0."name") COLLATE "C"), (CASE t0."entity" WHEN 2 THEN $2 WHEN 3 THEN $3 END COLLATE "C") FROM "employee" t0
-- refused
refused: The PostgreSQL store cannot evaluate 'nothing': the entity 'Employee' has no property 'nothing'. Change the request, or filter and sort in memory.
