
-- Employee: name BEGINSWITH 'An'
SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE (t0.ZNAME >= ? AND t0.ZNAME < ?)
    SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE (t0.ZNAME >= 'An' AND t0.ZNAME < 'Ao')

-- Employee: name BEGINSWITH ''
SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE NSCoreDataStringSearch(8, 0, t0.ZNAME, ?)
    SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE NSCoreDataStringSearch(8, 0, t0.ZNAME, '')

-- Employee: name BEGINSWITH 'a􏿿'
SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE (t0.ZNAME >= ? AND t0.ZNAME < ?)
    SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE (t0.ZNAME >= 'a􏿿' AND t0.ZNAME < 'b')

-- Employee: name BEGINSWITH[cd] 'an'
SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE NSCoreDataStringSearch(8, 3, t0.ZNAME, ?)
    SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE NSCoreDataStringSearch(8, 3, t0.ZNAME, 'an')

-- Employee: name ENDSWITH 'a'
SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE substr(CAST(t0.ZNAME AS BLOB), ?) = CAST(? AS BLOB)
    SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE substr(CAST(t0.ZNAME AS BLOB), -1) = CAST('a' AS BLOB)

-- Employee: name ENDSWITH ''
SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE t0.ZNAME IS NOT NULL

-- Employee: name ENDSWITH[c] 'A'
SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE NSCoreDataStringSearch(9, 1, t0.ZNAME, ?)
    SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE NSCoreDataStringSearch(9, 1, t0.ZNAME, 'A')

-- Employee: name CONTAINS 'nn'
SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE instr(t0.ZNAME, ?) > 0
    SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE instr(t0.ZNAME, 'nn') > 0

-- Employee: name CONTAINS ''
SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE NSCoreDataStringSearch(99, 0, t0.ZNAME, ?)
    SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE NSCoreDataStringSearch(99, 0, t0.ZNAME, '')

-- Employee: name CONTAINS[cd] 'DRE'
SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE NSCoreDataStringSearch(99, 3, t0.ZNAME, ?)
    SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE NSCoreDataStringSearch(99, 3, t0.ZNAME, 'DRE')

-- Employee: name LIKE 'A*'
SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE NSCoreDataStringSearch(7, 0, t0.ZNAME, ?)
    SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE NSCoreDataStringSearch(7, 0, t0.ZNAME, 'A*')

-- Employee: name LIKE[c] '?OB'
SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE NSCoreDataStringSearch(7, 1, t0.ZNAME, ?)
    SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE NSCoreDataStringSearch(7, 1, t0.ZNAME, '?OB')

-- Employee: name MATCHES '[A-C].*a'
SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE NSCoreDataStringSearch(6, 0, t0.ZNAME, ?)
    SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE NSCoreDataStringSearch(6, 0, t0.ZNAME, '[A-C].*a')

-- Employee: name MATCHES[c] 'a.*'
SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE NSCoreDataStringSearch(6, 1, t0.ZNAME, ?)
    SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE NSCoreDataStringSearch(6, 1, t0.ZNAME, 'a.*')

-- Employee: name BEGINSWITH site
SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE NSCoreDataStringSearch(8, 0, t0.ZNAME, t0.ZSITE)

-- Employee: age BEGINSWITH '3'
SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE NSCoreDataStringSearch(8, 0, NSCoreDataText(2, t0.ZAGE), NSCoreDataText(2, ?))
    SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE NSCoreDataStringSearch(8, 0, NSCoreDataText(2, t0.ZAGE), NSCoreDataText(2, 3))

-- Employee: badge CONTAINS 'A'
SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE instr(NSCoreDataText(10, t0.ZBADGE), ?) > 0
    SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE instr(NSCoreDataText(10, t0.ZBADGE), 'A') > 0

-- Employee: name IN 'Anna and others'
SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE NSCoreDataStringSearch(99, 0, ?, t0.ZNAME)
    SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE NSCoreDataStringSearch(99, 0, 'Anna and others', t0.ZNAME)

-- Employee: site.length > 3

-- refused: The SQLite store cannot evaluate 'site.length > 3': 'site' of entity 'Employee' is an attribute and has no properties. Change the request, or filter and sort in memory.

-- Employee: name.length == 4
SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE NSCoreDataCalculate('length:', 'I', t0.ZNAME) = ?
    SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE NSCoreDataCalculate('length:', 'I', t0.ZNAME) = 4

-- Employee: address.city.length == 4
SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE NSCoreDataCalculate('length:', 'I', t0.ZCITY) = ?
    SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE NSCoreDataCalculate('length:', 'I', t0.ZCITY) = 4

-- Employee: address.city BEGINSWITH 'B'
SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE (t0.ZCITY >= ? AND t0.ZCITY < ?)
    SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE (t0.ZCITY >= 'B' AND t0.ZCITY < 'C')

-- Employee: department.name BEGINSWITH 'L'
SELECT COUNT(*) FROM ZEMPLOYEE t0 LEFT OUTER JOIN ZDEPARTMENT t1 ON t0.ZDEPARTMENT = t1.Z_PK WHERE (t1.ZNAME >= ? AND t1.ZNAME < ?)
    SELECT COUNT(*) FROM ZEMPLOYEE t0 LEFT OUTER JOIN ZDEPARTMENT t1 ON t0.ZDEPARTMENT = t1.Z_PK WHERE (t1.ZNAME >= 'L' AND t1.ZNAME < 'M')

-- Employee: name LIKE nil
SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE 0
