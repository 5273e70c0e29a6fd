CREATE TABLE "department" ("id" int8 PRIMARY KEY, "version" int4 NOT NULL, "headcount" int8, "years" int8, "name" text COLLATE "C")
CREATE TABLE "employee" ("id" int8 PRIMARY KEY, "entity" int2 NOT NULL, "version" int4 NOT NULL, "active" boolean, "age" int8, "friend_count" int8, "shoes" int2, "steps" int4, "boss_id" int8, "boss_entity" int2, "department_id" int8, "level" int2, "address_place_latitude" float8, "address_place_longitude" float8, "hired" timestamptz, "rating" float8, "score" float4, "salary" numeric, "address_city" text COLLATE "C", "address_street" text COLLATE "C", "folded" text COLLATE "C", "name" text COLLATE "C", "workplace" text COLLATE "C", "site" text COLLATE "C", "badge" uuid, "likes" bytea, "notes" bytea, "photo" bytea)
ALTER TABLE "employee" ALTER COLUMN "photo" SET STORAGE EXTERNAL
CREATE TABLE "employee_friends" ("owner_id" int8, "employee_friends_id" int8, PRIMARY KEY ("owner_id", "employee_friends_id"))
CREATE TABLE "employee_projects" ("employee_projects_id" int8, "project_members_id" int8, "employee_projects_pos" int8, "project_members_pos" int8, PRIMARY KEY ("employee_projects_id", "project_members_id"))
CREATE TABLE "employee_tags" ("employee_tags_id" int8, "tag_employees_id" int8, PRIMARY KEY ("employee_tags_id", "tag_employees_id"))
CREATE TABLE "project" ("id" int8 PRIMARY KEY, "version" int4 NOT NULL, "name" text COLLATE "C")
CREATE TABLE "tag" ("id" int8 PRIMARY KEY, "version" int4 NOT NULL, "employee_favourites_id" int8, "employee_favourites_pos" int8, "name" text COLLATE "C")
CREATE TABLE "task" ("id" int8 PRIMARY KEY, "version" int4 NOT NULL, "owner_id" int8, "owner_entity" int2, "owner_pos" int8, "changed" timestamptz, "name" text COLLATE "C")
CREATE INDEX "employee_boss_id" ON "employee" ("boss_id")
CREATE INDEX "employee_department_id" ON "employee" ("department_id")
CREATE INDEX "employee_entity" ON "employee" ("entity")
CREATE INDEX "employee_friends_employee_friends_id" ON "employee_friends" ("employee_friends_id", "owner_id")
CREATE INDEX "employee_projects_project_members_id" ON "employee_projects" ("project_members_id", "employee_projects_id")
CREATE INDEX "employee_tags_tag_employees_id" ON "employee_tags" ("tag_employees_id", "employee_tags_id")
CREATE INDEX "employee_by_name" ON "employee" ("name" NULLS FIRST)
CREATE INDEX "employee_by_age" ON "employee" ("age" DESC NULLS LAST, "name" DESC NULLS LAST)
CREATE INDEX "employee_by_city" ON "employee" ("address_city" NULLS FIRST)
CREATE INDEX "employee_adults" ON "employee" ("hired" NULLS FIRST) WHERE (("age" >= 18 AND "name" IS DISTINCT FROM 'x''y') OR "salary" IS NULL)
ALTER TABLE "employee" ADD CONSTRAINT "employee_unique_badge" UNIQUE ("badge") DEFERRABLE INITIALLY IMMEDIATE
ALTER TABLE "employee" ADD CONSTRAINT "employee_unique_name_address_city" UNIQUE ("name", "address_city") DEFERRABLE INITIALLY IMMEDIATE
CREATE INDEX "tag_employee_favourites_id" ON "tag" ("employee_favourites_id")
CREATE INDEX "task_owner_id" ON "task" ("owner_id")
CREATE FUNCTION "department_headcount_own"() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW."headcount" := (SELECT COALESCE(COUNT("department_id"), 0) FROM "employee" WHERE "department_id" = NEW."id"); RETURN NEW; END $$
CREATE TRIGGER "department_headcount_own" BEFORE INSERT OR UPDATE ON "department" FOR EACH ROW EXECUTE FUNCTION "department_headcount_own"()
CREATE FUNCTION "department_headcount_insert"() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE "department" SET "headcount" = "headcount" WHERE "id" IN (SELECT "department_id" FROM now); RETURN NULL; END $$
CREATE TRIGGER "department_headcount_insert" AFTER INSERT ON "employee" REFERENCING NEW TABLE AS now FOR EACH STATEMENT EXECUTE FUNCTION "department_headcount_insert"()
CREATE FUNCTION "department_headcount_update"() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE "department" SET "headcount" = "headcount" WHERE "id" IN (SELECT "department_id" FROM now UNION SELECT "department_id" FROM former); RETURN NULL; END $$
CREATE TRIGGER "department_headcount_update" AFTER UPDATE ON "employee" REFERENCING OLD TABLE AS former NEW TABLE AS now FOR EACH STATEMENT EXECUTE FUNCTION "department_headcount_update"()
CREATE FUNCTION "department_headcount_delete"() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE "department" SET "headcount" = "headcount" WHERE "id" IN (SELECT "department_id" FROM former); RETURN NULL; END $$
CREATE TRIGGER "department_headcount_delete" AFTER DELETE ON "employee" REFERENCING OLD TABLE AS former FOR EACH STATEMENT EXECUTE FUNCTION "department_headcount_delete"()
CREATE FUNCTION "department_years_own"() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW."years" := (SELECT COALESCE(CAST(SUM("age") AS bigint), 0) FROM "employee" WHERE "department_id" = NEW."id"); RETURN NEW; END $$
CREATE TRIGGER "department_years_own" BEFORE INSERT OR UPDATE ON "department" FOR EACH ROW EXECUTE FUNCTION "department_years_own"()
CREATE FUNCTION "department_years_insert"() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE "department" SET "years" = "years" WHERE "id" IN (SELECT "department_id" FROM now); RETURN NULL; END $$
CREATE TRIGGER "department_years_insert" AFTER INSERT ON "employee" REFERENCING NEW TABLE AS now FOR EACH STATEMENT EXECUTE FUNCTION "department_years_insert"()
CREATE FUNCTION "department_years_update"() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE "department" SET "years" = "years" WHERE "id" IN (SELECT "department_id" FROM now UNION SELECT "department_id" FROM former); RETURN NULL; END $$
CREATE TRIGGER "department_years_update" AFTER UPDATE ON "employee" REFERENCING OLD TABLE AS former NEW TABLE AS now FOR EACH STATEMENT EXECUTE FUNCTION "department_years_update"()
CREATE FUNCTION "department_years_delete"() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE "department" SET "years" = "years" WHERE "id" IN (SELECT "department_id" FROM former); RETURN NULL; END $$
CREATE TRIGGER "department_years_delete" AFTER DELETE ON "employee" REFERENCING OLD TABLE AS former FOR EACH STATEMENT EXECUTE FUNCTION "department_years_delete"()
CREATE FUNCTION "employee_folded_own"() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW."folded" := ocd_fold(NEW."name", 3); RETURN NEW; END $$
CREATE TRIGGER "employee_folded_own" BEFORE INSERT OR UPDATE ON "employee" FOR EACH ROW EXECUTE FUNCTION "employee_folded_own"()
CREATE FUNCTION "employee_friend_count_own"() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW."friend_count" := (SELECT COUNT(*) FROM "employee_friends" WHERE "owner_id" = NEW."id"); RETURN NEW; END $$
CREATE TRIGGER "employee_friend_count_own" BEFORE INSERT OR UPDATE ON "employee" FOR EACH ROW EXECUTE FUNCTION "employee_friend_count_own"()
CREATE FUNCTION "employee_friend_count_insert"() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE "employee" SET "friend_count" = "friend_count" WHERE "id" IN (SELECT "owner_id" FROM now); RETURN NULL; END $$
CREATE TRIGGER "employee_friend_count_insert" AFTER INSERT ON "employee_friends" REFERENCING NEW TABLE AS now FOR EACH STATEMENT EXECUTE FUNCTION "employee_friend_count_insert"()
CREATE FUNCTION "employee_friend_count_update"() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE "employee" SET "friend_count" = "friend_count" WHERE "id" IN (SELECT "owner_id" FROM now UNION SELECT "owner_id" FROM former); RETURN NULL; END $$
CREATE TRIGGER "employee_friend_count_update" AFTER UPDATE ON "employee_friends" REFERENCING OLD TABLE AS former NEW TABLE AS now FOR EACH STATEMENT EXECUTE FUNCTION "employee_friend_count_update"()
CREATE FUNCTION "employee_friend_count_delete"() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE "employee" SET "friend_count" = "friend_count" WHERE "id" IN (SELECT "owner_id" FROM former); RETURN NULL; END $$
CREATE TRIGGER "employee_friend_count_delete" AFTER DELETE ON "employee_friends" REFERENCING OLD TABLE AS former FOR EACH STATEMENT EXECUTE FUNCTION "employee_friend_count_delete"()
CREATE FUNCTION "employee_workplace_own"() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW."workplace" := (SELECT "name" FROM "department" WHERE "id" = NEW."department_id"); RETURN NEW; END $$
CREATE TRIGGER "employee_workplace_own" BEFORE INSERT OR UPDATE ON "employee" FOR EACH ROW EXECUTE FUNCTION "employee_workplace_own"()
CREATE FUNCTION "employee_workplace_insert"() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE "employee" SET "workplace" = "workplace" WHERE "department_id" IN (SELECT "id" FROM now); RETURN NULL; END $$
CREATE TRIGGER "employee_workplace_insert" AFTER INSERT ON "department" REFERENCING NEW TABLE AS now FOR EACH STATEMENT EXECUTE FUNCTION "employee_workplace_insert"()
CREATE FUNCTION "employee_workplace_update"() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE "employee" SET "workplace" = "workplace" WHERE "department_id" IN (SELECT "id" FROM now UNION SELECT "id" FROM former); RETURN NULL; END $$
CREATE TRIGGER "employee_workplace_update" AFTER UPDATE ON "department" REFERENCING OLD TABLE AS former NEW TABLE AS now FOR EACH STATEMENT EXECUTE FUNCTION "employee_workplace_update"()
CREATE FUNCTION "employee_workplace_delete"() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE "employee" SET "workplace" = "workplace" WHERE "department_id" IN (SELECT "id" FROM former); RETURN NULL; END $$
CREATE TRIGGER "employee_workplace_delete" AFTER DELETE ON "department" REFERENCING OLD TABLE AS former FOR EACH STATEMENT EXECUTE FUNCTION "employee_workplace_delete"()
CREATE FUNCTION "task_changed_own"() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW."changed" := now(); RETURN NEW; END $$
CREATE TRIGGER "task_changed_own" BEFORE INSERT OR UPDATE ON "task" FOR EACH ROW EXECUTE FUNCTION "task_changed_own"()
CREATE TABLE "keys" ("entity" int2 PRIMARY KEY, "name" text, "parent" int2, "last" int8)
