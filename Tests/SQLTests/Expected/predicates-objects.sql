-- Employee: department == %@
t0."department_id" = $1
-- Employee: department != %@
(t0."department_id" <> $1 OR t0."department_id" IS NULL)
-- Employee: department == nil
t0."department_id" IS NULL
-- Employee: department IN %@
t0."department_id" IN ($1, $2)
-- Employee: department IN %@
t0."department_id" = ANY($1)
-- Employee: SELF == %@
t0."id" = $1
-- Employee: SELF IN %@
t0."id" IN ($1, $2)
-- Employee: SELF IN %@
t0."id" = ANY($1)
-- Employee: SELF != %@
(t0."id" <> $1 OR $1 IS NULL)
-- Employee: department == %@
t0."department_id" = $1
-- Employee: boss == SELF
t0."boss_id" = t0."id"
-- Employee: boss.boss.department.name == 'Lab'
SELECT COUNT(*) FROM "employee" t0 LEFT OUTER JOIN "employee" t1 ON t0."boss_id" = t1."id" LEFT OUTER JOIN "employee" t2 ON t1."boss_id" = t2."id" LEFT OUTER JOIN "department" t3 ON t2."department_id" = t3."id" WHERE t3."name" = $1
-- Employee: boss == department
(t0."boss_id" IS NULL AND t0."department_id" IS NULL)
-- Employee: department.objectID == boss
(t0."department_id" IS NULL AND t0."boss_id" IS NULL)
-- Employee: objectID == %@
t0."id" = $1
-- Employee: entity.name == 'Manager'
(CASE t0."entity" WHEN 2 THEN $1 WHEN 3 THEN $2 END COLLATE "C") = $3
-- Employee: boss.entity.name != 'Manager'
SELECT COUNT(*) FROM "employee" t0 LEFT OUTER JOIN "employee" t1 ON t0."boss_id" = t1."id" WHERE ((CASE t1."entity" WHEN 2 THEN $1 WHEN 3 THEN $2 END COLLATE "C") <> $3 OR (CASE t1."entity" WHEN 2 THEN $1 WHEN 3 THEN $2 END COLLATE "C") IS NULL)
-- Employee: level == 3
t0."level" = $1
-- Manager: level == 3 AND name == 'x'
t0."entity" = 3 AND (t0."level" = $1 AND t0."name" = $2)
-- Tag: name == 'x'
t0."name" = $1
