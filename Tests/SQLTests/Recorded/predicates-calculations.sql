
-- Employee: age + 10 == 40
SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE (t0.ZAGE + ?) = ?
    SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE (t0.ZAGE + 10) = 40

-- Employee: age - shoes * 2 > steps / 3
SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE (t0.ZAGE - (t0.ZSHOES * ?)) > (t0.ZSTEPS / ?)
    SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE (t0.ZAGE - (t0.ZSHOES * 2)) > (t0.ZSTEPS / 3)

-- Employee: rating / 2 > 1
SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE (t0.ZRATING / ?) > ?
    SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE (t0.ZRATING / 2) > 1

-- Employee: modulus:by:(age, 3) == 1
SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE (t0.ZAGE % ?) = ?
    SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE (t0.ZAGE % 3) = 1

-- Employee: bitwiseAnd:with:(age, 3) == 1
SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE (t0.ZAGE & ?) = ?
    SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE (t0.ZAGE & 3) = 1

-- Employee: bitwiseOr:with:(age, 3) == 1
SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE (t0.ZAGE | ?) = ?
    SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE (t0.ZAGE | 3) = 1

-- Employee: leftshift:by:(age, 3) == 1
SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE (t0.ZAGE << ?) = ?
    SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE (t0.ZAGE << 3) = 1

-- Employee: rightshift:by:(age, 3) == 1
SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE (t0.ZAGE >> ?) = ?
    SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE (t0.ZAGE >> 3) = 1

-- Employee: bitwiseXor:with:(age, 3) == 1
SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE NSCoreDataCalculate('bitwisexor:with:', 'CC', t0.ZAGE, ?) = ?
    SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE NSCoreDataCalculate('bitwisexor:with:', 'CC', t0.ZAGE, 3) = 1

-- Employee: onesComplement:(age) == 1
SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE (~t0.ZAGE) = ?
    SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE (~t0.ZAGE) = 1

-- Employee: abs:(age) == 1
SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE NSCoreDataCalculate('abs:', 'C', t0.ZAGE) = ?
    SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE NSCoreDataCalculate('abs:', 'C', t0.ZAGE) = 1

-- Employee: sqrt:(rating) == 1
SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE NSCoreDataCalculate('sqrt:', 'E', t0.ZRATING) = ?
    SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE NSCoreDataCalculate('sqrt:', 'E', t0.ZRATING) = 1

-- Employee: floor:(rating) == 1
SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE NSCoreDataCalculate('floor:', 'E', t0.ZRATING) = ?
    SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE NSCoreDataCalculate('floor:', 'E', t0.ZRATING) = 1

-- Employee: ceiling:(age) == 1
SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE t0.ZAGE = ?
    SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE t0.ZAGE = 1

-- Employee: trunc:(rating) == 1
SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE NSCoreDataCalculate('trunc:', 'E', t0.ZRATING) = ?
    SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE NSCoreDataCalculate('trunc:', 'E', t0.ZRATING) = 1

-- Employee: exp:(rating) == 1
SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE NSCoreDataCalculate('exp:', 'E', t0.ZRATING) = ?
    SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE NSCoreDataCalculate('exp:', 'E', t0.ZRATING) = 1

-- Employee: ln:(rating) == 1
SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE NSCoreDataCalculate('ln:', 'E', t0.ZRATING) = ?
    SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE NSCoreDataCalculate('ln:', 'E', t0.ZRATING) = 1

-- Employee: log:(rating) == 1
SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE NSCoreDataCalculate('log:', 'E', t0.ZRATING) = ?
    SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE NSCoreDataCalculate('log:', 'E', t0.ZRATING) = 1

-- Employee: age ** 2 == 4
SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE NSCoreDataCalculate('raise:topower:', 'CC', t0.ZAGE, ?) = ?
    SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE NSCoreDataCalculate('raise:topower:', 'CC', t0.ZAGE, 2) = 4

-- Employee: salary + 1 == 2.5
SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE NSCoreDataCompareNumbers(4, 'zE', NSCoreDataCalculateExactly('add:to:', 'HC', t0.ZSALARY, ?), ?)
    SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE NSCoreDataCompareNumbers(4, 'zE', NSCoreDataCalculateExactly('add:to:', 'HC', t0.ZSALARY, 1), 2.5)

