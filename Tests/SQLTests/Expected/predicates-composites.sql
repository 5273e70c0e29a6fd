-- Employee: address == nil
NULLIF(num_nonnulls(t0."address_city", t0."address_street", t0."address_place_latitude", t0."address_place_longitude"), 0) IS NULL
-- Employee: address != nil
NULLIF(num_nonnulls(t0."address_city", t0."address_street", t0."address_place_latitude", t0."address_place_longitude"), 0) IS NOT NULL
-- Employee: address.city == 'Bern'
t0."address_city" = $1
-- Employee: address.place.latitude > 3
t0."address_place_latitude" > $1
-- Employee: address.place == nil
NULLIF(num_nonnulls(t0."address_place_latitude", t0."address_place_longitude"), 0) IS NULL
-- Employee: address == %@
(t0."address_city" = $1 AND t0."address_street" = $2 AND t0."address_place_latitude" = $3 AND t0."address_place_longitude" = $4)
-- Employee: address != %@
((t0."address_city" = $1 AND t0."address_street" IS NULL AND t0."address_place_latitude" IS NULL AND t0."address_place_longitude" IS NULL) IS NOT TRUE)
-- Employee: address == boss.address
SELECT COUNT(*) FROM "employee" t0 LEFT OUTER JOIN "employee" t1 ON t0."boss_id" = t1."id" WHERE (t0."address_city" IS NOT DISTINCT FROM t1."address_city" AND t0."address_street" IS NOT DISTINCT FROM t1."address_street" AND t0."address_place_latitude" IS NOT DISTINCT FROM t1."address_place_latitude" AND t0."address_place_longitude" IS NOT DISTINCT FROM t1."address_place_longitude")
