-- insert Department
INSERT INTO "department" ("id", "version", "name") VALUES ($1, $2, $3)
-- update Department.name
UPDATE "department" SET "version" = "version" + 1, "name" = $1 WHERE "id" = $2 AND "version" = $3
-- update everything of Department
UPDATE "department" SET "version" = "version" + 1, "name" = $1 WHERE "id" = $2 AND "version" = $3
-- delete Department
DELETE FROM "department" WHERE "id" = $1
-- delete Department in a version
DELETE FROM "department" WHERE "id" = $1 AND "version" = $2
-- version of Department
SELECT "version" FROM "department" WHERE "id" = $1
-- clear Department.name
UPDATE "department" SET "name" = NULL WHERE "id" = $1 AND "version" = $2
-- owner of a unique name in Department
SELECT "id" FROM "department" WHERE "name" = $1 AND "id" <> $2
-- copy Department
COPY "department" ("id", "version", "name") FROM STDIN (FORMAT binary)
-- insert many of Department
INSERT INTO "department" ("id", "version", "name") SELECT * FROM unnest($1::int8[], $2::int4[], $3::text[])
-- update names of many of Department
UPDATE "department" t SET "version" = d.c2, "name" = d.c3 FROM unnest($1::int8[], $2::int4[], $3::text[]) AS d(c1, c2, c3) WHERE t."id" = d.c1 AND t."version" = d.c2 - 1
-- update names of many locked of Department
UPDATE "department" t SET "version" = d.c2, "name" = d.c3 FROM unnest($1::int8[], $2::int4[], $3::text[]) AS d(c1, c2, c3) WHERE t."id" = d.c1
-- update nothing but versions of many of Department
UPDATE "department" t SET "version" = d.c2 FROM unnest($1::int8[], $2::int4[]) AS d(c1, c2) WHERE t."id" = d.c1 AND t."version" = d.c2 - 1
-- update nothing but versions of many locked of Department
UPDATE "department" t SET "version" = d.c2 FROM unnest($1::int8[], $2::int4[]) AS d(c1, c2) WHERE t."id" = d.c1
-- insert Employee
INSERT INTO "employee" ("id", "entity", "version", "active", "address_city", "address_street", "address_place_latitude", "address_place_longitude", "age", "badge", "boss_id", "boss_entity", "department_id", "hired", "likes", "name", "notes", "photo", "rating", "salary", "score", "shoes", "site", "steps") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24)
-- update Employee.name
UPDATE "employee" SET "version" = "version" + 1, "name" = $1 WHERE "id" = $2 AND "version" = $3
-- update everything of Employee
UPDATE "employee" SET "version" = "version" + 1, "active" = $1, "address_city" = $2, "address_street" = $3, "address_place_latitude" = $4, "address_place_longitude" = $5, "age" = $6, "badge" = $7, "boss_id" = $8, "boss_entity" = $9, "department_id" = $10, "hired" = $11, "likes" = $12, "name" = $13, "notes" = $14, "photo" = $15, "rating" = $16, "salary" = $17, "score" = $18, "shoes" = $19, "site" = $20, "steps" = $21 WHERE "id" = $22 AND "version" = $23
-- delete Employee
DELETE FROM "employee" WHERE "id" = $1
-- delete Employee in a version
DELETE FROM "employee" WHERE "id" = $1 AND "version" = $2
-- version of Employee
SELECT "version" FROM "employee" WHERE "id" = $1
-- clear Employee.name
UPDATE "employee" SET "name" = NULL WHERE "id" = $1 AND "version" = $2
-- owner of a unique name in Employee
SELECT "id" FROM "employee" WHERE "name" = $1 AND "id" <> $2
-- copy Employee
COPY "employee" ("id", "entity", "version", "active", "address_city", "address_street", "address_place_latitude", "address_place_longitude", "age", "badge", "boss_id", "boss_entity", "department_id", "hired", "likes", "name", "notes", "photo", "rating", "salary", "score", "shoes", "site", "steps") FROM STDIN (FORMAT binary)
-- insert many of Employee
INSERT INTO "employee" ("id", "entity", "version", "active", "address_city", "address_street", "address_place_latitude", "address_place_longitude", "age", "badge", "boss_id", "boss_entity", "department_id", "hired", "likes", "name", "notes", "photo", "rating", "salary", "score", "shoes", "site", "steps") SELECT * FROM unnest($1::int8[], $2::int2[], $3::int4[], $4::boolean[], $5::text[], $6::text[], $7::float8[], $8::float8[], $9::int8[], $10::uuid[], $11::int8[], $12::int2[], $13::int8[], $14::timestamptz[], $15::bytea[], $16::text[], $17::bytea[], $18::bytea[], $19::float8[], $20::numeric[], $21::float4[], $22::int2[], $23::text[], $24::int4[])
-- update names of many of Employee
UPDATE "employee" t SET "version" = d.c2, "name" = d.c3 FROM unnest($1::int8[], $2::int4[], $3::text[]) AS d(c1, c2, c3) WHERE t."id" = d.c1 AND t."version" = d.c2 - 1
-- update names of many locked of Employee
UPDATE "employee" t SET "version" = d.c2, "name" = d.c3 FROM unnest($1::int8[], $2::int4[], $3::text[]) AS d(c1, c2, c3) WHERE t."id" = d.c1
-- update nothing but versions of many of Employee
UPDATE "employee" t SET "version" = d.c2 FROM unnest($1::int8[], $2::int4[]) AS d(c1, c2) WHERE t."id" = d.c1 AND t."version" = d.c2 - 1
-- update nothing but versions of many locked of Employee
UPDATE "employee" t SET "version" = d.c2 FROM unnest($1::int8[], $2::int4[]) AS d(c1, c2) WHERE t."id" = d.c1
-- insert Manager
INSERT INTO "employee" ("id", "entity", "version", "active", "address_city", "address_street", "address_place_latitude", "address_place_longitude", "age", "badge", "boss_id", "boss_entity", "department_id", "hired", "level", "likes", "name", "notes", "photo", "rating", "salary", "score", "shoes", "site", "steps") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25)
-- update Manager.name
UPDATE "employee" SET "version" = "version" + 1, "name" = $1 WHERE "id" = $2 AND "version" = $3
-- update everything of Manager
UPDATE "employee" SET "version" = "version" + 1, "active" = $1, "address_city" = $2, "address_street" = $3, "address_place_latitude" = $4, "address_place_longitude" = $5, "age" = $6, "badge" = $7, "boss_id" = $8, "boss_entity" = $9, "department_id" = $10, "hired" = $11, "level" = $12, "likes" = $13, "name" = $14, "notes" = $15, "photo" = $16, "rating" = $17, "salary" = $18, "score" = $19, "shoes" = $20, "site" = $21, "steps" = $22 WHERE "id" = $23 AND "version" = $24
-- delete Manager
DELETE FROM "employee" WHERE "id" = $1
-- delete Manager in a version
DELETE FROM "employee" WHERE "id" = $1 AND "version" = $2
-- version of Manager
SELECT "version" FROM "employee" WHERE "id" = $1
-- clear Manager.name
UPDATE "employee" SET "name" = NULL WHERE "id" = $1 AND "version" = $2
-- owner of a unique name in Manager
SELECT "id" FROM "employee" WHERE "name" = $1 AND "id" <> $2
-- copy Manager
COPY "employee" ("id", "entity", "version", "active", "address_city", "address_street", "address_place_latitude", "address_place_longitude", "age", "badge", "boss_id", "boss_entity", "department_id", "hired", "level", "likes", "name", "notes", "photo", "rating", "salary", "score", "shoes", "site", "steps") FROM STDIN (FORMAT binary)
-- insert many of Manager
INSERT INTO "employee" ("id", "entity", "version", "active", "address_city", "address_street", "address_place_latitude", "address_place_longitude", "age", "badge", "boss_id", "boss_entity", "department_id", "hired", "level", "likes", "name", "notes", "photo", "rating", "salary", "score", "shoes", "site", "steps") SELECT * FROM unnest($1::int8[], $2::int2[], $3::int4[], $4::boolean[], $5::text[], $6::text[], $7::float8[], $8::float8[], $9::int8[], $10::uuid[], $11::int8[], $12::int2[], $13::int8[], $14::timestamptz[], $15::int2[], $16::bytea[], $17::text[], $18::bytea[], $19::bytea[], $20::float8[], $21::numeric[], $22::float4[], $23::int2[], $24::text[], $25::int4[])
-- update names of many of Manager
UPDATE "employee" t SET "version" = d.c2, "name" = d.c3 FROM unnest($1::int8[], $2::int4[], $3::text[]) AS d(c1, c2, c3) WHERE t."id" = d.c1 AND t."version" = d.c2 - 1
-- update names of many locked of Manager
UPDATE "employee" t SET "version" = d.c2, "name" = d.c3 FROM unnest($1::int8[], $2::int4[], $3::text[]) AS d(c1, c2, c3) WHERE t."id" = d.c1
-- update nothing but versions of many of Manager
UPDATE "employee" t SET "version" = d.c2 FROM unnest($1::int8[], $2::int4[]) AS d(c1, c2) WHERE t."id" = d.c1 AND t."version" = d.c2 - 1
-- update nothing but versions of many locked of Manager
UPDATE "employee" t SET "version" = d.c2 FROM unnest($1::int8[], $2::int4[]) AS d(c1, c2) WHERE t."id" = d.c1
-- insert Tag
INSERT INTO "tag" ("id", "version", "name") VALUES ($1, $2, $3)
-- update Tag.name
UPDATE "tag" SET "version" = "version" + 1, "name" = $1 WHERE "id" = $2 AND "version" = $3
-- update everything of Tag
UPDATE "tag" SET "version" = "version" + 1, "name" = $1 WHERE "id" = $2 AND "version" = $3
-- delete Tag
DELETE FROM "tag" WHERE "id" = $1
-- delete Tag in a version
DELETE FROM "tag" WHERE "id" = $1 AND "version" = $2
-- version of Tag
SELECT "version" FROM "tag" WHERE "id" = $1
-- clear Tag.name
UPDATE "tag" SET "name" = NULL WHERE "id" = $1 AND "version" = $2
-- owner of a unique name in Tag
SELECT "id" FROM "tag" WHERE "name" = $1 AND "id" <> $2
-- copy Tag
COPY "tag" ("id", "version", "name") FROM STDIN (FORMAT binary)
-- insert many of Tag
INSERT INTO "tag" ("id", "version", "name") SELECT * FROM unnest($1::int8[], $2::int4[], $3::text[])
-- update names of many of Tag
UPDATE "tag" t SET "version" = d.c2, "name" = d.c3 FROM unnest($1::int8[], $2::int4[], $3::text[]) AS d(c1, c2, c3) WHERE t."id" = d.c1 AND t."version" = d.c2 - 1
-- update names of many locked of Tag
UPDATE "tag" t SET "version" = d.c2, "name" = d.c3 FROM unnest($1::int8[], $2::int4[], $3::text[]) AS d(c1, c2, c3) WHERE t."id" = d.c1
-- update nothing but versions of many of Tag
UPDATE "tag" t SET "version" = d.c2 FROM unnest($1::int8[], $2::int4[]) AS d(c1, c2) WHERE t."id" = d.c1 AND t."version" = d.c2 - 1
-- update nothing but versions of many locked of Tag
UPDATE "tag" t SET "version" = d.c2 FROM unnest($1::int8[], $2::int4[]) AS d(c1, c2) WHERE t."id" = d.c1
-- insert Task
INSERT INTO "task" ("id", "version", "name", "owner_id", "owner_entity") VALUES ($1, $2, $3, $4, $5)
-- update Task.name
UPDATE "task" SET "version" = "version" + 1, "name" = $1 WHERE "id" = $2 AND "version" = $3
-- update everything of Task
UPDATE "task" SET "version" = "version" + 1, "name" = $1, "owner_id" = $2, "owner_entity" = $3, "owner_pos" = NULL WHERE "id" = $4 AND "version" = $5
-- delete Task
DELETE FROM "task" WHERE "id" = $1
-- delete Task in a version
DELETE FROM "task" WHERE "id" = $1 AND "version" = $2
-- version of Task
SELECT "version" FROM "task" WHERE "id" = $1
-- clear Task.name
UPDATE "task" SET "name" = NULL WHERE "id" = $1 AND "version" = $2
-- owner of a unique name in Task
SELECT "id" FROM "task" WHERE "name" = $1 AND "id" <> $2
-- copy Task
COPY "task" ("id", "version", "name", "owner_id", "owner_entity") FROM STDIN (FORMAT binary)
-- insert many of Task
INSERT INTO "task" ("id", "version", "name", "owner_id", "owner_entity") SELECT * FROM unnest($1::int8[], $2::int4[], $3::text[], $4::int8[], $5::int2[])
-- update names of many of Task
UPDATE "task" t SET "version" = d.c2, "name" = d.c3 FROM unnest($1::int8[], $2::int4[], $3::text[]) AS d(c1, c2, c3) WHERE t."id" = d.c1 AND t."version" = d.c2 - 1
-- update names of many locked of Task
UPDATE "task" t SET "version" = d.c2, "name" = d.c3 FROM unnest($1::int8[], $2::int4[], $3::text[]) AS d(c1, c2, c3) WHERE t."id" = d.c1
-- update nothing but versions of many of Task
UPDATE "task" t SET "version" = d.c2 FROM unnest($1::int8[], $2::int4[]) AS d(c1, c2) WHERE t."id" = d.c1 AND t."version" = d.c2 - 1
-- update nothing but versions of many locked of Task
UPDATE "task" t SET "version" = d.c2 FROM unnest($1::int8[], $2::int4[]) AS d(c1, c2) WHERE t."id" = d.c1
-- insert Project
INSERT INTO "project" ("id", "version", "name") VALUES ($1, $2, $3)
-- update Project.name
UPDATE "project" SET "version" = "version" + 1, "name" = $1 WHERE "id" = $2 AND "version" = $3
-- update everything of Project
UPDATE "project" SET "version" = "version" + 1, "name" = $1 WHERE "id" = $2 AND "version" = $3
-- delete Project
DELETE FROM "project" WHERE "id" = $1
-- delete Project in a version
DELETE FROM "project" WHERE "id" = $1 AND "version" = $2
-- version of Project
SELECT "version" FROM "project" WHERE "id" = $1
-- clear Project.name
UPDATE "project" SET "name" = NULL WHERE "id" = $1 AND "version" = $2
-- owner of a unique name in Project
SELECT "id" FROM "project" WHERE "name" = $1 AND "id" <> $2
-- copy Project
COPY "project" ("id", "version", "name") FROM STDIN (FORMAT binary)
-- insert many of Project
INSERT INTO "project" ("id", "version", "name") SELECT * FROM unnest($1::int8[], $2::int4[], $3::text[])
-- update names of many of Project
UPDATE "project" t SET "version" = d.c2, "name" = d.c3 FROM unnest($1::int8[], $2::int4[], $3::text[]) AS d(c1, c2, c3) WHERE t."id" = d.c1 AND t."version" = d.c2 - 1
-- update names of many locked of Project
UPDATE "project" t SET "version" = d.c2, "name" = d.c3 FROM unnest($1::int8[], $2::int4[], $3::text[]) AS d(c1, c2, c3) WHERE t."id" = d.c1
-- update nothing but versions of many of Project
UPDATE "project" t SET "version" = d.c2 FROM unnest($1::int8[], $2::int4[]) AS d(c1, c2) WHERE t."id" = d.c1 AND t."version" = d.c2 - 1
-- update nothing but versions of many locked of Project
UPDATE "project" t SET "version" = d.c2 FROM unnest($1::int8[], $2::int4[]) AS d(c1, c2) WHERE t."id" = d.c1
-- last position of Employee.tasks
SELECT "owner_id", MAX("owner_pos"), MAX("owner_pos") > 4611686018427387904 FROM "task" WHERE "owner_id" = ANY($1) GROUP BY "owner_id"
-- members of Employee.tasks
SELECT "owner_id", "id", "owner_pos" FROM "task" WHERE "owner_id" = ANY($1)
-- members of Employee.tasks in order
SELECT "id" FROM "task" WHERE "owner_id" = $1 AND "owner_pos" IS NOT NULL ORDER BY "owner_pos", "id"
-- position of a member of Employee.tasks
UPDATE "task" SET "owner_pos" = $1 WHERE "owner_id" = $2 AND "id" = $3
-- position of a row of Employee.tasks
UPDATE "task" SET "owner_pos" = $1 WHERE "id" = $2
-- position of a new row of Employee.tasks
UPDATE "task" SET "owner_pos" = $1 WHERE "id" = $2
-- insert a pair of Employee.tags
INSERT INTO "employee_tags" ("employee_id", "tag_id") VALUES ($1, $2) ON CONFLICT DO NOTHING
-- delete a pair of Employee.tags
DELETE FROM "employee_tags" WHERE "employee_id" = $1 AND "tag_id" = $2
-- delete the pairs of Employee.tags
DELETE FROM "employee_tags" WHERE "employee_id" = $1
-- insert a pair of Employee.projects
INSERT INTO "employee_projects" ("employee_id", "project_id", "project_pos", "employee_pos") VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING
-- delete a pair of Employee.projects
DELETE FROM "employee_projects" WHERE "employee_id" = $1 AND "project_id" = $2
-- delete the pairs of Employee.projects
DELETE FROM "employee_projects" WHERE "employee_id" = $1
-- last position of Employee.projects
SELECT "employee_id", MAX("project_pos"), MAX("project_pos") > 4611686018427387904 FROM "employee_projects" WHERE "employee_id" = ANY($1) GROUP BY "employee_id"
-- members of Employee.projects
SELECT "employee_id", "project_id", "project_pos" FROM "employee_projects" WHERE "employee_id" = ANY($1)
-- members of Employee.projects in order
SELECT "project_id" FROM "employee_projects" WHERE "employee_id" = $1 AND "project_pos" IS NOT NULL ORDER BY "project_pos", "project_id"
-- position of a member of Employee.projects
UPDATE "employee_projects" SET "project_pos" = $1 WHERE "employee_id" = $2 AND "project_id" = $3
-- position of a row of Employee.projects
UPDATE "employee_projects" SET "project_pos" = $1 WHERE "project_id" = $2 AND "employee_id" = 7
-- position of a new row of Employee.projects
UPDATE "employee_projects" SET "project_pos" = $1 WHERE "project_id" = $2 AND "employee_id" = 7 AND "project_pos" IS NULL
-- insert a pair of Project.members
INSERT INTO "employee_projects" ("employee_id", "project_id", "project_pos", "employee_pos") VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING
-- delete a pair of Project.members
DELETE FROM "employee_projects" WHERE "employee_id" = $1 AND "project_id" = $2
-- delete the pairs of Project.members
DELETE FROM "employee_projects" WHERE "project_id" = $1
-- last position of Project.members
SELECT "project_id", MAX("employee_pos"), MAX("employee_pos") > 4611686018427387904 FROM "employee_projects" WHERE "project_id" = ANY($1) GROUP BY "project_id"
-- members of Project.members
SELECT "project_id", "employee_id", "employee_pos" FROM "employee_projects" WHERE "project_id" = ANY($1)
-- members of Project.members in order
SELECT "employee_id" FROM "employee_projects" WHERE "project_id" = $1 AND "employee_pos" IS NOT NULL ORDER BY "employee_pos", "employee_id"
-- position of a member of Project.members
UPDATE "employee_projects" SET "employee_pos" = $1 WHERE "project_id" = $2 AND "employee_id" = $3
-- position of a row of Project.members
UPDATE "employee_projects" SET "employee_pos" = $1 WHERE "employee_id" = $2 AND "project_id" = 7
-- position of a new row of Project.members
UPDATE "employee_projects" SET "employee_pos" = $1 WHERE "employee_id" = $2 AND "project_id" = 7 AND "employee_pos" IS NULL
-- insert a pair of Employee.friends
INSERT INTO "employee_friends" ("owner_id", "friends_id") VALUES ($1, $2) ON CONFLICT DO NOTHING
-- delete a pair of Employee.friends
DELETE FROM "employee_friends" WHERE "owner_id" = $1 AND "friends_id" = $2
-- delete the pairs of Employee.friends
DELETE FROM "employee_friends" WHERE "owner_id" = $1
-- take a member of Employee.favourites away
UPDATE "tag" SET "employee_favourites_id" = NULL, "employee_favourites_pos" = NULL WHERE "id" = $1 AND "employee_favourites_id" = $2
-- take all members of Employee.favourites away
UPDATE "tag" SET "employee_favourites_id" = NULL, "employee_favourites_pos" = NULL WHERE "employee_favourites_id" = $1
-- give a member to Employee.favourites
UPDATE "tag" SET "employee_favourites_id" = $1, "employee_favourites_pos" = NULL WHERE "id" = $2 AND "employee_favourites_id" IS DISTINCT FROM $1
-- last position of Employee.favourites
SELECT "employee_favourites_id", MAX("employee_favourites_pos"), MAX("employee_favourites_pos") > 4611686018427387904 FROM "tag" WHERE "employee_favourites_id" = ANY($1) GROUP BY "employee_favourites_id"
-- members of Employee.favourites
SELECT "employee_favourites_id", "id", "employee_favourites_pos" FROM "tag" WHERE "employee_favourites_id" = ANY($1)
-- members of Employee.favourites in order
SELECT "id" FROM "tag" WHERE "employee_favourites_id" = $1 AND "employee_favourites_pos" IS NOT NULL ORDER BY "employee_favourites_pos", "id"
-- position of a member of Employee.favourites
UPDATE "tag" SET "employee_favourites_pos" = $1 WHERE "employee_favourites_id" = $2 AND "id" = $3
-- position of a row of Employee.favourites
UPDATE "tag" SET "employee_favourites_pos" = $1 WHERE "id" = $2 AND "employee_favourites_id" = 7
-- position of a new row of Employee.favourites
UPDATE "tag" SET "employee_favourites_pos" = $1 WHERE "id" = $2 AND "employee_favourites_id" = 7 AND "employee_favourites_pos" IS NULL
-- insert a pair of Tag.employees
INSERT INTO "employee_tags" ("employee_id", "tag_id") VALUES ($1, $2) ON CONFLICT DO NOTHING
-- delete a pair of Tag.employees
DELETE FROM "employee_tags" WHERE "employee_id" = $1 AND "tag_id" = $2
-- delete the pairs of Tag.employees
DELETE FROM "employee_tags" WHERE "tag_id" = $1
-- insert a pair of Manager.tags
INSERT INTO "employee_tags" ("employee_id", "tag_id") VALUES ($1, $2) ON CONFLICT DO NOTHING
-- delete a pair of Manager.tags
DELETE FROM "employee_tags" WHERE "employee_id" = $1 AND "tag_id" = $2
-- delete the pairs of Manager.tags
DELETE FROM "employee_tags" WHERE "employee_id" = $1