-- Employee: salary * 2 > salary
SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE NSCoreDataCompareNumbers(2, 'zH', NSCoreDataCalculateExactly('multiply:by:', 'HC', t0.ZSALARY, ?), t0.ZSALARY)
    SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE NSCoreDataCompareNumbers(2, 'zH', NSCoreDataCalculateExactly('multiply:by:', 'HC', t0.ZSALARY, 2), t0.ZSALARY)

-- Employee: salary / 3 == 0.1
SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE NSCoreDataCompareNumbers(4, 'zE', NSCoreDataCalculateExactly('divide:by:', 'HC', t0.ZSALARY, ?), ?)
    SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE NSCoreDataCompareNumbers(4, 'zE', NSCoreDataCalculateExactly('divide:by:', 'HC', t0.ZSALARY, 3), 0.1)

-- Employee: uppercase:(name) == 'ANNA'
SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE NSCoreDataStringUppercase(t0.ZNAME) = ?
    SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE NSCoreDataStringUppercase(t0.ZNAME) = 'ANNA'

-- Employee: lowercase:(name) == 'anna'
SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE NSCoreDataStringLowercase(t0.ZNAME) = ?
    SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE NSCoreDataStringLowercase(t0.ZNAME) = 'anna'

-- Employee: canonical:(name) == 'anna'
SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE NSCoreDataStringCanonical(t0.ZNAME) = ?
    SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE NSCoreDataStringCanonical(t0.ZNAME) = 'anna'

-- Employee: length:(name) == 4
SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE NSCoreDataCalculate('length:', 'I', t0.ZNAME) = ?
    SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE NSCoreDataCalculate('length:', 'I', t0.ZNAME) = 4

-- Employee: length:(age) == 4
SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE NSCoreDataCalculate('length:', 'C', t0.ZAGE) = ?
    SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE NSCoreDataCalculate('length:', 'C', t0.ZAGE) = 4

-- Employee: noindex:(age) == 4
SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE +t0.ZAGE = ?
    SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE +t0.ZAGE = 4

-- Employee: hired + 60 > hired
SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE (t0.ZHIRED + ?) > t0.ZHIRED
    SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE (t0.ZHIRED + 60) > t0.ZHIRED

-- Employee: hired - hired > 60
SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE (t0.ZHIRED - t0.ZHIRED) > ?
    SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE (t0.ZHIRED - t0.ZHIRED) > 60

-- Employee: TERNARY(age > 3, name, 'none') == 'x'
SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE CASE WHEN t0.ZAGE > ? THEN t0.ZNAME ELSE ? END = ?
    SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE CASE WHEN t0.ZAGE > 3 THEN t0.ZNAME ELSE 'none' END = 'x'

-- Employee: TERNARY(age > 3, age, rating) == 1
SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE CASE WHEN t0.ZAGE > ? THEN t0.ZAGE ELSE t0.ZRATING END = ?
    SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE CASE WHEN t0.ZAGE > 3 THEN t0.ZAGE ELSE t0.ZRATING END = 1

-- Employee: TERNARY(age > 3, salary + 1, 2) == 1
SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE NSCoreDataCompareNumbers(4, 'zC', CASE WHEN t0.ZAGE > ? THEN NSCoreDataCalculateExactly('add:to:', 'HC', t0.ZSALARY, ?) ELSE NSCoreDataCalculateExactly('noindex:', 'C', ?) END, ?)
    SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE NSCoreDataCompareNumbers(4, 'zC', CASE WHEN t0.ZAGE > 3 THEN NSCoreDataCalculateExactly('add:to:', 'HC', t0.ZSALARY, 1) ELSE NSCoreDataCalculateExactly('noindex:', 'C', 2) END, 1)

-- Employee: TERNARY(age > 3, department, nil) == department
SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE CASE WHEN t0.ZAGE > ? THEN t0.ZDEPARTMENT ELSE ? END IS t0.ZDEPARTMENT
    SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE CASE WHEN t0.ZAGE > 3 THEN t0.ZDEPARTMENT ELSE NULL END IS t0.ZDEPARTMENT

-- Employee: modulus:by:(rating, 3) == 1
SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE NSCoreDataCalculate('modulus:by:', 'EC', t0.ZRATING, ?) = ?
    SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE NSCoreDataCalculate('modulus:by:', 'EC', t0.ZRATING, 3) = 1

-- Employee: photo == noindex:(notes)
SELECT COUNT(*) FROM ZEMPLOYEE t0 WHERE NSCoreDataExternalBytes(t0.ZPHOTO) IS +t0.ZNOTES
