-- rows with limit, offset and keys left out
SELECT 0, t0."id", t0."version", t0."headcount", t0."name", t0."years" FROM "department" t0 WHERE t0."id" <> ALL($1) LIMIT $2 OFFSET $3
-- rows with subentities
SELECT t0."entity", t0."id", t0."version", t0."active", t0."address_city", t0."address_street", t0."address_place_latitude", t0."address_place_longitude", t0."age", t0."badge", t0."boss_id", t0."boss_entity", t0."department_id", t0."folded", t0."friend_count", t0."hired", t0."likes", t0."name", t0."notes", t0."photo", t0."rating", t0."salary", t0."score", t0."shoes", t0."site", t0."steps", t0."workplace", t0."level" FROM "employee" t0
-- rows with an offset
SELECT 0, t0."id", t0."version", t0."name" FROM "tag" t0 OFFSET $1
-- references with limit, offset and keys left out
SELECT 0, t0."id" FROM "department" t0 WHERE t0."id" <> ALL($1) LIMIT $2 OFFSET $3
-- references with subentities
SELECT t0."entity", t0."id" FROM "employee" t0
-- references with an offset
SELECT 0, t0."id" FROM "tag" t0 OFFSET $1
-- count with limit, offset and keys left out
SELECT COUNT(*) FROM (SELECT 1 FROM "department" t0 WHERE t0."id" <> ALL($1) LIMIT $2 OFFSET $3) AS counted
-- count with subentities
SELECT COUNT(*) FROM "employee" t0
-- count with an offset
SELECT COUNT(*) FROM (SELECT 1 FROM "tag" t0 OFFSET $1) AS counted
