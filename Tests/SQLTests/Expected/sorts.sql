-- name
SELECT t0."entity", t0."id" FROM "employee" t0 ORDER BY t0."name" NULLS FIRST, t0."id" DESC NULLS LAST
-- age
SELECT t0."entity", t0."id" FROM "employee" t0 ORDER BY t0."age" NULLS FIRST, t0."id" DESC NULLS LAST
-- salary
SELECT t0."entity", t0."id" FROM "employee" t0 ORDER BY t0."salary" NULLS FIRST, t0."id" DESC NULLS LAST
-- hired
SELECT t0."entity", t0."id" FROM "employee" t0 ORDER BY t0."hired" NULLS FIRST, t0."id" DESC NULLS LAST
-- active
SELECT t0."entity", t0."id" FROM "employee" t0 ORDER BY t0."active" NULLS FIRST, t0."id" DESC NULLS LAST
-- badge
SELECT t0."entity", t0."id" FROM "employee" t0 ORDER BY t0."badge" NULLS FIRST, t0."id" DESC NULLS LAST
-- department.name
SELECT t0."entity", t0."id" FROM "employee" t0 LEFT OUTER JOIN "department" t1 ON t0."department_id" = t1."id" ORDER BY t1."name" NULLS FIRST, t0."id" DESC NULLS LAST
-- boss.department.name
SELECT t0."entity", t0."id" FROM "employee" t0 LEFT OUTER JOIN "employee" t1 ON t0."boss_id" = t1."id" LEFT OUTER JOIN "department" t2 ON t1."department_id" = t2."id" ORDER BY t2."name" NULLS FIRST, t0."id" DESC NULLS LAST
-- tags.@count
SELECT t0."entity", t0."id" FROM "employee" t0 ORDER BY (SELECT COUNT(*) FROM "employee_tags" t1 WHERE t1."employee_id" = t0."id") NULLS FIRST, t0."id" DESC NULLS LAST
-- address.city
SELECT t0."entity", t0."id" FROM "employee" t0 ORDER BY t0."address_city" NULLS FIRST, t0."id" DESC NULLS LAST
-- likes
refused: The PostgreSQL store cannot evaluate 'sorting by likes': transformable values have no order in SQL. Change the request, or filter and sort in memory.
-- address
refused: The PostgreSQL store cannot evaluate 'sorting by address': a composite attribute has no order; sort by its elements. Change the request, or filter and sort in memory.
-- department
SELECT t0."entity", t0."id" FROM "employee" t0 ORDER BY t0."department_id" NULLS FIRST, t0."id" DESC NULLS LAST
-- entity.name
SELECT t0."entity", t0."id" FROM "employee" t0 ORDER BY (CASE t0."entity" WHEN 2 THEN $1 WHEN 3 THEN $2 END COLLATE "C") NULLS FIRST, t0."id" DESC NULLS LAST
-- photo
SELECT t0."entity", t0."id" FROM "employee" t0 ORDER BY t0."photo" NULLS FIRST, t0."id" DESC NULLS LAST
-- nothing
refused: The PostgreSQL store cannot evaluate 'sorting by nothing': the entity 'Employee' has no property 'nothing'. Change the request, or filter and sort in memory.
-- compare:
SELECT t0."entity", t0."id" FROM "employee" t0 ORDER BY t0."name" NULLS FIRST
-- caseInsensitiveCompare:
SELECT t0."entity", t0."id" FROM "employee" t0 ORDER BY ocd_fold(t0."name", 1) COLLATE "C" NULLS FIRST
-- localizedCompare:
SELECT t0."entity", t0."id" FROM "employee" t0 ORDER BY t0."name" COLLATE ocd_localized NULLS FIRST
-- localizedCaseInsensitiveCompare:
SELECT t0."entity", t0."id" FROM "employee" t0 ORDER BY t0."name" COLLATE ocd_localized_case_insensitive NULLS FIRST
-- localizedStandardCompare:
SELECT t0."entity", t0."id" FROM "employee" t0 ORDER BY t0."name" COLLATE ocd_localized_standard NULLS FIRST
-- length:
refused: The PostgreSQL store cannot evaluate 'sorting by name': the selector 'length:' has no SQL; compare:, caseInsensitiveCompare:, localizedCompare:, localizedCaseInsensitiveCompare: and localizedStandardCompare: have. Change the request, or filter and sort in memory.
