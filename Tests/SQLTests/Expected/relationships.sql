-- Employee.department of one
SELECT 0, t0."id", t0."version", t0."headcount", t0."name", t0."years", o."id" FROM "employee" o JOIN "department" t0 ON o."department_id" = t0."id" WHERE o."id" = $1
-- Employee.department of list
SELECT 0, t0."id", t0."version", t0."headcount", t0."name", t0."years", o."id" FROM "employee" o JOIN "department" t0 ON o."department_id" = t0."id" WHERE o."id" = ANY($1)
-- Employee.department of range
SELECT 0, t0."id", t0."version", t0."headcount", t0."name", t0."years", o."id" FROM "employee" o JOIN "department" t0 ON o."department_id" = t0."id" WHERE o."id" BETWEEN $1 AND $2
-- Employee.boss of one
SELECT t0."entity", t0."id", t0."version", t0."active", t0."address_city", t0."address_street", t0."address_place_latitude", t0."address_place_longitude", t0."age", t0."badge", t0."boss_id", t0."boss_entity", t0."department_id", t0."folded", t0."friend_count", t0."hired", t0."likes", t0."name", t0."notes", t0."photo", t0."rating", t0."salary", t0."score", t0."shoes", t0."site", t0."steps", t0."workplace", t0."level", o."id" FROM "employee" o JOIN "employee" t0 ON o."boss_id" = t0."id" WHERE o."id" = $1
-- Employee.boss of list
SELECT t0."entity", t0."id", t0."version", t0."active", t0."address_city", t0."address_street", t0."address_place_latitude", t0."address_place_longitude", t0."age", t0."badge", t0."boss_id", t0."boss_entity", t0."department_id", t0."folded", t0."friend_count", t0."hired", t0."likes", t0."name", t0."notes", t0."photo", t0."rating", t0."salary", t0."score", t0."shoes", t0."site", t0."steps", t0."workplace", t0."level", o."id" FROM "employee" o JOIN "employee" t0 ON o."boss_id" = t0."id" WHERE o."id" = ANY($1)
-- Employee.boss of range
SELECT t0."entity", t0."id", t0."version", t0."active", t0."address_city", t0."address_street", t0."address_place_latitude", t0."address_place_longitude", t0."age", t0."badge", t0."boss_id", t0."boss_entity", t0."department_id", t0."folded", t0."friend_count", t0."hired", t0."likes", t0."name", t0."notes", t0."photo", t0."rating", t0."salary", t0."score", t0."shoes", t0."site", t0."steps", t0."workplace", t0."level", o."id" FROM "employee" o JOIN "employee" t0 ON o."boss_id" = t0."id" WHERE o."id" BETWEEN $1 AND $2
-- Employee.reports of one
SELECT t0."entity", t0."id", t0."version", t0."active", t0."address_city", t0."address_street", t0."address_place_latitude", t0."address_place_longitude", t0."age", t0."badge", t0."boss_id", t0."boss_entity", t0."department_id", t0."folded", t0."friend_count", t0."hired", t0."likes", t0."name", t0."notes", t0."photo", t0."rating", t0."salary", t0."score", t0."shoes", t0."site", t0."steps", t0."workplace", t0."level", t0."boss_id" FROM "employee" t0 WHERE t0."boss_id" = $1
-- Employee.reports of list
SELECT t0."entity", t0."id", t0."version", t0."active", t0."address_city", t0."address_street", t0."address_place_latitude", t0."address_place_longitude", t0."age", t0."badge", t0."boss_id", t0."boss_entity", t0."department_id", t0."folded", t0."friend_count", t0."hired", t0."likes", t0."name", t0."notes", t0."photo", t0."rating", t0."salary", t0."score", t0."shoes", t0."site", t0."steps", t0."workplace", t0."level", t0."boss_id" FROM "employee" t0 WHERE t0."boss_id" = ANY($1)
-- Employee.reports of range
SELECT t0."entity", t0."id", t0."version", t0."active", t0."address_city", t0."address_street", t0."address_place_latitude", t0."address_place_longitude", t0."age", t0."badge", t0."boss_id", t0."boss_entity", t0."department_id", t0."folded", t0."friend_count", t0."hired", t0."likes", t0."name", t0."notes", t0."photo", t0."rating", t0."salary", t0."score", t0."shoes", t0."site", t0."steps", t0."workplace", t0."level", t0."boss_id" FROM "employee" t0 WHERE t0."boss_id" BETWEEN $1 AND $2
-- Employee.tasks of one
SELECT 0, t0."id", t0."version", t0."changed", t0."name", t0."owner_id", t0."owner_entity" FROM "task" t0 WHERE t0."owner_id" = $1 ORDER BY t0."owner_id", t0."owner_pos" NULLS FIRST, t0."id"
-- Employee.tasks of list
SELECT 0, t0."id", t0."version", t0."changed", t0."name", t0."owner_id", t0."owner_entity" FROM "task" t0 WHERE t0."owner_id" = ANY($1) ORDER BY t0."owner_id", t0."owner_pos" NULLS FIRST, t0."id"
-- Employee.tasks of range
SELECT 0, t0."id", t0."version", t0."changed", t0."name", t0."owner_id", t0."owner_entity" FROM "task" t0 WHERE t0."owner_id" BETWEEN $1 AND $2 ORDER BY t0."owner_id", t0."owner_pos" NULLS FIRST, t0."id"
-- Employee.tags of one
SELECT 0, t0."id", t0."version", t0."name", j."employee_id" FROM "employee_tags" j JOIN "tag" t0 ON j."tag_id" = t0."id" WHERE j."employee_id" = $1
-- Employee.tags of list
SELECT 0, t0."id", t0."version", t0."name", j."employee_id" FROM "employee_tags" j JOIN "tag" t0 ON j."tag_id" = t0."id" WHERE j."employee_id" = ANY($1)
-- Employee.tags of range
SELECT 0, t0."id", t0."version", t0."name", j."employee_id" FROM "employee_tags" j JOIN "tag" t0 ON j."tag_id" = t0."id" WHERE j."employee_id" BETWEEN $1 AND $2
-- Employee.projects of one
SELECT 0, t0."id", t0."version", t0."name", j."employee_id" FROM "employee_projects" j JOIN "project" t0 ON j."project_id" = t0."id" WHERE j."employee_id" = $1 ORDER BY j."employee_id", j."project_pos" NULLS FIRST, t0."id"
-- Employee.projects of list
SELECT 0, t0."id", t0."version", t0."name", j."employee_id" FROM "employee_projects" j JOIN "project" t0 ON j."project_id" = t0."id" WHERE j."employee_id" = ANY($1) ORDER BY j."employee_id", j."project_pos" NULLS FIRST, t0."id"
-- Employee.projects of range
SELECT 0, t0."id", t0."version", t0."name", j."employee_id" FROM "employee_projects" j JOIN "project" t0 ON j."project_id" = t0."id" WHERE j."employee_id" BETWEEN $1 AND $2 ORDER BY j."employee_id", j."project_pos" NULLS FIRST, t0."id"
-- Project.members of one
SELECT t0."entity", t0."id", t0."version", t0."active", t0."address_city", t0."address_street", t0."address_place_latitude", t0."address_place_longitude", t0."age", t0."badge", t0."boss_id", t0."boss_entity", t0."department_id", t0."folded", t0."friend_count", t0."hired", t0."likes", t0."name", t0."notes", t0."photo", t0."rating", t0."salary", t0."score", t0."shoes", t0."site", t0."steps", t0."workplace", t0."level", j."project_id" FROM "employee_projects" j JOIN "employee" t0 ON j."employee_id" = t0."id" WHERE j."project_id" = $1 ORDER BY j."project_id", j."employee_pos" NULLS FIRST, t0."id"
-- Project.members of list
SELECT t0."entity", t0."id", t0."version", t0."active", t0."address_city", t0."address_street", t0."address_place_latitude", t0."address_place_longitude", t0."age", t0."badge", t0."boss_id", t0."boss_entity", t0."department_id", t0."folded", t0."friend_count", t0."hired", t0."likes", t0."name", t0."notes", t0."photo", t0."rating", t0."salary", t0."score", t0."shoes", t0."site", t0."steps", t0."workplace", t0."level", j."project_id" FROM "employee_projects" j JOIN "employee" t0 ON j."employee_id" = t0."id" WHERE j."project_id" = ANY($1) ORDER BY j."project_id", j."employee_pos" NULLS FIRST, t0."id"
-- Project.members of range
SELECT t0."entity", t0."id", t0."version", t0."active", t0."address_city", t0."address_street", t0."address_place_latitude", t0."address_place_longitude", t0."age", t0."badge", t0."boss_id", t0."boss_entity", t0."department_id", t0."folded", t0."friend_count", t0."hired", t0."likes", t0."name", t0."notes", t0."photo", t0."rating", t0."salary", t0."score", t0."shoes", t0."site", t0."steps", t0."workplace", t0."level", j."project_id" FROM "employee_projects" j JOIN "employee" t0 ON j."employee_id" = t0."id" WHERE j."project_id" BETWEEN $1 AND $2 ORDER BY j."project_id", j."employee_pos" NULLS FIRST, t0."id"
-- Employee.friends of one
SELECT t0."entity", t0."id", t0."version", t0."active", t0."address_city", t0."address_street", t0."address_place_latitude", t0."address_place_longitude", t0."age", t0."badge", t0."boss_id", t0."boss_entity", t0."department_id", t0."folded", t0."friend_count", t0."hired", t0."likes", t0."name", t0."notes", t0."photo", t0."rating", t0."salary", t0."score", t0."shoes", t0."site", t0."steps", t0."workplace", t0."level", j."owner_id" FROM "employee_friends" j JOIN "employee" t0 ON j."friends_id" = t0."id" WHERE j."owner_id" = $1
-- Employee.friends of list
SELECT t0."entity", t0."id", t0."version", t0."active", t0."address_city", t0."address_street", t0."address_place_latitude", t0."address_place_longitude", t0."age", t0."badge", t0."boss_id", t0."boss_entity", t0."department_id", t0."folded", t0."friend_count", t0."hired", t0."likes", t0."name", t0."notes", t0."photo", t0."rating", t0."salary", t0."score", t0."shoes", t0."site", t0."steps", t0."workplace", t0."level", j."owner_id" FROM "employee_friends" j JOIN "employee" t0 ON j."friends_id" = t0."id" WHERE j."owner_id" = ANY($1)
-- Employee.friends of range
SELECT t0."entity", t0."id", t0."version", t0."active", t0."address_city", t0."address_street", t0."address_place_latitude", t0."address_place_longitude", t0."age", t0."badge", t0."boss_id", t0."boss_entity", t0."department_id", t0."folded", t0."friend_count", t0."hired", t0."likes", t0."name", t0."notes", t0."photo", t0."rating", t0."salary", t0."score", t0."shoes", t0."site", t0."steps", t0."workplace", t0."level", j."owner_id" FROM "employee_friends" j JOIN "employee" t0 ON j."friends_id" = t0."id" WHERE j."owner_id" BETWEEN $1 AND $2
-- Employee.favourites of one
SELECT 0, t0."id", t0."version", t0."name", t0."employee_favourites_id" FROM "tag" t0 WHERE t0."employee_favourites_id" = $1 ORDER BY t0."employee_favourites_id", t0."employee_favourites_pos" NULLS FIRST, t0."id"
-- Employee.favourites of list
SELECT 0, t0."id", t0."version", t0."name", t0."employee_favourites_id" FROM "tag" t0 WHERE t0."employee_favourites_id" = ANY($1) ORDER BY t0."employee_favourites_id", t0."employee_favourites_pos" NULLS FIRST, t0."id"
-- Employee.favourites of range
SELECT 0, t0."id", t0."version", t0."name", t0."employee_favourites_id" FROM "tag" t0 WHERE t0."employee_favourites_id" BETWEEN $1 AND $2 ORDER BY t0."employee_favourites_id", t0."employee_favourites_pos" NULLS FIRST, t0."id"
-- Department.employees of one
SELECT t0."entity", t0."id", t0."version", t0."active", t0."address_city", t0."address_street", t0."address_place_latitude", t0."address_place_longitude", t0."age", t0."badge", t0."boss_id", t0."boss_entity", t0."department_id", t0."folded", t0."friend_count", t0."hired", t0."likes", t0."name", t0."notes", t0."photo", t0."rating", t0."salary", t0."score", t0."shoes", t0."site", t0."steps", t0."workplace", t0."level", t0."department_id" FROM "employee" t0 WHERE t0."department_id" = $1
-- Department.employees of list
SELECT t0."entity", t0."id", t0."version", t0."active", t0."address_city", t0."address_street", t0."address_place_latitude", t0."address_place_longitude", t0."age", t0."badge", t0."boss_id", t0."boss_entity", t0."department_id", t0."folded", t0."friend_count", t0."hired", t0."likes", t0."name", t0."notes", t0."photo", t0."rating", t0."salary", t0."score", t0."shoes", t0."site", t0."steps", t0."workplace", t0."level", t0."department_id" FROM "employee" t0 WHERE t0."department_id" = ANY($1)
-- Department.employees of range
SELECT t0."entity", t0."id", t0."version", t0."active", t0."address_city", t0."address_street", t0."address_place_latitude", t0."address_place_longitude", t0."age", t0."badge", t0."boss_id", t0."boss_entity", t0."department_id", t0."folded", t0."friend_count", t0."hired", t0."likes", t0."name", t0."notes", t0."photo", t0."rating", t0."salary", t0."score", t0."shoes", t0."site", t0."steps", t0."workplace", t0."level", t0."department_id" FROM "employee" t0 WHERE t0."department_id" BETWEEN $1 AND $2
-- Tag.employees of one
SELECT t0."entity", t0."id", t0."version", t0."active", t0."address_city", t0."address_street", t0."address_place_latitude", t0."address_place_longitude", t0."age", t0."badge", t0."boss_id", t0."boss_entity", t0."department_id", t0."folded", t0."friend_count", t0."hired", t0."likes", t0."name", t0."notes", t0."photo", t0."rating", t0."salary", t0."score", t0."shoes", t0."site", t0."steps", t0."workplace", t0."level", j."tag_id" FROM "employee_tags" j JOIN "employee" t0 ON j."employee_id" = t0."id" WHERE j."tag_id" = $1
-- Tag.employees of list
SELECT t0."entity", t0."id", t0."version", t0."active", t0."address_city", t0."address_street", t0."address_place_latitude", t0."address_place_longitude", t0."age", t0."badge", t0."boss_id", t0."boss_entity", t0."department_id", t0."folded", t0."friend_count", t0."hired", t0."likes", t0."name", t0."notes", t0."photo", t0."rating", t0."salary", t0."score", t0."shoes", t0."site", t0."steps", t0."workplace", t0."level", j."tag_id" FROM "employee_tags" j JOIN "employee" t0 ON j."employee_id" = t0."id" WHERE j."tag_id" = ANY($1)
-- Tag.employees of range
SELECT t0."entity", t0."id", t0."version", t0."active", t0."address_city", t0."address_street", t0."address_place_latitude", t0."address_place_longitude", t0."age", t0."badge", t0."boss_id", t0."boss_entity", t0."department_id", t0."folded", t0."friend_count", t0."hired", t0."likes", t0."name", t0."notes", t0."photo", t0."rating", t0."salary", t0."score", t0."shoes", t0."site", t0."steps", t0."workplace", t0."level", j."tag_id" FROM "employee_tags" j JOIN "employee" t0 ON j."employee_id" = t0."id" WHERE j."tag_id" BETWEEN $1 AND $2
-- Task.owner of one
SELECT t0."entity", t0."id", t0."version", t0."active", t0."address_city", t0."address_street", t0."address_place_latitude", t0."address_place_longitude", t0."age", t0."badge", t0."boss_id", t0."boss_entity", t0."department_id", t0."folded", t0."friend_count", t0."hired", t0."likes", t0."name", t0."notes", t0."photo", t0."rating", t0."salary", t0."score", t0."shoes", t0."site", t0."steps", t0."workplace", t0."level", o."id" FROM "task" o JOIN "employee" t0 ON o."owner_id" = t0."id" WHERE o."id" = $1
-- Task.owner of list
SELECT t0."entity", t0."id", t0."version", t0."active", t0."address_city", t0."address_street", t0."address_place_latitude", t0."address_place_longitude", t0."age", t0."badge", t0."boss_id", t0."boss_entity", t0."department_id", t0."folded", t0."friend_count", t0."hired", t0."likes", t0."name", t0."notes", t0."photo", t0."rating", t0."salary", t0."score", t0."shoes", t0."site", t0."steps", t0."workplace", t0."level", o."id" FROM "task" o JOIN "employee" t0 ON o."owner_id" = t0."id" WHERE o."id" = ANY($1)
-- Task.owner of range
SELECT t0."entity", t0."id", t0."version", t0."active", t0."address_city", t0."address_street", t0."address_place_latitude", t0."address_place_longitude", t0."age", t0."badge", t0."boss_id", t0."boss_entity", t0."department_id", t0."folded", t0."friend_count", t0."hired", t0."likes", t0."name", t0."notes", t0."photo", t0."rating", t0."salary", t0."score", t0."shoes", t0."site", t0."steps", t0."workplace", t0."level", o."id" FROM "task" o JOIN "employee" t0 ON o."owner_id" = t0."id" WHERE o."id" BETWEEN $1 AND $2
-- Manager.tags of one
SELECT 0, t0."id", t0."version", t0."name", j."employee_id" FROM "employee_tags" j JOIN "tag" t0 ON j."tag_id" = t0."id" WHERE j."employee_id" = $1
-- Manager.tags of list
SELECT 0, t0."id", t0."version", t0."name", j."employee_id" FROM "employee_tags" j JOIN "tag" t0 ON j."tag_id" = t0."id" WHERE j."employee_id" = ANY($1)
-- Manager.tags of range
SELECT 0, t0."id", t0."version", t0."name", j."employee_id" FROM "employee_tags" j JOIN "tag" t0 ON j."tag_id" = t0."id" WHERE j."employee_id" BETWEEN $1 AND $2
