-- Employee: ANY tags.name == 'red'
EXISTS (SELECT 1 FROM "employee_tags" t2 JOIN "tag" t1 ON t2."tag_id" = t1."id" WHERE t2."employee_id" = t0."id" AND t1."name" = $1)
-- Employee: tags.name == 'blue'
EXISTS (SELECT 1 FROM "employee_tags" t2 JOIN "tag" t1 ON t2."tag_id" = t1."id" WHERE t2."employee_id" = t0."id" AND t1."name" = $1)
-- Employee: ALL tags.name == 'blue'
NOT EXISTS (SELECT 1 FROM "employee_tags" t2 JOIN "tag" t1 ON t2."tag_id" = t1."id" WHERE t2."employee_id" = t0."id" AND ((t1."name" = $1) IS NOT TRUE))
-- Employee: NONE tags.name == 'blue'
((EXISTS (SELECT 1 FROM "employee_tags" t2 JOIN "tag" t1 ON t2."tag_id" = t1."id" WHERE t2."employee_id" = t0."id" AND t1."name" = $1)) IS NOT TRUE)
-- Employee: tags.@count == 2
(SELECT COUNT(*) FROM "employee_tags" t1 WHERE t1."employee_id" = t0."id") = $1
-- Employee: tasks.@count > 1
(SELECT COUNT(*) FROM "task" t1 WHERE t1."owner_id" = t0."id") > $1
-- Employee: favourites.@count == 0
(SELECT COUNT(*) FROM "tag" t1 WHERE t1."employee_favourites_id" = t0."id") = $1
-- Employee: friends.@count == 0
(SELECT COUNT(*) FROM "employee_friends" t1 WHERE t1."owner_id" = t0."id") = $1
-- Employee: projects.@count == 0
(SELECT COUNT(*) FROM "employee_projects" t1 WHERE t1."employee_id" = t0."id") = $1
-- Employee: ANY friends.name == 'x'
EXISTS (SELECT 1 FROM "employee_friends" t2 JOIN "employee" t1 ON t2."friends_id" = t1."id" WHERE t2."owner_id" = t0."id" AND t1."name" = $1)
-- Employee: ANY favourites.name == 'x'
EXISTS (SELECT 1 FROM "tag" t1 WHERE t1."employee_favourites_id" = t0."id" AND t1."name" = $1)
-- Employee: ANY tasks.name ==[c] 'x'
EXISTS (SELECT 1 FROM "task" t1 WHERE t1."owner_id" = t0."id" AND ocd_fold(t1."name", 1) = ocd_fold($1, 1))
-- Employee: ANY projects.name == 'x'
EXISTS (SELECT 1 FROM "employee_projects" t2 JOIN "project" t1 ON t2."project_id" = t1."id" WHERE t2."employee_id" = t0."id" AND t1."name" = $1)
-- Employee: ANY department.employees.age > 3
SELECT COUNT(*) FROM "employee" t0 LEFT OUTER JOIN "department" t1 ON t0."department_id" = t1."id" WHERE EXISTS (SELECT 1 FROM "employee" t2 WHERE t2."department_id" = t1."id" AND t2."age" > $1)
-- Employee: department.employees.@count == 2
SELECT COUNT(*) FROM "employee" t0 LEFT OUTER JOIN "department" t1 ON t0."department_id" = t1."id" WHERE (SELECT COUNT(*) FROM "employee" t2 WHERE t2."department_id" = t1."id") = $1
-- Employee: department.employees.@sum.age > 2
SELECT COUNT(*) FROM "employee" t0 LEFT OUTER JOIN "department" t1 ON t0."department_id" = t1."id" WHERE (SELECT COALESCE(CAST(SUM(t2."age") AS bigint), 0) FROM "employee" t2 WHERE t2."department_id" = t1."id") > $1
-- Employee: department.employees.@avg.age > 2
SELECT COUNT(*) FROM "employee" t0 LEFT OUTER JOIN "department" t1 ON t0."department_id" = t1."id" WHERE (SELECT (CAST(SUM(t2."age") AS double precision) / NULLIF(COUNT(t2."age"), 0)) FROM "employee" t2 WHERE t2."department_id" = t1."id") > $1
-- Employee: department.employees.age.@max > 2
SELECT COUNT(*) FROM "employee" t0 LEFT OUTER JOIN "department" t1 ON t0."department_id" = t1."id" WHERE (SELECT MAX(t2."age") FROM "employee" t2 WHERE t2."department_id" = t1."id") > $1
-- Employee: department.employees.@min.name == 'x'
SELECT COUNT(*) FROM "employee" t0 LEFT OUTER JOIN "department" t1 ON t0."department_id" = t1."id" WHERE (SELECT MIN(t2."name") FROM "employee" t2 WHERE t2."department_id" = t1."id") = $1
-- Employee: department.employees.name.@count == 2
SELECT COUNT(*) FROM "employee" t0 LEFT OUTER JOIN "department" t1 ON t0."department_id" = t1."id" WHERE (SELECT COUNT(DISTINCT t2."name") FROM "employee" t2 WHERE t2."department_id" = t1."id") = $1
-- Employee: department.employees.@sum.salary > 2.5
SELECT COUNT(*) FROM "employee" t0 LEFT OUTER JOIN "department" t1 ON t0."department_id" = t1."id" WHERE ocd_order((SELECT COALESCE(ocd_decimal(SUM(t2."salary")), 0) FROM "employee" t2 WHERE t2."department_id" = t1."id"), ocd_double($1)) > 0
-- Employee: department.employees.@avg.salary == salary
SELECT COUNT(*) FROM "employee" t0 LEFT OUTER JOIN "department" t1 ON t0."department_id" = t1."id" WHERE (ocd_order((SELECT ocd_calculate('/', ocd_decimal(SUM(t2."salary")), CAST(COUNT(t2."salary") AS numeric)) FROM "employee" t2 WHERE t2."department_id" = t1."id"), ocd_decimal(t0."salary")) = 0 OR ((SELECT ocd_calculate('/', ocd_decimal(SUM(t2."salary")), CAST(COUNT(t2."salary") AS numeric)) FROM "employee" t2 WHERE t2."department_id" = t1."id") IS NULL AND t0."salary" IS NULL))
-- Employee: department.employees.@sum.rating > 2
SELECT COUNT(*) FROM "employee" t0 LEFT OUTER JOIN "department" t1 ON t0."department_id" = t1."id" WHERE (SELECT COALESCE(ocd_double(SUM(CAST(t2."rating" AS double precision))), 0) FROM "employee" t2 WHERE t2."department_id" = t1."id") > ocd_double($1)
-- Employee: department.employees.@max.hired > hired
SELECT COUNT(*) FROM "employee" t0 LEFT OUTER JOIN "department" t1 ON t0."department_id" = t1."id" WHERE (SELECT MAX(t2."hired") FROM "employee" t2 WHERE t2."department_id" = t1."id") > t0."hired"
-- Employee: department.employees.boss.name.@max == 'x'
SELECT COUNT(*) FROM "employee" t0 LEFT OUTER JOIN "department" t1 ON t0."department_id" = t1."id" WHERE (SELECT MAX(t3."name") FROM "employee" t2 LEFT OUTER JOIN "employee" t3 ON t2."boss_id" = t3."id" WHERE t2."department_id" = t1."id") = $1
-- Employee: SUBQUERY(tags, $t, $t.name == 'red' OR $t.name == name).@count == 2
(SELECT COUNT(*) FROM "employee_tags" t2 JOIN "tag" t1 ON t2."tag_id" = t1."id" WHERE t2."employee_id" = t0."id" AND (t1."name" = $1 OR t1."name" IS NOT DISTINCT FROM t0."name")) = $2
-- Employee: SUBQUERY(tasks, $t, $t.owner == SELF AND SUBQUERY($t.owner.tags, $u, $u.name == $t.name).@count > 0).@count == 2
(SELECT COUNT(*) FROM "task" t1 LEFT OUTER JOIN "employee" t2 ON t1."owner_id" = t2."id" WHERE t1."owner_id" = t0."id" AND (t1."owner_id" = t0."id" AND (SELECT COUNT(*) FROM "employee_tags" t4 JOIN "tag" t3 ON t4."tag_id" = t3."id" WHERE t4."employee_id" = t2."id" AND t3."name" IS NOT DISTINCT FROM t1."name") > $1)) = $2
-- Employee: count:(tags) == 2
(SELECT COUNT(*) FROM "employee_tags" t1 WHERE t1."employee_id" = t0."id") = $1
-- Employee: max:(tasks.name) == 'x'
(SELECT MAX(t1."name") FROM "task" t1 WHERE t1."owner_id" = t0."id") = $1
-- Employee: boss IN SUBQUERY(department.employees, $e, $e.age > 3)
SELECT COUNT(*) FROM "employee" t0 LEFT OUTER JOIN "department" t1 ON t0."department_id" = t1."id" WHERE t0."boss_id" IN (SELECT t2."id" FROM "employee" t2 WHERE t2."department_id" = t1."id" AND t2."age" > $1)
-- Department: %@ IN employees
EXISTS (SELECT 1 FROM "employee" t1 WHERE t1."department_id" = t0."id" AND t1."id" = $1)
-- Department: employees CONTAINS %@
EXISTS (SELECT 1 FROM "employee" t1 WHERE t1."department_id" = t0."id" AND t1."id" = $1)
-- Department: ANY employees IN %@
EXISTS (SELECT 1 FROM "employee" t1 WHERE t1."department_id" = t0."id" AND t1."id" IN ($1, $2))
-- Department: ANY employees.active == YES
EXISTS (SELECT 1 FROM "employee" t1 WHERE t1."department_id" = t0."id" AND t1."active" = $1)
-- Employee: ANY tags == %@
EXISTS (SELECT 1 FROM "employee_tags" t2 JOIN "tag" t1 ON t2."tag_id" = t1."id" WHERE t2."employee_id" = t0."id" AND t1."id" = $1)
-- Employee: ANY age == 3
(t0."age" IS NOT NULL AND t0."age" = $1)
-- Employee: ALL department.name == 'x'
SELECT COUNT(*) FROM "employee" t0 LEFT OUTER JOIN "department" t1 ON t0."department_id" = t1."id" WHERE (t1."name" IS NULL OR t1."name" = $1)
-- Employee: ANY photo == %@
(t0."photo" IS NOT NULL AND t0."photo" = $1)
-- Tag: ANY employees.level == 3
EXISTS (SELECT 1 FROM "employee_tags" t2 JOIN "employee" t1 ON t2."employee_id" = t1."id" WHERE t2."tag_id" = t0."id" AND t1."level" = $1)
